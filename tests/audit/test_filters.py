"""Which rows are asked for."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from time import tzset
from typing import Any

import pytest

from ledger.audit.filters import call_filter, event_filter
from ledger.errors import UsageError
from ledger.store.port import CallFilter, EventFilter


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ({}, {}),
        ({"session": "s", "call": "01a2"}, {"session_id": "s", "call_id_part": "01a2"}),
        ({"state": "denied"}, {"states": ("denied",)}),
        ({"state": ["denied", "failed"], "reason": ()}, {"states": ("denied", "failed")}),
        ({"states": ("started",)}, {"states": ("started",)}),
        ({"duplicates": True}, {"reasons": ("duplicate",)}),
        ({"duplicates": False, "tool": None}, {}),
        ({"gate": "schema", "error_class": "model", "stage": "compat"},) * 2,
        ({"since": "2026-05-01"}, {"since": "2026-05-01T00:00:00.000000Z"}),
    ],
)
def test_words_of_calls(words: dict[str, Any], fields: dict[str, Any]) -> None:
    """The command line's words and the filter's own names ask for the same; nothing asks for all."""
    assert call_filter(words) == CallFilter(**fields)


def test_words_of_events() -> None:
    """Events go by session, call and type as well."""
    asked = event_filter({"session": "s", "call": "c", "type": ("call.started",), "principal": "ada"})
    assert asked == EventFilter(session_id="s", call_id="c", types=("call.started",), principal="ada")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process in another time zone."""
    monkeypatch.setenv("TZ", "America/New_York")
    tzset()
    yield
    monkeypatch.undo()
    tzset()


@pytest.mark.parametrize(
    "time",
    [
        datetime(2026, 5, 1, 12, tzinfo=UTC),
        datetime(2026, 5, 1, 9, tzinfo=timezone(timedelta(hours=-3))),
        datetime(2026, 5, 1, 12),  # noqa: DTZ001 - without an offset it is UTC
        "2026-05-01T12:00:00Z",
        "2026-05-01T09:00:00-03:00",
        "2026-05-01T12:00",
    ],
)
def test_an_instant_is_the_same_however_it_is_written(time: Any, elsewhere: None) -> None:
    """Times are compared as instants: offsets count, and a time without one is UTC wherever one is."""
    assert event_filter({"until": time}).until == "2026-05-01T12:00:00.000000Z"


@pytest.mark.parametrize("time", ["yesterday", 17, b"2026-05-01", datetime.min.replace(tzinfo=timezone.max)])
def test_a_wrong_time_is_told(time: Any) -> None:
    """What is no time, or outside of the calendar, is refused."""
    with pytest.raises(UsageError, match="is not a time"):
        call_filter({"since": time})


@pytest.mark.parametrize(
    ("make", "words", "there"),
    [(call_filter, {"colour": 1}, "duplicates"), (event_filter, {"state": "denied", "x": 1}, "type, types")],
)
def test_an_unknown_filter_is_told_with_those_there_are(make: Any, words: dict[str, Any], there: str) -> None:
    """A filter that does not exist is never passed over."""
    with pytest.raises(UsageError, match="there is no filter") as refused:
        make(words)
    assert there in (refused.value.hint or "")


@pytest.mark.parametrize(
    "words",
    [
        {"state": "need-review"},
        {"states": ["denied", "x"]},
        {"reason": "because"},
        {"gate": "x"},
        {"error_class": "x"},
        {"stage": "x"},
    ],
)
def test_a_word_that_nothing_has_is_told(words: dict[str, Any]) -> None:
    """A slip of the pen in a closed word is an error: no row would look like good news."""
    with pytest.raises(UsageError, match="there is no") as refused:
        call_filter(words)
    assert refused.value.hint
