"""The door to a ledger that is already there, for commands that only look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def names_now(shell: Shell) -> Mapping[str, str]:
    """Return what the catalog calls tools now whose recorded names were given up; nothing where none can be read."""
    from ledger.catalog import load_catalog
    from ledger.errors import CatalogFault

    folder = catalog_folder(shell)
    try:
        return load_catalog(folder).renamed if folder is not None else {}
    except CatalogFault:
        return {}
