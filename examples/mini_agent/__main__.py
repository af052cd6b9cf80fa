"""`python -m examples.mini_agent [FOLDER] [--script FILE]` is `python examples/mini_agent/main.py …`."""

import sys

from ledger.demo.door import main

if __name__ == "__main__":
    sys.exit(main())
