"""The door to a ledger that is already there, for commands that only look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.cli.shell import DEFAULT_CATALOG, Shell
from ledger.session.reading import open_reader
from ledger.store.port import Reader


@contextmanager
def reading(shell: Shell) -> Iterator[Reader]:
    """Lend the ledger's read side. Raises `NoDatabase` and what else `open_reader` raises."""
    store = open_reader(shell.db)
    try:
        yield store
    finally:
        store.close()


def catalog_folder(shell: Shell) -> Path | None:
    """Return the folder of the tools' definitions: one that was named must be there, the default one may be missing."""
    folder = Path(shell.catalog)
    return None if shell.catalog == DEFAULT_CATALOG and not folder.is_dir() else folder
