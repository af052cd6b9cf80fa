"""Questions to the record."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.audit import call_rows, event_rows, reading, review_rows
from ledger.errors import UsageError
from tests.audit.world import HOSTILE, crashed, everything, mixed, opened


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("world")
    everything(folder)
    with opened(folder) as found:
        yield found


@pytest.fixture(params=[1, 2, 500])
def page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(reading, "PAGE", request.param)
    return int(request.param)


def test_calls_are_rows_under_their_wire_names(ledger: Ledger) -> None:
    """A row holds who called which tool under which version, when, and how it stands."""
    (row,) = call_rows(ledger.reader, session="done")
    assert (row["sessionId"], row["turn"], row["index"], row["tool"]) == ("done", 1, 0, "find")
    assert (row["schemaVersion"], row["state"], row["effect"], row["principal"]) == (1, "succeeded", "read", "bob")
    assert (row["tenant"], row["duplicateOf"], row["attempt"]) == (None, None, 1)
    assert row["proposedAt"] < row["startedAt"] < row["endedAt"]


def test_all_rows_of_a_kind_have_the_same_keys(ledger: Ledger) -> None:
    """Every format can carry every row."""
    for rows in (ledger.calls(), ledger.events(), ledger.reviews()):
        assert len({tuple(row) for row in rows}) == 1


def test_pages_are_read_as_rows_are_taken(ledger: Ledger, page: int) -> None:
    """However long a page is, each row comes once, by position."""
    calls = [row["position"] for row in call_rows(ledger.reader)]
    events = [row["position"] for row in event_rows(ledger.reader)]
    assert len(calls) == 13
    assert calls == sorted(set(calls))
    assert events == list(range(1, len(events) + 1)), page


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 12, 13, 14])
def test_a_limit_and_a_cursor_make_pages(ledger: Ledger, page: int, limit: int) -> None:
    """`limit` rows behind `after`; the rest follows the last one's position."""
    every = list(call_rows(ledger.reader))
    first = list(call_rows(ledger.reader, limit=limit))
    assert first == every[:limit]
    rest = list(call_rows(ledger.reader, after=first[-1]["position"] if first else 0))
    assert first + rest == every, page


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"state": "denied"}, 1),
        ({"state": ["denied", "rejected"]}, 4),
        ({"gate": "schema"}, 0),
        ({"gate": "decode"}, 2),
        ({"error_class": "policy"}, 1),
        ({"duplicates": True}, 1),
        ({"tool": "send_email", "session": "crash"}, 2),
        ({"principal": "bob"}, 1),
        ({"tenant": "acme"}, 9),
        ({"since": datetime(2020, 1, 1, tzinfo=UTC), "until": datetime(2021, 1, 1, tzinfo=UTC)}, 0),
        ({"schema_version": 1, "state": "succeeded"}, 3),
    ],
)
def test_filters_of_calls(ledger: Ledger, filters: dict[str, Any], count: int) -> None:
    """The API takes the command line's filters."""
    assert len(list(ledger.calls(**filters))) == count


def test_filters_of_events(ledger: Ledger) -> None:
    """Events by type, session and call."""
    (call,) = ledger.calls(session="done")
    told = [row["type"] for row in ledger.events(call=call["callId"])]
    assert told == ["call.proposed", "call.validated", "call.authorized", "call.started", "call.succeeded"]
    assert [row["sessionId"] for row in ledger.events(type="session.closed")] == ["done"]


def test_an_event_shows_its_body_and_its_digest(ledger: Ledger) -> None:
    """What was recorded is shown whole, with the digest that chains it."""
    row = next(iter(ledger.events(session="mix", type="message.recorded")))
    assert row["body"]["message"]["content"] == f"hi {HOSTILE}"
    stored = next(event for event in ledger.reader.read("mix", limit=9) if event.type == "message.recorded")
    assert (row["digest"], row["unreadable"]) == (stored.digest.hex(), None)


def test_what_waits_comes_with_its_question(ledger: Ledger) -> None:
    """The oldest question first, with the arguments that would run and who is asked."""
    boss, doubt, copy = ledger.reviews()
    assert (boss["kind"], boss["who"], boss["arguments"]) == ("approval", ["ada"], {"to": "boss@x"})
    assert boss["message"].endswith(HOSTILE)
    assert boss["expiresAt"] > boss["waitingSince"]
    assert (doubt["kind"], doubt["reason"], doubt["attempt"]) == ("doubt", "outcome-unknown", 1)
    assert (copy["reason"], copy["duplicateOf"], copy["who"]) == ("duplicate", doubt["callId"], None)
    assert boss["waitingSince"] < doubt["waitingSince"] < copy["waitingSince"]


def test_the_oldest_question_comes_first(tmp_path: Path) -> None:
    """Questions are ordered by how long they wait, not by when their calls were asked."""
    crashed(tmp_path, "asked-first")
    with opened(tmp_path) as host:
        mixed(host, "waits-first")
        host.resume("asked-first", execute=False)
        assert [row["sessionId"] for row in host.reviews()] == ["waits-first"] * 3 + ["asked-first"] * 2


@pytest.mark.parametrize(("kind", "count"), [("approval", 1), ("doubt", 2), ("change", 0), (None, 3)])
def test_kinds_of_questions(ledger: Ledger, kind: Any, count: int) -> None:
    """One kind of question may be asked for."""
    assert len(list(ledger.reviews(kind=kind))) == count
    assert not list(ledger.reviews(kind=kind, session="done"))


def test_an_unknown_kind_is_told_at_once(ledger: Ledger) -> None:
    """The mistake is told before the first row is taken."""
    with pytest.raises(UsageError, match="no kind 'doubts'"):
        ledger.reviews(kind="doubts")
    with pytest.raises(UsageError, match="no filter 'colour'"):
        ledger.reviews(colour="red")


def test_ages_are_told_and_judged(ledger: Ledger) -> None:
    """With `max_age` each row says whether it waits longer; nothing is left out."""
    first = next(iter(ledger.reviews()))
    now = datetime.fromisoformat(first["waitingSince"]) + timedelta(minutes=10)
    ages = [(row["ageSeconds"], row["overdue"]) for row in review_rows(ledger.reader, now=now, max_age=600)]
    assert ages[0] == (600, False)
    later = now + timedelta(seconds=1)
    assert next(iter(review_rows(ledger.reader, now=later, max_age=timedelta(minutes=10))))["overdue"] is True
    before = now - timedelta(days=1)
    assert next(iter(review_rows(ledger.reader, now=before)))["ageSeconds"] == 0
    assert first["overdue"] is None
    assert next(iter(review_rows(ledger.reader, now=now, max_age=1e300)))["overdue"] is False
