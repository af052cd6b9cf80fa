"""Two tools that write: pages share the index that is built from all of them, notes share nothing."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger import Ledger, NotFound, Rejected
from ledger.catalog import default_catalog_root
from ledger.demo.workspace import Workspace

INDEX = "index.txt"


def _nothing(_: str) -> None:
    return


@dataclass(frozen=True, slots=True)
class Site:
    """
    A folder with pages and their index, and one with notes; both exist.

    `within` hears of each write while it is under way: behind the page and before the index. It is for a look at which
    writes run at the same time.
    """

    pages: Workspace
    notes: Workspace
    within: Callable[[str], None] = _nothing

    @classmethod
    def laid_out(cls, folder: Path, within: Callable[[str], None] = _nothing) -> Site:
        for name in ("pages", "notes"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        return cls(Workspace(folder / "pages"), Workspace(folder / "notes"), within)

    def write_file(self, path: str, text: str) -> dict[str, Any]:
        place = self.pages.resolve(path)
        if self.pages.name_of(place) == INDEX:
            raise Rejected("generated", f"{path!r} is built from the pages; write a page.")
        _put_or_refuse(place, text, path)
        self.within(path)
        pages = sorted(self.pages.name_of(page) for page in self.pages.root.rglob("*.txt") if page.name != INDEX)
        _put(
            self.pages.root / INDEX, "".join(f"{page}\n" for page in pages)
        )  # if it fails, the page is there all the same
        return {"path": self.pages.name_of(place), "pages": len(pages)}

    def write_note(self, name: str, text: str) -> dict[str, Any]:
        _put_or_refuse(self.notes.resolve(f"{name}.txt"), text, name)
        self.within(name)
        return {"name": name}


def _put_or_refuse(place: Path, text: str, path: str) -> None:
    """Put a text in its place, or say why not: then nothing happened."""
    try:
        _put(place, text)
    except FileNotFoundError:
        raise NotFound(f"There is no folder for {path!r}.") from None
    except OSError as error:
        raise Rejected("unwritable", f"{path!r} cannot be written: {error.strerror}.") from None


def _put(place: Path, text: str) -> None:
    """Put a text in its place in one step: whoever looks sees the old text or the new one."""
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    new = place.with_name(f".{place.name[:40]}.new")
    try:
        new.write_text(text, encoding="utf-8", newline="")
        new.replace(place)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def open_ledger(url: str, site: Site) -> Ledger:
    """Open a ledger with both tools."""
    ledger = Ledger.open(url, catalog=default_catalog_root())
    equip(ledger, site)
    return ledger


def equip(ledger: Ledger, site: Site) -> None:
    """Give a ledger both tools; which of their calls may run together is said by their contracts alone."""
    ledger.tool("write_file")(site.write_file)
    ledger.tool("write_note")(site.write_note)
