"""Writes what is generated again: commands, events, a call's life, rules of a difference, codes of upcasts, tables."""

import tempfile
from contextlib import closing
from pathlib import Path

from ledger.calls import diagram
from ledger.catalog.diff import page
from ledger.catalog.upcast import page as upcast_page
from ledger.cli import reference
from ledger.events import schema
from ledger.store.migrate import upgrade
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.lock import SideLock
from ledger.store.sqlite.making import dump

RULES = Path("docs/diff.md")
CODES = Path("docs/upcasts.md")
TABLES = Path("ledger/store/sqlite/tables.sql")


def rules() -> None:
    """Write the table of the rules of a difference."""
    RULES.write_text(page.page(RULES.read_text(encoding="utf-8")), encoding="utf-8")


def codes() -> None:
    """Write the tables of the codes of upcasts."""
    CODES.write_text(upcast_page.page(CODES.read_text(encoding="utf-8")), encoding="utf-8")


def tables() -> str:
    """Return the script of a new file's tables, as the migrations make them."""
    with tempfile.TemporaryDirectory() as folder:
        made = Files(Path(folder, "ledger.db"))
        with SideLock(made.lock).held(60):
            made.writer("rwc").close()
            upgrade(made.writer)
            with closing(made.writer()) as connection:
                return dump(connection)


def main() -> None:
    """Write them where they belong, from the root of the project."""
    for write, place in (
        (reference.write, reference.DEFAULT_PATH),
        (schema.main, schema.FOLDER),
        (diagram.main, diagram.PAGE),
        (rules, RULES),
        (codes, CODES),
        (lambda: TABLES.write_text(tables(), encoding="utf-8"), TABLES),
    ):
        write()
        print(f"wrote {place}")


if __name__ == "__main__":
    main()
