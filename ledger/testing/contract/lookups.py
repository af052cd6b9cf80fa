# ruff: noqa: S101 - these are tests
"""What audits ask beyond a row's own columns: labels, actors, resources, events of calls that fit, counts."""

from __future__ import annotations

from typing import Any

from ledger.events import (
    CallAuthorized,
    CallFailed,
    CallProposed,
    CallRejected,
    CallStarted,
    CallSucceeded,
    CallUpcast,
    CallValidated,
    SessionOpened,
)
from ledger.store.port import Append, CallFilter, EventFilter, Store
from ledger.testing.contract.building import DIGEST, StoreCase, Story, ids

LABELS: dict[str, Any] = {
    "env": "prod",
    "n": 3,
    "deep": {"b": 1, "a": [True]},
    "a=b": "c",
    "": "none",
    "é\udce9": "\x00",
}


def told(store: Store) -> None:
    """Record two sessions: one with labels, a call on two resources and a refused one; one with a failed call."""
    story = Story(tenant="acme", principal="ada")
    drafts = [story.event(SessionOpened(labels=LABELS), actor="ledger", event_id="open")]
    drafts += [story.propose(name, CallProposed(stage=stage), actor="model") for name, stage in STAGES]
    passed = CallValidated(gates=(), validator="v", arguments_digest=DIGEST)
    drafts.append(story.of_call("c1", passed, actor="ledger"))
    drafts.append(story.of_call("c1", CallAuthorized(by="person", arguments_digest=DIGEST), actor="person:eve"))
    keys = ("repo:acme/site", "index")
    start = CallStarted(idempotency_key="k", worker="w", token=1, resource_keys=keys)
    drafts.append(story.of_call("c1", start, attempt=1, schema_version=2))
    drafts.append(story.of_call("c1", CallSucceeded(duration_ms=5.0), attempt=1))
    refusal = CallRejected(gate="schema", code="bad", error_class="model", message="no", model_can_repair=True)
    drafts.append(story.of_call("c2", refusal))
    store.append(Append(session_id="s1", drafts=tuple(drafts), calls=story.rows("c1", "c2")))
    other = Story("s2", tenant=None, principal="bob")
    drafts = [other.event(SessionOpened(labels={"env": "test"}), event_id="open2"), other.propose("d1", tool="other")]
    end = CallFailed(code="timeout", error_class="environment", message="x", not_started=True, duration_ms=0.5)
    drafts += [other.of_call("d1", passed), other.of_call("d1", end)]
    store.append(Append(session_id="s2", drafts=tuple(drafts), calls=other.rows("d1")))


def _upcast(number: int) -> CallUpcast:
    about: dict[str, Any] = {
        "upcast_digest": DIGEST,
        "digest_before": DIGEST,
        "digest_after": DIGEST,
        "validator": "none",
    }
    return CallUpcast(from_version=number, to_version=number + 1, arguments={}, **about)


STAGES: tuple[tuple[str, Any], ...] = (("c1", "active"), ("c2", "compat"))


def calls(store: Store, **asked: Any) -> list[str]:
    """Return the ids of the calls that fit, read in small pages."""
    found: list[str] = []
    after = 0
    while page := store.calls(CallFilter(**asked), after=after, limit=2):
        found += [placed.row.call_id for placed in page]
        after = page[-1].position
    return found


def events(store: Store, **asked: Any) -> list[str]:
    """Return the ids of the events that fit, read in small pages."""
    found: list[str] = []
    after = 0
    while page := store.events(EventFilter(**asked), after=after, limit=3):
        found += ids(page)
        after = page[-1].position
    return found


