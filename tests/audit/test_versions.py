"""The versions of tools that a ledger knows."""

from collections.abc import Iterator

import pytest

from ledger import Ledger
from ledger.audit import version_rows
from ledger.errors import UsageError
from ledger.events import Body, Event, SessionErased, ToolStageChanged, encode
from ledger.store.port import Append
from tests.audit.world import everything


def again(q: str) -> dict[str, str]:
    """Find, in other words."""
    return {"q": q}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("world")
    everything(folder)
    with Ledger.open(f"sqlite:///{folder}/ledger.db") as found:
        found.tool("find", effect="read")(again)
        with found.session("more") as session:
            session.call("find", {"q": "1"})
        bodies: tuple[Body, ...] = (ToolStageChanged(stage="compat"), SessionErased(by="x"))
        for number, body in enumerate(bodies):
            at = "2026-01-01T00:00:00.000000Z"
            event = Event(session_id="_catalog", event_id=f"x{number}", recorded_at=at, tool="find", body=body)
            found._wiring.store.append(Append(session_id="_catalog", drafts=(encode(event),)))
        yield found


def test_versions_and_the_calls_under_each(ledger: Ledger) -> None:
    """Each wording of each version has a row: published when, in which stage now, its calls and how they ended."""
    rows = [row for row in ledger.versions() if row["tool"] == "find"]
    first, second = sorted(rows, key=lambda row: row["publishedAt"])
    assert (first["description"], second["description"]) == ("Find.", "Find, in other words.")
    assert first["descriptionDigest"] != second["descriptionDigest"]
    assert (first["schemaVersion"], first["stage"], len(first["schemaDigest"])) == (1, "compat", 64)
    assert (first["calls"], first["succeeded"], first["rejected"], first["failed"]) == (5, 2, 2, 0)
    assert (second["calls"], second["succeeded"]) == (1, 1)


def test_calls_of_tools_that_nobody_published_are_counted_too(ledger: Ledger) -> None:
    """A tool that nobody knows has a row without a date, so that the counts add up."""
    rows = list(ledger.versions())
    (unknown,) = [row for row in rows if row["publishedAt"] is None]
    assert (unknown["schemaVersion"], unknown["stage"], unknown["calls"], unknown["rejected"]) == (None, None, 1, 1)
    assert sum(row["calls"] for row in rows) == len(list(ledger.calls()))
    assert len({tuple(row) for row in rows}) == 1


def test_filters_say_which_calls_are_counted(ledger: Ledger) -> None:
    """`tool` and `schema_version` leave out versions, the others only calls."""
    assert {row["tool"] for row in ledger.versions(tool="send_email")} == {"send_email"}
    assert list(ledger.versions(schema_version=7)) == []
    rows = list(ledger.versions(principal="bob"))
    assert sum(row["calls"] for row in rows) == 1
    assert {row["tool"] for row in rows} == {"find", "send_email"}


def test_a_wrong_filter_is_told_at_once(ledger: Ledger) -> None:
    """As for calls."""
    with pytest.raises(UsageError, match="there is no type"):
        version_rows(ledger.reader, type="nope")
