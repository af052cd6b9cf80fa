# ruff: noqa: S101, PLR2004 - these are tests
"""Odd data: whatever a model or a tool says is kept exactly, and found again."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ledger.events import CallProposed, MessageRecorded
from ledger.store.port import Append, CallFilter, EventFilter, Store, Take
from ledger.strictjson import canonical, loads
from ledger.testing.contract.building import StoreCase, Story, add, everything

VALUES: Final[dict[str, Any]] = {
    "NUL": "a\x00b",
    "a literal backslash-u0000": "a\\u0000b",
    "a lone surrogate": "caf\udce9.txt",
    "a pair of lone surrogates": "\udc00\ud800",
    "beyond the BMP": "\U0001f600\U0010ffff",
    "a non-character": "\ufffe\uffff",
    "controls": "".join(map(chr, range(32))) + "\x7f\x85\u2028\u202e",
    "2^70": 2**70,
    "above 2^53": 2512292042121000001,
    "a negative integer": -(2**63) - 1,
    "one": 1,
    "one point zero": 1.0,
    "a small float": 5e-324,
    "minus zero": -0.0,
    "true": True,
    "null": None,
    "empties": ["", [], {}],
    "keys in an order": {"b": 1, "a": {"\u00e9": 1, "z": 2}},
    "an odd key": {"\udce9\x00": 1},
    "deep": [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]],
    "long": "x" * 300_000,
    "SQL": "'; DROP TABLE event; --",
    "NaN as a text": "NaN",
}
TEXTS: Final = {name: value for name, value in VALUES.items() if isinstance(value, str) and value != "x" * 300_000}


def each(values: dict[str, Any]) -> pytest.MarkDecorator:
    """Run a test once for each of the values, under its name."""
    return pytest.mark.parametrize("value", list(values.values()), ids=list(values))


class OddDataContract(StoreCase):
    """What other systems lose, cut, round or choke on."""

    @each(VALUES)
    def test_a_value_is_kept_exactly(self, store: Store, value: Any) -> None:
        """Arguments and results come back equal, of the same type, as the very bytes that were encoded."""
        story = Story()
        body = CallProposed(raw_arguments=repr(value), arguments={"value": value})
        drafts = (story.propose("c1", body), *story.run("c1", value))
        store.append(Append(session_id="s1", drafts=drafts, calls=story.rows("c1")))
        events = everything(store, "s1")
        assert [event.record for event in events] == [draft.record(n) for n, draft in enumerate(drafts, 1)]
        proposed, succeeded = loads(events[0].record)["body"], loads(events[-1].record)["body"]
        assert canonical(proposed["arguments"]["value"]) == canonical(value)
        assert canonical(succeeded.get("result")) == canonical(value)

    def test_a_nul_is_not_its_name(self, store: Store) -> None:
        """U+0000 and the six characters that spell it stay apart."""
        for name, value in (("a", "a\x00b"), ("b", "a\\u0000b")):
            body = MessageRecorded(role="user", provider="t", message=value)
            store.append(Append(session_id="s1", drafts=(Story().event(body, event_id=name),)))
        first, second = (loads(event.record)["body"]["message"] for event in everything(store, "s1"))
        assert (first, second) == ("a\x00b", "a\\u0000b")

    @each(TEXTS)
    def test_a_session_id_may_be_any_text(self, store: Store, value: str) -> None:
        """A session is found under exactly the id it was given."""
        take = Take(owner="me", token=1, seconds=30)
        add(store, value, "a", take=take)
        add(store, value, "b", token=1)
        add(store, value + "x", "c")
        assert [event.session_id for event in store.read(value, limit=10)] == [value, value]
        assert store.renew(value, token=1, seconds=30)
        assert [row.session_id for row in store.sessions(limit=10)] == [value, value + "x"]
        assert [row.session_id for row in store.sessions(after=value, limit=10)] == [value + "x"]
        assert len(store.events(EventFilter(session_id=value), limit=10)) == 2
        assert add(store, value, "a").repeated

    @each(TEXTS)
    def test_a_name_of_the_model_may_be_any_text(self, store: Store, value: str) -> None:
        """A tool nobody knows, a tenant, a principal, a provider's id and a host's key are kept and found."""
        story = Story(tenant=value, principal=value)
        body = CallProposed(provider_call_id=value, provider="é", model=value, idempotency_key=value)
        draft = story.propose("c1", body, tool=value, schema_version=None)
        store.append(Append(session_id="s1", drafts=(draft,), calls=story.rows("c1")))
        assert (store.call("c1"),) == story.rows("c1")
        assert (store.keyed(value, value),) == story.rows("c1")
        asked: dict[str, Any] = {"tool": value, "tenant": value, "principal": value}
        assert [event.tool for event in store.events(EventFilter(**asked), limit=10)] == [value]
        (placed,) = store.calls(CallFilter(idempotency_key=value, **asked), limit=10)
        assert (placed.row,) == story.rows("c1")
        assert list(store.calls(CallFilter(tool=value + " "), limit=10)) == []
        store.append(Append(session_id="s1", drafts=story.run("c1"), calls=story.rows("c1")))
        assert (store.call("c1"),) == story.rows("c1")

    def test_session_ids_sort_by_code_point(self, store: Store) -> None:
        """Lists go by code point, ids with lone surrogates last, so that pages miss none."""
        names = ["a", "b\x00", "b", "\uffff", "\U0001f600", "\ud800", "a\udce9", "\udfff"]
        for name in names:
            add(store, name, "x")
        seen: list[str] = []
        while page := store.sessions(after=seen[-1] if seen else "", limit=1):
            seen += [row.session_id for row in page]
        assert seen == ["a", "b", "b\x00", "\uffff", "\U0001f600", "a\udce9", "\ud800", "\udfff"]
