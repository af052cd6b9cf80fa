"""Rows that cannot be read, or that do not follow, never make a session unloadable."""

from dataclasses import dataclass
from typing import Any

import pytest

from ledger.events import Event, encode, read_event
from ledger.history import History, Said, fold_session
from ledger.strictjson import canonical, loads
from tests.history.scenes import STARTED, Scene


@dataclass(frozen=True)
class Row:
    """A record with the columns beside it."""

    record: bytes
    session_id: str
    sequence: int
    event_id: str
    type: str
    call_id: str | None
    tool: str | None


def stored(events: list[Event]) -> list[Row]:
    """Return the events as a store has them."""
    return [
        Row(encode(e).record(e.sequence), e.session_id, e.sequence, e.event_id, e.type, e.call_id, e.tool)
        for e in events
    ]


def with_record(row: Row, record: bytes) -> Row:
    """Return the row with other bytes as its record."""
    return Row(record, row.session_id, row.sequence, row.event_id, row.type, row.call_id, row.tool)


def edited(row: Row, **members: Any) -> Row:
    """Return the row with other members in its record; None takes one out."""
    wire = loads(row.record) | members
    return with_record(row, canonical({key: value for key, value in wire.items() if value is not None}))


def folded(rows: list[Row]) -> History:
    """Return the session of the rows."""
    return fold_session("s1", [read_event(row.record, row) for row in rows])


@pytest.fixture
def rows() -> list[Row]:
    """Return a session: 1 opened, 2 turn, 3-7 call a that succeeds, 8-9 call b, 10 said, 11 turn."""
    scene = Scene()
    scene.open()
    scene.turn(calls=2)
    scene.call("a", *STARTED, "succeeded", index=0)
    scene.call("b", "proposed", "validated", index=1)
    scene.say("and now?")
    scene.turn()
    return stored(scene.events)


def test_a_healthy_session_has_no_broken_call(rows: list[Row]) -> None:
    """The session of the tests below loads whole."""
    history = folded(rows)
    assert (history.broken, history.unreadable, history.sequence) == (set(), [], 11)
    assert history.calls["a"].state == "succeeded"


def test_rows_of_the_first_release_load_with_the_defaults(rows: list[Row]) -> None:
    """Rows written without any newer optional key load; each absent key reads as its documented default."""
    bare = [edited(row, **dict.fromkeys(["schemaDigest", "actor", "principal", "tenant"])) for row in rows]
    body = loads(bare[2].record)["body"]
    assert body == {}
    history = folded(bare)
    assert history.broken == set()
    call = history.calls["a"]
    assert (call.effect, call.recovery, call.reconciles, call.executor) == ("external", "review", False, "host")


@pytest.mark.parametrize("record", [b"", b"\0" * 300, b'{"body":', b"[]"])
@pytest.mark.parametrize("place", range(1, 12))
def test_one_broken_row_leaves_the_others_loadable(rows: list[Row], record: bytes, place: int) -> None:
    """A row that cannot be read is shown with its sequence, and every other row still counts."""
    rows[place - 1] = with_record(rows[place - 1], record)
    history = folded(rows)
    assert [lost.sequence for lost in history.unreadable] == [place]
    assert history.sequence == 11
    assert history.broken == {call_id for call_id in [rows[place - 1].call_id] if call_id}
    assert not history.read_only
    whole = folded(rows[: place - 1])
    assert history.calls.keys() >= whole.calls.keys()


def test_a_call_with_a_broken_row_stays_where_it_was(rows: list[Row]) -> None:
    """The rows after the lost one are not applied to its call, which is not open for recovery either."""
    rows[5] = with_record(rows[5], b"")
    history = folded(rows)
    assert (history.calls["a"].state, history.broken) == ("authorized", {"a"})
    assert [call.call_id for call in history.open_calls()] == ["b"]
    assert history.calls["b"].state == "validated"


def test_a_call_without_its_proposal_is_unknown(rows: list[Row]) -> None:
    """Where the proposal is lost the call is named as broken, and its turn still has the others."""
    rows[2] = with_record(rows[2], b"")
    history = folded(rows)
    assert ("a" in history.calls, history.broken) == (False, {"a"})
    assert history.turns[0].call_ids == ("b",)
    assert history.told.keys() == {"b"}


def test_calls_of_a_broken_turn_are_kept(rows: list[Row]) -> None:
    """Where the turn itself is lost its calls still stand where they do."""
    rows[1] = with_record(rows[1], b"")
    history = folded(rows)
    assert {call_id: call.state for call_id, call in history.calls.items()} == {"a": "succeeded", "b": "validated"}
    assert [turn.number for turn in history.turns] == [2]


@pytest.mark.parametrize("change", [{"format": 2}, {"type": "call.teleported"}])
def test_a_newer_releases_event_makes_the_session_read_only(rows: list[Row], change: dict[str, Any]) -> None:
    """What a newer release wrote is kept raw; here the session can only be read, and its call is not guessed at."""
    rows[5] = edited(rows[5], **change)
    history = folded(rows)
    assert history.read_only
    assert history.broken == {"a"}
    assert history.calls["a"].state == "authorized"
    assert any(isinstance(entry, Said) for entry in history.entries)


def test_a_newer_event_of_the_session_makes_it_read_only(rows: list[Row]) -> None:
    """An unknown event that is of no call breaks no call."""
    rows[9] = edited(rows[9], type="session.forked")
    history = folded(rows)
    assert history.read_only
    assert history.broken == set()


def test_an_event_that_does_not_follow_breaks_only_its_call(rows: list[Row]) -> None:
    """A row that nothing in this release would have written leaves its call where it was; the place still counts."""
    rows[4] = edited(rows[4], body={"by": "policy", "argumentsDigest": "other"})
    rows[10:] = []
    history = folded(rows[:5])
    assert (history.calls["a"].state, history.broken, history.sequence) == ("validated", {"a"}, 5)
    assert history.last_at == loads(rows[4].record)["recordedAt"]
    history = folded(rows)
    assert (history.sequence, history.calls["b"].state) == (10, "validated")


def test_a_second_call_at_one_place_is_broken(rows: list[Row]) -> None:
    """Two proposals with one turn, index and revision: the first stands, the second is named."""
    rows[7] = edited(rows[7], index=0)
    history = folded(rows)
    assert history.broken == {"b"}
    assert history.turns[0].slots == [["a"]]


def test_rows_without_columns_count_on(rows: list[Row]) -> None:
    """A broken record whose place nobody tells takes the next one: order is gapless."""
    records = [row.record for row in rows]
    records[9] = b""
    history = fold_session("s1", map(read_event, records))
    assert history.sequence == 11
    history = fold_session("s1", map(read_event, records[:10]))
    assert (history.sequence, len(history.unreadable)) == (10, 1)
    assert history.last_at == loads(records[8])["recordedAt"]
