"""The door to a ledger that is there, for a person's answers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledger.audit import recorded_tools
from ledger.catalog import Catalog, load_catalog
from ledger.errors import CatalogFault, NoDatabase, UsageError
from ledger.events import Event, ToolStageChanged, ToolVersionPublished, encode
from ledger.session.existing import open_existing, with_recorded_tools
from ledger.store.memory import MemoryStore
from ledger.store.port import Append
from tests.session.agents import opened, types

CATALOG = Path(__file__).parents[2] / "schemas" / "tools"


@pytest.fixture
def url(tmp_path: Path) -> str:
    with opened(tmp_path) as ledger:

        @ledger.tool("send", effect="external")
        def send(to: str) -> str:
            """Send."""
            return to

        assert send("a") == "a"
    return f"sqlite:///{tmp_path}/ledger.db"


def test_it_publishes_nothing_and_runs_nothing(url: str) -> None:
    """An existing ledger is opened with a catalog's tools; nothing of them is recorded."""
    with open_existing(url, catalog=CATALOG) as ledger:
        assert "edit_file" in ledger.registry.names
        assert ledger.registry.get("edit_file") is None
        assert types(ledger, "_catalog") == ["tool.version_published"]


def test_the_ledger_knows_its_own_tools(url: str) -> None:
    """Tools that no catalog defines are known as they were recorded, so that a person's arguments can be checked."""
    with open_existing(url) as ledger:
        assert ledger.registry.version("send") is None
    with open_existing(url, catalog=CATALOG, recorded=True) as ledger:
        version = ledger.registry.version("send")
        assert version is not None
        assert (version.version, version.contract.effect, version.schema["required"]) == (1, "external", ["to"])
        assert "edit_file" in ledger.registry.names


def test_a_reader_may_stand_in(url: str) -> None:
    """Opened for reading only, nothing can be recorded."""
    with open_existing(url, read_only=True) as ledger, pytest.raises(UsageError, match="for reading only"):
        ledger.session("s").call("send", {"to": "a"})


@pytest.mark.parametrize("url", ["sqlite:///missing.db", "memory://"])
def test_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """A ledger that is not there is not made, and a wrong catalog is told before it is opened."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoDatabase):
        open_existing(url)
    with pytest.raises(CatalogFault):
        open_existing(url, catalog=tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def published(tool: str, version: int, contract: dict[str, Any]) -> Event:
    body = ToolVersionPublished(schema={"type": "object"}, contract=contract, description="", description_digest="")
    return Event(
        session_id="_catalog",
        event_id=f"{tool}-{version}",
        recorded_at="2026-01-01T00:00:00.000000Z",
        body=body,
        tool=tool,
        schema_version=version,
        schema_digest="d",
    )


def test_the_catalog_comes_first() -> None:
    """The files say what a tool is now; the record fills in the rest, and what it cannot explain is left out."""
    store = MemoryStore()
    retired = Event(
        session_id="_catalog",
        event_id="r",
        recorded_at="2026-01-01T00:00:00.000000Z",
        body=ToolStageChanged(stage="compat"),
        tool="old",
    )
    unpublished = replace(retired, event_id="u", tool="never_published")
    events = [
        published("edit_file", 7, {"effect": "read"}),
        published("old", 1, {"effect": "read"}),
        published("old", 2, {"effect": "write"}),
        published("strange", 1, {"effect": "read", "fromTheFuture": True}),
        retired,
        unpublished,
    ]
    store.append(Append(session_id="_catalog", drafts=tuple(map(encode, events))))
    assert sorted(recorded_tools(store)) == ["edit_file", "never_published", "old", "strange"]
    catalog = load_catalog(CATALOG)
    both = with_recorded_tools(store, catalog)
    assert sorted(both.tools) == sorted([*catalog.tools, "old"])
    assert (both.tools["edit_file"], both.digest) == (catalog.tools["edit_file"], catalog.digest)
    assert (both.tools["old"].current, both.tools["old"].stage) == (2, "compat")
    alone = with_recorded_tools(store, None)
    assert sorted(alone.tools) == ["edit_file", "old"]
    assert isinstance(alone, Catalog)
