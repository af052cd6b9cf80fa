"""`python -m ledger …` is `ledger …`."""

from ledger.cli import main

if __name__ == "__main__":  # pragma: no branch - nobody imports it
    main()
