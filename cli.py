"""The door to the command line: `python cli.py …` is `ledger …`; the commands live in ledger/cli/."""

from ledger.cli import main

if __name__ == "__main__":
    main()
