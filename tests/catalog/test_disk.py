"""Files of a catalog are written whole or not at all, and read with what was published beside them."""

import json
from pathlib import Path

import pytest

from ledger.catalog.disk import meta_schema, read_document, read_sources, write_json
from ledger.catalog.lock import Lock, LockedTool, LockedVersion, Wording, from_wire, to_wire
from ledger.errors import CatalogFault
from tests.catalog.shelf import Shelf


def test_a_file_is_written_as_people_read_it(tmp_path: Path) -> None:
    """Indented, in its own letters, with one line end, in folders that are made; nothing else is left there."""
    file = tmp_path / "deep/er/a.json"
    write_json(file, {"b": ["ü", 1.0], "a": 10**30})
    assert file.read_bytes().decode() == '{\n  "b": [\n    "ü",\n    1.0\n  ],\n  "a": 1' + "0" * 30 + "\n}\n"
    assert [each.name for each in file.parent.iterdir()] == ["a.json"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    """The old file stays whole, and no half of a new one lies beside it."""
    file = tmp_path / "a.json"
    write_json(file, {"a": 1})
    with pytest.raises(TypeError):
        write_json(file, {"a": object()})
    assert json.loads(file.read_text()) == {"a": 1}
    (tmp_path / "b.json").mkdir()
    with pytest.raises(OSError):  # noqa: PT011 - which one, the system decides
        write_json(tmp_path / "b.json", {})
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "b.json"]


def test_a_lock_is_read_as_it_was_written() -> None:
    """Every word of it goes to the document and back, and the meta-schema knows each."""
    digest = "0" * 64
    wording = Wording(description=digest, files={"v1.json": digest}, formats=("date",))
    version = LockedVersion(shape=digest, contract=digest, output=digest, wordings=(wording, wording))
    tool = LockedTool(versions={1: version, 10: version}, upcasts={"v1-v10.upcast.json": digest}, reserved=("see",))
    lock = Lock(tools={"look_at": tool, "gh/x": LockedTool()})
    document = json.loads(json.dumps(to_wire(lock)))
    assert meta_schema("lock").violations(document) == ()
    assert from_wire(document) == lock
    assert lock.tools["look_at"].versions[10] == version


def test_sources_are_read_in_order(shelf: Shelf) -> None:
    """Folders by name; hidden ones and files beside them are none."""
    shelf.tool("b")
    shelf.tool("a")
    shelf.write(".hidden/tool.json", {})
    shelf.write("__pycache__/tool.json", {})
    sources = read_sources(shelf.root)
    assert [folder.tool for folder in sources.folders] == ["a", "b"]
    assert sources.lock_path == str(shelf.root / "catalog.lock.json")


def test_a_document_from_anywhere(tmp_path: Path) -> None:
    """Strict JSON of up to 16 MiB, wherever it lies."""
    (tmp_path / "a.json").write_text('{"a": 1, "a": 2}')
    with pytest.raises(CatalogFault, match=r"a\.json"):
        read_document(tmp_path / "a.json")
    with pytest.raises(CatalogFault, match="cannot be read"):
        read_document(tmp_path)
