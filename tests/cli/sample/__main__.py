"""`python -m tests.cli.sample …`."""

from tests.cli.sample import root

if __name__ == "__main__":
    root()
