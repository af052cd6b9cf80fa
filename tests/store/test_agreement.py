"""Whatever is asked, both adapters give the same rows: many sessions, times out of order, filters drawn by lot."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, get_args

import pytest

from ledger.calls import Call, State, call_row, evolve
from ledger.events import (
    Body,
    CallAuthorized,
    CallDenied,
    CallFailed,
    CallFlagged,
    CallProposed,
    CallRejected,
    CallStarted,
    CallSucceeded,
    CallUpcast,
    CallValidated,
    Event,
    SessionOpened,
    encode,
)
from ledger.events.call_bodies import Gate
from ledger.ids import iso
from ledger.store import tags
from ledger.store.memory import MemoryStore
from ledger.store.port import Append, CallFilter, EventFilter, GroupKey, Store
from ledger.store.sqlite import hints
from ledger.store.sqlite.where import Hints
from ledger.store.urls import open_store

DAY = datetime(2026, 5, 1, tzinfo=UTC)
TOOLS, TENANTS, PEOPLE = ("find", "send", "na\udce9me"), ("acme", "other", None), ("ada", "bob", None)
ACTORS = ("model", "ledger", "person:eve", "person:é\udce9", None)
LABELS: tuple[dict[str, Any] | None, ...] = (None, {"env": "prod", "n": 3}, {"env": "test"}, {"env": "prod"})
TYPES = ("call.started", "call.failed", "call.rejected", "call.denied")
KEYS = ("repo:a", "repo:b", "index")
PASSED, ALLOWED = (
    CallValidated(gates=(), validator="v", arguments_digest="d"),
    CallAuthorized(by="policy", arguments_digest="d"),
)
CARRIED = CallUpcast(
    from_version=1, to_version=3, upcast_digest="u", digest_before="d", digest_after="d", validator="v", arguments={}
)
FATES: tuple[tuple[Body, ...], ...] = (
    (PASSED, ALLOWED, CallStarted(idempotency_key="k", worker="w", token=1), CallSucceeded(duration_ms=1.0)),
    (PASSED, ALLOWED, CallStarted(idempotency_key="k", worker="w", token=1, resource_keys=KEYS[:2])),
    (
        *(PASSED, ALLOWED, CallStarted(idempotency_key="k", worker="w", token=1, resource_keys=KEYS[1:])),
        CallFailed(code="timeout", error_class="environment", message="", duration_ms=3.0, not_started=True),
    ),
    (CallRejected(gate="schema", code="bad", error_class="model", message="", model_can_repair=True),),
    (PASSED, CallDenied(code="no", message="")),
    (CallFlagged(reason="duplicate", duplicate_of="other"),),
    (CallFlagged(reason="not-started"),),
    (),
    (PASSED, CARRIED, ALLOWED, CallStarted(idempotency_key="k", worker="w", token=1), CallSucceeded(duration_ms=2.0)),
)
"""The last one is of version 1."""


def appends(lot: Random) -> Iterator[Append]:
    """Sessions of a few calls each, whose events lie days apart and not in order."""
    for number in range(40):
        session_id = f"s{number:02}"
        about = {"tenant": lot.choice(TENANTS), "principal": lot.choice(PEOPLE)}
        events = [_event(lot, session_id, 0, SessionOpened(labels=lot.choice(LABELS)), about)]
        calls: dict[str, Call] = {}
        for place in range(lot.randrange(4)):
            key = f"key{number}" if place == 1 else None
            stage: Any = lot.choice(("active", "active", "compat", None))
            proposal = CallProposed(stage=stage, idempotency_key=key, description_digest="d" * lot.randrange(2) or None)
            tool, version = lot.choice(TOOLS), lot.choice((1, 2, None))
            call_id = f"call-{number:02}-{place}"
            of_call: dict[str, Any] = {"call_id": call_id, "tool": tool, "turn": place + 1, "index": 0, "revision": 0}
            for body in (proposal, *lot.choice(FATES if version == 1 else FATES[:-1])):
                one = _event(lot, session_id, len(events), body, about | of_call | {"schema_version": version})
                calls[call_id] = evolve(calls.get(call_id, Call()), one)
                events.append(one)
        drafts = tuple(map(encode, events))
        yield Append(session_id=session_id, drafts=drafts, calls=tuple(map(call_row, calls.values())))


def _event(lot: Random, session_id: str, number: int, body: Body, about: dict[str, Any]) -> Event:
    at = iso(DAY + timedelta(days=lot.randrange(30), hours=number))
    return Event(
        session_id=session_id,
        event_id=f"{session_id}-{number}",
        recorded_at=at,
        body=body,
        actor=lot.choice(ACTORS),
        **about,
    )


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """The same ledger in memory and in a file, with spans of 16 events."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags, "SPAN", 16)
        memory: Store = MemoryStore()
        file: Store = open_store(f"sqlite:///{tmp_path_factory.mktemp('agree')}/ledger.db", create=True)
        for append in appends(Random(7)):
            memory.append(append)
            file.append(append)
        yield memory, file
        file.close()


