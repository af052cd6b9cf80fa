"""Runs the scripted coding agent: `python examples/mini_agent/main.py [FOLDER] [--script FILE]`."""

import sys

from ledger.demo.door import main

if __name__ == "__main__":
    sys.exit(main())
