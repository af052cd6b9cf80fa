"""A new version begins as a copy of the current one, and changes nothing until it is the current one."""

from pathlib import Path
from typing import Any

import pytest

from ledger.catalog.disk import read_sources
from ledger.catalog.lock import Lock
from ledger.catalog.versions import Change, new_version, with_version
from ledger.cli.growing import write_files
from ledger.errors import CatalogFault
from tests.catalog.shelf import SCHEMA, Shelf

OUT = {"type": "object", "properties": {"found": {"type": "boolean"}}}


def made(shelf: Shelf, *, current: bool = False) -> Change:
    """Make a new version of the one tool, and write it."""
    sources = read_sources(shelf.root)
    [folder] = sources.folders
    definition = sources.catalog.tools[folder.tool]
    change = new_version(definition, folder, sources.lock or Lock(), current=current)
    write_files(Path(folder.path), change.files)
    return change


def test_a_new_version_is_a_draft_until_it_is_current(shelf: Shelf) -> None:
    """A copy of schema, output schema, contract and words; the catalog offers what it offered before."""
    contract = {"effect": "write", "timeoutSeconds": 3}
    entry = {"contract": contract, "schema": "first.json", "outputSchema": "out.json", "description": "Look."}
    shelf.write("look_at/first.json", SCHEMA)
    shelf.write("look_at/out.json", OUT)
    shelf.tool(schemas=(), versions={"1": entry})
    shelf.publish()
    change = made(shelf)
    assert (change.number, change.base, change.current) == (2, 1, 1)
    assert list(change.files) == ["v2.json", "v2.output.json", "tool.json"]
    definition = read_sources(shelf.root).catalog.tools["look_at"]
    one, two = definition.versions[1], definition.versions[2]
    assert definition.current == 1
    assert (two.schema, two.output_schema, two.contract) == (SCHEMA, OUT, one.contract)
    assert (two.shape_digest, two.description_digest) == (one.shape_digest, one.description_digest)
    assert shelf.said() == []
    assert shelf.publish() == ()


def test_a_draft_is_made_current(shelf: Shelf) -> None:
    """A second draft is refused; with `current` the one that is there is offered, and then locked."""
    shelf.tool()
    shelf.publish()
    made(shelf)
    with pytest.raises(CatalogFault, match="version 2 of look_at is a draft already"):
        made(shelf)
    change = made(shelf, current=True)
    assert (change.number, change.base, change.current, list(change.files)) == (2, 2, 2, ["tool.json"])
    assert [(each.what, each.name) for each in shelf.publish()] == [("version", "2")]


def test_a_new_version_that_is_current_at_once(shelf: Shelf) -> None:
    """Where there is no draft one is made, and offered."""
    shelf.tool()
    assert made(shelf, current=True).current == 2
    assert read_sources(shelf.root).catalog.tools["look_at"].current == 2


def test_behind_a_published_version_above_the_current_one(shelf: Shelf) -> None:
    """After a step back the next number is the next free one, and it is a copy of what is offered."""
    shelf.tool(schemas=(SCHEMA, {**SCHEMA, "required": []}))
    shelf.publish()
    shelf.edit("look_at/tool.json", current=1)
    change = made(shelf)
    assert (change.number, change.base, change.files["v3.json"]) == (3, 1, SCHEMA)


@pytest.mark.parametrize("text", ["{", "{}"])
def test_a_file_in_the_way_is_kept(shelf: Shelf, text: str) -> None:
    """A stray file that would be overwritten stops it; the same content does not."""
    shelf.tool()
    stray = shelf.write("look_at/v2.json", text)
    with pytest.raises(CatalogFault, match="would be overwritten"):
        made(shelf)
    assert stray.read_text() == text
    shelf.write("look_at/v2.json", SCHEMA)
    assert made(shelf).number == 2


@pytest.mark.parametrize(
    ("document", "keys"),
    [
        ({"name": "a", "current": 1, "stage": "active", "versions": {}}, ["name", "current", "stage", "versions"]),
        ({"name": "a", "versions": {}, "owner": "me"}, ["name", "current", "versions", "owner"]),
    ],
)
def test_the_order_of_a_file_is_kept(document: dict[str, Any], keys: list[str]) -> None:
    """`current` is written out, at its place or before the versions: by default it would be the highest."""
    assert list(with_version(document, 2, {}, 1)) == keys