OF_CALLS: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({"labels": (("env", "prod"),)}, ["c1", "c2"]),
    ({"labels": (("env", "test"),)}, ["d1"]),
    ({"labels": (("env", "prod"), ("n", "3"))}, ["c1", "c2"]),
    ({"labels": (("env", "prod"), ("n", "4"))}, []),
    ({"labels": (("deep", '{"a":[true],"b":1}'),)}, ["c1", "c2"]),
    ({"labels": (("a=b", "c"),)}, ["c1", "c2"]),
    ({"labels": (("a", "b=c"),)}, []),
    ({"labels": (("", "none"),)}, ["c1", "c2"]),
    ({"labels": (("é\udce9", "\x00"),)}, ["c1", "c2"]),
    ({"labels": (("env", "prod' OR 1=1 --"),)}, []),
    ({"labels": (("env", "prod"),), "session_id": "s1"}, ["c1", "c2"]),
    ({"labels": (("env", "prod"),), "session_id": "s2"}, []),
    ({"actor": "model"}, ["c1", "c2"]),
    ({"actor": "person:eve"}, ["c1"]),
    ({"actor": "mode"}, []),
    ({"actor": 'model","body":{}'}, []),
    ({"actor": ""}, []),
    ({"resource": "repo:acme/site"}, ["c1"]),
    ({"resource": "index", "states": ("succeeded",)}, ["c1"]),
    ({"resource": "repo:acme"}, []),
    ({"resource": "index", "tenant": "other"}, []),
    ({"types": ("call.failed",)}, ["d1"]),
    ({"types": ("call.failed", "call.rejected")}, ["c2", "d1"]),
    ({"types": ("call.started",)}, ["c1"]),
    ({"types": ("call.rejected", "call.started")}, ["c1", "c2"]),
    ({"types": ("call.authorized",), "actor": "person:eve"}, ["c1"]),
    ({"types": ("call.proposed",), "actor": "person:eve"}, []),
    ({"types": ("call.failed",), "actor": "model"}, []),
    ({"tenant": "acme"}, ["c1", "c2"]),
    ({"tenant": ""}, ["d1"]),
    ({"principal": "bob", "states": ("failed", "rejected")}, ["d1"]),
    ({"states": ("failed", "rejected")}, ["c2", "d1"]),
    ({"stage": "compat"}, ["c2"]),
    ({"stage": "active"}, ["c1"]),
    ({"call_id": "c2", "code": "bad"}, ["c2"]),
    ({"call_id": "c1", "code": "bad"}, []),
    ({"tool": "other"}, ["d1"]),
    ({"tool": "other", "carried": (("send_email", 1),)}, ["c1", "c2", "d1"]),
    ({"tool": "other", "carried": (("send_email", 2),)}, ["d1"]),
    ({"tool": "none", "carried": (("send_email", 1), ("other", 2)), "states": ("rejected",)}, ["c2"]),
    ({"tool": "none", "carried": (("send_email", 2), ("send_email", 1)), "session_id": "s1"}, ["c1", "c2"]),
    ({"tool": "t" * 600, "carried": (("other", 1),)}, ["d1"]),
    ({"carried": (("send_email", 1),)}, ["c1", "c2", "d1"]),
)
OF_EVENTS: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({"labels": (("env", "test"),)}, ["open2", "s2-e2", "s2-e3", "s2-e4"]),
    ({"labels": (("env", "test"),), "types": ("session.opened",)}, ["open2"]),
    ({"actor": "ledger"}, ["open", "s1-e4"]),
    ({"actor": "ledger", "session_id": "s2"}, []),
    ({"actor": "person:eve"}, ["s1-e5"]),
    ({"schema_version": 2}, ["s1-e6"]),
    ({"tool": "other", "carried": (("send_email", 2),)}, ["s1-e6", "s2-e2", "s2-e3", "s2-e4"]),
    ({"tenant": "acme", "types": ("call.rejected",)}, ["s1-e8"]),
    ({"of": CallFilter(states=("rejected",))}, ["s1-e3", "s1-e8"]),
    ({"of": CallFilter(states=("succeeded",))}, ["s1-e2", "s1-e4", "s1-e5", "s1-e6", "s1-e7"]),
    ({"of": CallFilter(states=("succeeded",)), "types": ("call.started",)}, ["s1-e6"]),
    ({"of": CallFilter(resource="index"), "actor": "model"}, ["s1-e2"]),
    ({"of": CallFilter(code="timeout"), "session_id": "s1"}, []),
    ({"of": CallFilter(code="timeout"), "session_id": "s2"}, ["s2-e2", "s2-e3", "s2-e4"]),
    ({"of": CallFilter(stage="compat"), "call_id": "c2"}, ["s1-e3", "s1-e8"]),
    ({"of": CallFilter(stage="compat"), "call_id": "c1"}, []),
    ({"of": CallFilter()}, [*(f"s1-e{n}" for n in range(2, 9)), "s2-e2", "s2-e3", "s2-e4"]),
)


