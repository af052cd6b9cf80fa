"""Writes the generated pages again: commands, events, a call's life, rules of a difference, codes of upcasts."""

from pathlib import Path

from ledger.calls import diagram
from ledger.catalog.diff import page
from ledger.catalog.upcast import page as upcast_page
from ledger.cli import reference
from ledger.events import schema

RULES = Path("docs/diff.md")
CODES = Path("docs/upcasts.md")


def rules() -> None:
    """Write the table of the rules of a difference."""
    RULES.write_text(page.page(RULES.read_text(encoding="utf-8")), encoding="utf-8")


def codes() -> None:
    """Write the tables of the codes of upcasts."""
    CODES.write_text(upcast_page.page(CODES.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """Write them where they belong, from the root of the project."""
    for write, place in (
        (reference.write, reference.DEFAULT_PATH),
        (schema.main, schema.FOLDER),
        (diagram.main, diagram.PAGE),
        (rules, RULES),
        (codes, CODES),
    ):
        write()
        print(f"wrote {place}")


if __name__ == "__main__":
    main()
