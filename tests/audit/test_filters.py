"""Which rows are asked for."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from time import tzset
from typing import Any

import pytest

from ledger.audit import Names
from ledger.audit.filters import call_filter, check_count, check_limit, event_filter
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


def test_an_age_is_counted_back_from_now() -> None:
    """`since="7d"` means what it means on the command line."""
    now = datetime.now(UTC)
    since = call_filter({"since": "7d"}).since
    assert since is not None
    assert timedelta() <= datetime.fromisoformat(since) - (now - timedelta(days=7)) < timedelta(minutes=5)


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
        {"state": 17},
        {"state": True},
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


@pytest.mark.parametrize(
    ("given", "pairs"),
    [
        ("env=prod", (("env", "prod"),)),
        (["env=prod", "n=3"], (("env", "prod"), ("n", "3"))),
        (("a=b=c",), (("a", "b=c"),)),
        ((("a=b", "c"),), (("a=b", "c"),)),
        ({"n": 3, "deep": {"b": 1, "a": None}}, (("n", "3"), ("deep", '{"a":null,"b":1}'))),
        ("=", (("", ""),)),
        (None, ()),
        ((), ()),
    ],
)
def test_labels_are_pairs(given: Any, pairs: tuple[tuple[str, str], ...]) -> None:
    """Labels are written key=value, as pairs, or as a mapping; what is no text is asked for by its JSON."""
    assert call_filter({"label": given}).labels == event_filter({"labels": given}).labels == pairs


@pytest.mark.parametrize("given", ["env", ["env=x", "y"], 3, [("a",)], {3: "x"}, [(3, "x")]])
def test_what_is_no_label_is_told(given: Any) -> None:
    """A label without a value would find nothing, or everything."""
    with pytest.raises(UsageError, match=r"label"):
        call_filter({"label": given})


def test_events_are_asked_for_by_their_calls() -> None:
    """Words of calls become a filter on the calls whose events are asked for; without one there is none."""
    asked = event_filter({"state": "denied", "resource": "r", "duplicates": False, "tool": "t", "reason": ()})
    assert asked == EventFilter(tool="t", of=CallFilter(states=("denied",), resource="r"))
    assert event_filter({"duplicates": True}).of == CallFilter(reasons=("duplicate",))
    assert event_filter({"state": (), "code": None, "duplicates": False}).of is None
    assert event_filter({"schema_version": 2, "actor": "a"}) == EventFilter(schema_version=2, actor="a")


def test_a_tool_is_asked_for_with_what_was_carried_to_its_name() -> None:
    """As far as the names are known; it is no word that somebody asks by."""
    names, old = Names({("charge", 2): "pay"}), (("charge", 2),)
    assert call_filter({"tool": "pay"}, names) == CallFilter(tool="pay", carried=old)
    assert event_filter({"tool": "pay"}, names) == EventFilter(tool="pay", carried=old)
    assert call_filter({"tool": "charge"}, names) == call_filter({"tool": "charge"}) == CallFilter(tool="charge")
    for make in (call_filter, event_filter):
        with pytest.raises(UsageError, match="there is no filter 'carried'"):
            make({"carried": old})


ATTACKS = ("' OR 1=1 --", 'x" OR ""="', "1; DROP TABLE event", "sqlite_master", "position", "%", "*", "x\x00' OR 1=1")
TEXTS = (
    "session",
    "call",
    "tool",
    "tenant",
    "principal",
    "actor",
    "code",
    "resource",
    "idempotency_key",
    "duplicate_of",
)


@pytest.mark.parametrize("name", TEXTS)
def test_a_value_is_only_ever_a_value(name: str) -> None:
    """Whatever a text looks like, it is what is looked for; anything but a text is refused."""
    for attack in ATTACKS:
        found = call_filter({name: attack})
        assert getattr(found, {"session": "session_id", "call": "call_id_part"}.get(name, name)) == attack
    for wrong in (1, b"x", ["x"], {"x": 1}, ("x", "y")):
        with pytest.raises(UsageError, match="is not a text"):
            call_filter({name: wrong})


@pytest.mark.parametrize(
    "word", ["position", "1=1 --", "order_by", "sort", "record", "of", "limit", "tool; --", "state --"]
)
def test_no_column_can_be_named(word: str) -> None:
    """Filters are a closed set: no word of a question becomes the name of a column."""
    for make in (call_filter, event_filter):
        with pytest.raises(UsageError, match="there is no filter"):
            make({word: "x"})


@pytest.mark.parametrize("wrong", ["1", 1.0, True, -1, 2**63, "1 OR 1=1"])
def test_a_version_is_a_number(wrong: Any) -> None:
    """Numbers are numbers that a database can hold."""
    with pytest.raises(UsageError, match="is not a number"):
        call_filter({"schema_version": wrong})
    assert check_limit(None) is None
    assert (check_limit(0), check_count("after", 2**63 - 1)) == (0, 2**63 - 1)
    with pytest.raises(UsageError, match="after="):
        check_count("after", wrong)