class LookUpContract(StoreCase):
    """Filters that no column of the row itself answers, and counts."""

    def test_calls_are_asked_for_by_what_stands_around_them(self, store: Store) -> None:
        """Labels of the session, actors and types of the call's events, resources that it touched."""
        told(store)
        for asked, names in OF_CALLS:
            assert calls(store, **asked) == names, asked

    def test_events_are_asked_for_by_what_stands_around_them(self, store: Store) -> None:
        """Labels, actors, versions as they were then, and what became of the call."""
        told(store)
        for asked, names in OF_EVENTS:
            assert events(store, **asked) == names, asked

    def test_calls_are_counted(self, store: Store) -> None:
        """Groups with the most calls first; states, repairable ones, durations and their exact ranks."""
        told(store)
        assert store.tally(CallFilter(tool="nope"), ("tool",)) == []
        (carried,) = store.tally(CallFilter(tool="nope", carried=(("send_email", 1),)), ("tool",))
        assert (carried.key, carried.calls) == (("send_email",), 2)
        first, second = store.tally(CallFilter(), ("tool", "schema_version"))
        assert (first.key, first.calls, dict(first.states)) == (("send_email", 1), 2, {"rejected": 1, "succeeded": 1})
        assert (first.repairable, first.timed, first.p50, first.p95) == (1, 1, 5.0, 5.0)
        assert (second.key, second.calls, dict(second.states)) == (("other", 1), 1, {"failed": 1})
        assert (second.repairable, second.timed, second.p50, second.p95) == (0, 1, 0.5, 0.5)
        assert [tally.key for tally in store.tally(CallFilter(), ("code",))] == [(None,), ("bad",), ("timeout",)]
        assert [tally.key for tally in store.tally(CallFilter(labels=(("env", "test"),)), ())] == [()]
        (refused,) = store.tally(CallFilter(states=("rejected",)), ("error_class",))
        assert (refused.key, refused.timed, refused.p50, refused.p95) == (("model",), 0, None, None)

    def test_carried_calls_are_counted_by_the_version_that_they_were_recorded_under(self, store: Store) -> None:
        """That is the one of their proposal, however often an upcast carried them; others have one version only."""
        story, names = Story("s8"), ["once", "twice", "never", "nobody's"]
        drafts = [story.propose(name) for name in names[:3]]
        drafts.append(story.propose(names[3], schema_version=None))
        for name, number in (("once", 1), ("twice", 1), ("twice", 2)):
            drafts.append(story.of_call(name, _upcast(number)))
        store.append(Append(session_id="s8", drafts=tuple(drafts), calls=story.rows(*names)))
        found = store.tally(CallFilter(), ("schema_version", "recorded_version"))
        assert [tally.key for tally in found] == [(None, None), (1, 1), (2, 1), (3, 1)]
        assert [tally.key for tally in store.tally(CallFilter(schema_version=3), ("recorded_version",))] == [(1,)]

    def test_ranks_are_of_the_values_themselves(self, store: Store) -> None:
        """Percentiles go by nearest rank: of 100 durations the 50th and the 95th, whatever their order."""
        story, names = Story("s9"), [f"c{n}" for n in range(100)]
        drafts = [story.propose(name) for name in names]
        passed = CallValidated(gates=(), validator="v", arguments_digest=DIGEST)
        for n, name in enumerate(names):
            took = float((n * 7) % 100 + 1)
            end = CallFailed(code="x", error_class="tool", message="", duration_ms=took, not_started=True)
            drafts += [story.of_call(name, passed), story.of_call(name, end)]
        store.append(Append(session_id="s9", drafts=tuple(drafts), calls=story.rows(*names)))
        (tally,) = store.tally(CallFilter(), ("state",))
        assert (tally.timed, tally.p50, tally.p95) == (100, 50.0, 95.0)

    def test_what_appends_look_up_is_what_the_events_say(self, store: Store) -> None:
        """Nothing differs after appends, and nothing is changed where it is made again."""
        told(store)
        assert list(store.reindex(write=False)) == []
        assert list(store.reindex(write=True)) == []
        assert calls(store, resource="index") == ["c1"]
