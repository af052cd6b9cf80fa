"""`python -m ledger.demo FOLDER` runs the scripted coding agent in that folder."""

import sys

from ledger.demo.door import main

if __name__ == "__main__":  # pragma: no branch - nobody imports it
    sys.exit(main())
