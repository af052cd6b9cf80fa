"""Writes the generated pages again: the command line's reference, the events' schemas, the picture of a call's life."""

from ledger.calls import diagram
from ledger.cli import reference
from ledger.events import schema


def main() -> None:
    """Write them where they belong, from the root of the project."""
    for write, place in (
        (reference.write, reference.DEFAULT_PATH),
        (schema.main, schema.FOLDER),
        (diagram.main, diagram.PAGE),
    ):
        write()
        print(f"wrote {place}")


if __name__ == "__main__":
    main()
