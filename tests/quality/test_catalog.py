"""The project's own catalog passes its own check, and its lock says all that is published."""

import json

from ledger.catalog.checking import check_catalog
from ledger.catalog.disk import read_lock, read_sources
from ledger.catalog.lock import Lock, extended, to_wire
from tests.quality.tree import ROOT

TOOLS = ROOT / "schemas/tools"


def test_nothing_is_said_of_it() -> None:
    """`ledger tool check --strict` passes: after a change run `ledger tool lock`, or make a new version."""
    assert [note.to_wire() for note in check_catalog(read_sources(TOOLS)).notes] == []


def test_its_lock_has_everything() -> None:
    """`ledger tool lock` would add nothing, and the file is written as that command writes it."""
    sources = read_sources(TOOLS)
    documents = {folder.tool: folder.documents for folder in sources.folders}
    assert extended(sources.lock or Lock(), sources.catalog, documents) == (sources.lock, ())
    lock = read_lock(TOOLS)
    assert lock is not None
    text = (TOOLS / "catalog.lock.json").read_text(encoding="utf-8")
    assert text == json.dumps(to_wire(lock), indent=2, ensure_ascii=False) + "\n"
    assert (TOOLS / json.loads(text)["$schema"]).resolve() == ROOT / "schemas/meta/lock.schema.json"
