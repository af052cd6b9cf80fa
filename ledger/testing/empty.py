"""An empty ledger on a real file, copied: a test does not wait for its tables to be made."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ledger.session.ledger import Ledger
from ledger.store.urls import open_store

NAME = "ledger.db"


def open_fresh(folder: Path, **settings: Any) -> Ledger:
    """Open the ledger in this folder (made if need be); where there is none, an empty one is put there first."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / NAME).exists():
        for name, content in _empty().items():
            (folder / name).write_bytes(content)
    return Ledger.open(f"sqlite:///{folder / NAME}", **settings)


@cache
def _empty() -> dict[str, bytes]:
    """Return the files of an empty ledger, made once in a process."""
    with TemporaryDirectory(prefix="ledger-") as folder:
        open_store(f"sqlite:///{folder}/{NAME}", create=True).close()  # nothing of the catalog that lies here is in it
        return {
            path.name: path.read_bytes() for path in Path(folder).iterdir() if not path.name.endswith(("-shm", ".lock"))
        }