def asked_calls(lot: Random) -> dict[str, Any]:
    """Up to three conditions on calls."""
    since = DAY + timedelta(days=lot.randrange(-1, 32))
    choices: dict[str, Any] = {
        "session_id": lot.choice(("s03", "s04", "nope")),
        "call_id": "call-03-0",
        "call_id_part": lot.choice(("call-0", "-03-1", "c", "call-03-0")),
        "tool": lot.choice(TOOLS),
        "states": tuple(lot.sample(get_args(State), lot.randrange(1, 4))),
        "reasons": tuple(lot.sample(("duplicate", "not-started"), lot.randrange(1, 3))),
        "schema_version": lot.choice((1, 2)),
        "stage": lot.choice(("active", "compat")),
        "gate": lot.choice(get_args(Gate)),
        "code": lot.choice(("bad", "no", "timeout")),
        "error_class": lot.choice(("model", "policy", "environment")),
        "tenant": lot.choice(("acme", "other", "")),
        "principal": lot.choice(("ada", "bob", "nobody")),
        "idempotency_key": f"key{lot.randrange(40)}",
        "duplicate_of": "other",
        "types": tuple(lot.sample(TYPES, lot.randrange(1, 3))),
        "actor": lot.choice(("model", "person:eve", "person:é\udce9", "x")),
        "labels": lot.choice(((("env", "prod"),), (("env", "prod"), ("n", "3")), (("env", "test"),))),
        "resource": lot.choice(KEYS),
        "since": iso(since),
        "until": iso(since + timedelta(days=lot.randrange(20))),
    }
    return {name: choices[name] for name in lot.sample(sorted(choices), lot.randrange(4))}


def asked_events(lot: Random) -> dict[str, Any]:
    """Up to three conditions on events, perhaps on their calls as well."""
    drawn = asked_calls(lot)
    own = {name: value for name, value in drawn.items() if name in EventFilter.__slots__}
    if "types" in own:
        own["types"] = (*own["types"], "session.opened", "call.proposed")[: lot.randrange(1, 4)]
    rest = {name: value for name, value in drawn.items() if name not in own}
    return own | ({"of": CallFilter(**rest)} if rest or lot.random() < 0.1 else {})


@pytest.mark.parametrize("led", ["as it is", "always by tag", "never by tag"])
def test_the_same_is_answered(stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch, led: str) -> None:
    """Calls, events and counts are the same rows in the same order, whichever way SQLite goes, page by page."""
    memory, file = stores
    if led != "as it is":
        always = led == "always by tag"
        monkeypatch.setattr(hints, "_leading", lambda _, asked, __: asked[0] if asked and always else None)
    lot = Random(11)
    keys = get_args(GroupKey)
    hits = 0
    for _ in range(150):
        calls, events = CallFilter(**asked_calls(lot)), EventFilter(**asked_events(lot))
        after, limit = lot.choice((0, 0, 40, 200)), lot.choice((3, 1000))
        found = memory.calls(calls, after=after, limit=limit)
        assert file.calls(calls, after=after, limit=limit) == found, calls
        seen = memory.events(events, after=after, limit=limit)
        assert file.events(events, after=after, limit=limit) == seen, events
        by = tuple(lot.sample(keys, lot.randrange(3)))
        assert file.tally(calls, by) == memory.tally(calls, by), (calls, by)
        hits += bool(found) + bool(seen)
    assert hits > 75


def test_spans_tell_where_a_time_can_be(stores: tuple[Store, Store]) -> None:
    """Events before the first span that reaches a time need not be looked at, nor those behind the last that does."""
    _, file = stores
    (last,) = [event.position for event in file.events(EventFilter(), limit=1000)][-1:]
    with file._pool.connection() as connection:  # type: ignore[attr-defined]  # the adapter's own
        assert hints.look(connection, EventFilter(), 10) == Hints()
        late = hints.look(connection, EventFilter(since="2027-01-01T00:00:00.000000Z"), 10)
        assert last - 16 <= late.low <= last
        early = hints.look(connection, EventFilter(until="2026-01-01T00:00:00.000000Z"), 10)
        assert (early.low, early.high) == (0, 0)
        spans = connection.execute("SELECT count(*) FROM event_span").fetchone()[0]
    assert spans > 5
