"""Writes the generated pages again: the command line's reference, the events' schemas, a call's life, diff rules."""

from pathlib import Path

from ledger.calls import diagram
from ledger.catalog.diff import page
from ledger.cli import reference
from ledger.events import schema

RULES = Path("docs/diff.md")


def rules() -> None:
    """Write the table of the rules of a difference."""
    RULES.write_text(page.page(RULES.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """Write them where they belong, from the root of the project."""
    for write, place in (
        (reference.write, reference.DEFAULT_PATH),
        (schema.main, schema.FOLDER),
        (diagram.main, diagram.PAGE),
        (rules, RULES),
    ):
        write()
        print(f"wrote {place}")


if __name__ == "__main__":
    main()
