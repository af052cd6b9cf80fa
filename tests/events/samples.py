"""Events of every type: the smallest, the fullest, and any."""

import dataclasses
from typing import Any

from hypothesis import strategies as st

from ledger.events import BODIES, Body, Event, Unreadable
from ledger.events.fields import Field, fields_of

CLASSES: tuple[type[Body], ...] = tuple(BODIES.values())
EVENT_ID = "01939b6e-2e4f-7c1a-8a39-2f6d3b1c9d11"
AT = "2026-11-29T20:20:20.123456Z"
CALL: dict[str, Any] = {
    "call_id": "c1",
    "tool": "send_email",
    "schema_version": 1,
    "turn": 1,
    "index": 0,
    "revision": 0,
}

ODD_TEXTS = (
    "",
    "a\0b",
    "a\\u0000b",
    "\ud800",
    "x\udfff\ud83dy",
    "\ud83d\ude00",  # two halves that were never joined
    "😀",
    '","sequence":7,"sessionId":"',
    "\u2028\x85\x7f\x1b[31m",
    "e\u0301",
)
texts = st.sampled_from(ODD_TEXTS) | st.text(st.characters(), max_size=8)
numbers = st.integers() | st.sampled_from((2**70, -(2**63), 2512292042121000001, 0))
floats = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from((1.0, -0.0, 0.1))
json_values = st.recursive(
    st.none() | st.booleans() | numbers | floats | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3)


def event(body: Body, **envelope: Any) -> Event:
    """Return an event around the body, that of a call with the call's part of the envelope."""
    known: dict[str, Any] = {"session_id": "s1", "event_id": EVENT_ID, "recorded_at": AT}
    if type(body).__name__.startswith("Call"):
        known |= CALL
    return Event(**known | envelope, body=body)


def small(cls: type[Body]) -> Body:
    """Return a body with nothing but what is required."""
    return cls(**{field.name: plain(field) for field in fields_of(cls) if field.required})


def full(cls: type[Body]) -> Body:
    """Return a body with every field given."""
    return cls(**{field.name: plain(field) for field in fields_of(cls)})


def plain(field: Field) -> Any:
    """Return a value that differs from the default, where there is a choice."""
    if field.choices:
        return min(field.choices - {field.default}, default=field.default)
    if not field.kinds:
        return {"any": [1, 1.0, None]}
    if field.kinds == (list, tuple):
        return ("one", "two")
    return {str: "text", bool: field.default is not True, int: 3, float: 1.5, dict: {"key": [1]}}[field.kinds[0]]


def values(field: Field) -> st.SearchStrategy[Any]:
    """Return what the field may hold."""
    found: st.SearchStrategy[Any]
    if field.choices:
        found = st.sampled_from(sorted(field.choices))
    elif not field.kinds:
        found = json_values
    elif field.kinds == (list, tuple):
        found = st.lists(texts if field.items is str else json_values, max_size=3).map(tuple)
    else:
        kinds = {str: texts, bool: st.booleans(), int: numbers, float: floats | numbers, dict: objects}
        found = kinds[field.kinds[0]]
    return found | st.none() if field.nullable else found


def bodies(cls: type[Body]) -> st.SearchStrategy[Body]:
    """Return any body of the class."""
    given_fields = {field.name: values(field) for field in fields_of(cls)}
    required = {field.name: given_fields.pop(field.name) for field in fields_of(cls) if field.required}
    return st.fixed_dictionaries(required, optional=given_fields).map(lambda found: cls(**found))


def choices(cls: type[Body]) -> st.SearchStrategy[Body]:
    """Return any body of the class that differs in what decides: closed sets and truth values."""
    decides = {field.name: values(field) for field in fields_of(cls) if field.choices or field.kinds == (bool,)}
    required = {field.name: st.just(plain(field)) for field in fields_of(cls) if field.required}
    return st.fixed_dictionaries(required | decides).map(lambda found: cls(**found))


def events() -> st.SearchStrategy[Event]:
    """Return any event, of any type, with an odd envelope."""
    of_calls = st.fixed_dictionaries(
        {"call_id": texts},
        optional={"tool": texts, "schema_version": numbers, "turn": numbers, "attempt": numbers, "tenant": texts},
    )
    around = st.fixed_dictionaries({"session_id": texts, "principal": st.none() | texts, "actor": texts})
    drawn = st.sampled_from(CLASSES).flatmap(bodies)
    return st.builds(lambda body, one, other: event(body, **one | other), drawn, of_calls, around)


def typed(value: Any) -> Any:
    """Return the value so that only what is equal as JSON and as Python types compares equal."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, {f.name: typed(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return "dict", {key: typed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [typed(item) for item in value]
    return type(value).__name__, repr(value)


def unreadable(found: Event) -> Unreadable:
    """Return the body of an event that could not be read."""
    assert isinstance(found.body, Unreadable), found.body
    return found.body
