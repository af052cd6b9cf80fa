"""A group of requests in one transaction leaves what the same requests leave one after the other."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.errors import LedgerError
from ledger.events import CallProposed, ToolVersionPublished
from ledger.store import rules
from ledger.store.memory import MemoryStore
from ledger.store.port import Append, Appended, Store, Take
from ledger.store.urls import open_store
from ledger.store.writing import Grouped, Request
from ledger.testing.contract.building import HandClock, Story, note
from ledger.testing.contract.calls import FULL

SESSIONS = "abcd"
PLACES = {"c1": 1, "c2": 2, "c3": 2}
"""The turns of the calls of a session: two of them claim the same place."""

KEYED = "c3"
"""The call of each session that has a host's key, the same in all."""

TAKES = st.builds(
    Take,
    owner=st.sampled_from(["me", "them"]),
    token=st.integers(1, 2),
    seconds=st.just(10.0),
    dead=st.sampled_from([None, 1]),
    claims=st.sampled_from([1, 1, 2]),
)
ASKED = st.fixed_dictionaries(
    {
        "session": st.sampled_from(SESSIONS),
        "names": st.lists(st.sampled_from(["e1", "e2", "e3", "e4", "\udce9"]), min_size=1, max_size=3),
        "calls": st.lists(st.sampled_from(list(PLACES)), max_size=2, unique=True),
        "state": st.sampled_from(["proposed", "started", "succeeded"]),
        "expected": st.sampled_from(["any", "any", "any", "none", "exists", 1, 2]),
        "token": st.sampled_from([None, None, None, 1]),
        "take": st.none() | TAKES,
        "release": st.booleans(),
        "turn": st.sampled_from([None] * 9 + [2**63]),
    }
)
LEASES = st.builds(
    lambda session, renews: {"session": session, "renews": renews}, st.sampled_from(SESSIONS), st.booleans()
)
GROUPS = st.lists(st.lists(ASKED | LEASES, min_size=1, max_size=5), min_size=1, max_size=4)


def requested(asked: dict[str, Any], prefix: str) -> Request:
    """Return what was drawn, for the sessions, calls and keys of one example."""
    asked = dict(asked)
    session = prefix + asked.pop("session")
    if "renews" in asked:
        return rules.Renewal(session, 1, 20.0) if asked["renews"] else rules.Return(session, 1)
    story, turn, calls, state = Story(session), asked.pop("turn"), asked.pop("calls"), asked.pop("state")
    names = asked.pop("names")
    if turn is not None:
        names, calls = ["too-large"], []
    drafts = [story.event(note("x"), event_id=name, turn=turn) for name in names]
    rows = [
        FULL._replace(
            call_id=f"{session}-{name}",
            session_id=session,
            turn=PLACES[name],
            state=state,
            idempotency_key=prefix if name == KEYED else None,
        )
        for name in calls
    ]
    drafts += [story.event(CallProposed(), call_id=row.call_id, event_id=row.call_id) for row in rows]
    return Append(session_id=session, drafts=tuple(drafts), calls=tuple(rows), **asked)


def one_by_one(store: MemoryStore, request: Request) -> object:
    """Do it alone; return the answer, or the refusal."""
    try:
        if isinstance(request, Append):
            return store.append(request)
        if isinstance(request, rules.Renewal):
            return store.renew(request.session_id, token=request.token, seconds=request.seconds)
        store.release(request.session_id, token=request.token)
    except LedgerError as refusal:
        return refusal
    return None


def told(answer: object) -> object:
    """Return what the asker learns, but for positions: those of a group's requests may stand in another order."""
    if isinstance(answer, Appended):
        return answer.sequences, answer.head, answer.repeated
    if isinstance(answer, LedgerError):
        return type(answer), str(answer)
    return None


def left(store: Store, prefix: str) -> list[object]:
    """Return what the sessions of one example left."""
    found: list[object] = [store.keyed(FULL.tenant, prefix)]
    for session in (prefix + name for name in SESSIONS):
        found.append([event._replace(position=0) for event in store.read(session, limit=99)])
        found.append([store.call(f"{session}-{name}") for name in PLACES])
        found.append(store.head(session))
    return found


@pytest.fixture(params=["sqlite", "postgres"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, HandClock]]:
    """A store that groups what it is asked for, on each back end that has one; its time stands still."""
    url = str(tmp_path / "ledger.db") if request.param == "sqlite" else request.getfixturevalue("server_url")
    time = HandClock()
    store = open_store(url, create=True, clock=time.clock())
    yield store, time
    store.close()


def test_a_call_id_of_two_sessions_stays_the_firsts(stored: tuple[Store, HandClock]) -> None:
    """Which call a row is about is not changed by a later one, be it of the same group or not."""
    store, _ = stored
    assert isinstance(store, Grouped)
    first, other = (
        Append(session_id=name, drafts=(story.propose("c1"),), calls=story.rows("c1"))
        for name, story in (("a", Story("a", principal="ada")), ("b", Story("b", principal="bob")))
    )
    assert all(isinstance(answer, Appended) for answer in store._committing.commit([first, other]))
    row = store.call("c1")
    assert row is not None
    assert (row.session_id, row.principal) == ("a", "bob")


def test_a_group_leaves_what_its_requests_leave_alone(stored: tuple[Store, HandClock]) -> None:
    """Each gets the answer it would get alone, in whatever company; the positions it is told are its events'."""
    store, time = stored
    assert isinstance(store, Grouped)
    examples = count()

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(GROUPS)
    def run(groups: list[list[dict[str, Any]]]) -> None:
        prefix, memory = f"x{next(examples)}-", MemoryStore(time.clock())
        for group in groups:
            requests = sorted((requested(each, prefix) for each in group), key=lambda each: each.session_id)
            answers = store._committing.commit(requests)
            assert [*map(told, answers)] == [told(one_by_one(memory, each)) for each in requests]
            assert left(store, prefix) == left(memory, prefix)
            for request, answer in zip(requests, answers, strict=True):
                if isinstance(answer, Appended) and isinstance(request, Append):
                    places = {each.event_id: each.position for each in store.read(request.session_id, limit=99)}
                    assert answer.positions == tuple(places[draft.event.event_id] for draft in request.drafts)

    run()


def test_a_version_that_is_published_in_a_group_is_kept_beside_it(
    stored: tuple[Store, HandClock], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Who looks into the tables finds the tool's version, whoever else wrote in that transaction."""
    store, file = stored[0], tmp_path / "ledger.db"
    assert isinstance(store, Grouped)
    body = ToolVersionPublished(schema={"type": "object"}, contract={}, description="d", description_digest="x")
    told = Story("a")
    published = told.event(body, event_id="e1", tool="pay", schema_version=2, schema_digest="y")
    beside = Append(session_id="b", drafts=(Story("b").event(note("x"), event_id="e1"),))
    store._committing.commit([Append(session_id="a", drafts=(published,)), beside])
    asked = "SELECT tool, version, schema_digest FROM tool_version"
    if file.exists():
        with closing(sqlite3.connect(file)) as connection:
            found = connection.execute(asked).fetchall()
    else:
        with psycopg.connect(request.getfixturevalue("server_url")) as server:
            found = server.execute(asked).fetchall()
    assert found == [("pay", 2, "y")]
