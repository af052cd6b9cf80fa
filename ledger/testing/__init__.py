"""For tests of those who use or extend the ledger; nothing here is loaded by a running program."""
