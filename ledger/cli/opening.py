"""The door to a ledger that is already there, for commands that only look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.cli.shell import DEFAULT_CATALOG, Shell
from ledger.session.reading import open_reader
from ledger.store.port import EventFilter, Reader

if TYPE_CHECKING:
    from ledger.audit.names import Names
    from ledger.catalog import Catalog


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
    catalog = _readable(shell)
    return catalog.renamed if catalog is not None else {}


def names_of(shell: Shell, reader: Reader) -> Names:
    """Return under which names carried calls stand; the catalog is read only where some call was carried."""
    from ledger.audit.names import Names

    carried = reader.events(EventFilter(types=("call.upcast",)), limit=1)
    return Names.of(_readable(shell) if carried else None)


def _readable(shell: Shell) -> Catalog | None:
    """Return the catalog at hand; None where there is none, or none that can be read."""
    from ledger.catalog import load_catalog
    from ledger.errors import CatalogFault

    folder = catalog_folder(shell)
    try:
        return load_catalog(folder) if folder is not None else None
    except CatalogFault:
        return None
