"""Any sequence of operations has the same answers and leaves the same ledger in memory and in a file."""

from __future__ import annotations

import shutil
import tempfile
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ledger.errors import LedgerError
from ledger.store.memory import MemoryStore
from ledger.store.port import Append, CallFilter, EventFilter, Store, Take
from ledger.store.urls import open_store
from ledger.testing.contract.building import HandClock, Story, note
from ledger.testing.contract.calls import FULL

SESSIONS = st.sampled_from(["s1", "s2"])
EXPECTED = st.sampled_from(["any", "any", "any", "none", "exists", 0, 1, 2, 3])
NAMES = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=3)
TAKES = st.builds(
    Take,
    owner=st.sampled_from(["me", "them"]),
    token=st.integers(1, 3),
    seconds=st.just(10.0),
    dead=st.sampled_from([None, None, 1, 2]),
)
CALLS = st.builds(
    lambda name, key, place, state: FULL._replace(call_id=name, idempotency_key=key, turn=place, state=state),
    st.sampled_from(["c1", "c2", "c3"]),
    st.sampled_from([None, "k1", "k2"]),
    st.integers(1, 3),
    st.sampled_from(["proposed", "started", "needs-review", "succeeded"]),
)


class TwoStores(RuleBasedStateMachine):
    """Does everything twice, and compares."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.time = HandClock()
        self.memory: Store = MemoryStore(self.time.clock())
        self.file: Store = open_store(f"{self.folder}/ledger.db", create=True, clock=self.time.clock())

    def teardown(self) -> None:
        self.file.close()
        shutil.rmtree(self.folder)

    def both(self, operation: Any) -> None:
        """Do something to both stores, and expect the same answer."""
        answers = []
        for store in (self.memory, self.file):
            try:
                answers.append(operation(store))
            except LedgerError as refusal:
                answers.append((type(refusal), vars(refusal)))
        assert answers[0] == answers[1]

    @rule(
        session=SESSIONS,
        names=NAMES,
        expected=EXPECTED,
        token=st.sampled_from([None, None, 1, 2]),
        take=st.none() | TAKES,
        release=st.booleans(),
        calls=st.lists(CALLS, max_size=2, unique_by=lambda row: row.call_id),
        said=st.sampled_from(["same", "same", "same", "other"]),
    )
    def append(self, session: str, names: list[str], calls: list[Any], said: str, **options: Any) -> None:
        story = Story(session)
        drafts = [story.event(note(said), event_id=name) for name in names]
        rows = []
        for row in calls:
            known = self.memory.call(row.call_id)
            place = (row.session_id, row.turn) if known is None else (known.session_id, known.turn)
            rows.append(row._replace(session_id=place[0], turn=place[1]))  # no event moves a call
        self.both(
            lambda store: store.append(Append(session_id=session, drafts=tuple(drafts), calls=tuple(rows), **options))
        )

    @rule(session=SESSIONS, token=st.integers(0, 3))
    def renew(self, session: str, token: int) -> None:
        self.both(lambda store: store.renew(session, token=token, seconds=10.0))

    @rule(session=SESSIONS, token=st.integers(0, 3))
    def release(self, session: str, token: int) -> None:
        self.both(lambda store: store.release(session, token=token))

    @rule(seconds=st.sampled_from([-5, 3, 11]))
    def wait(self, seconds: float) -> None:
        self.time.move(seconds)

    @rule(write=st.booleans())
    def rebuild(self, write: bool) -> None:
        rows = [row for name in ("c1", "c2", "c3") if (row := self.memory.call(name)) is not None]
        self.both(lambda store: list(store.rebuild(iter(rows[1:]), write=write)))

    @invariant()
    def holds_the_same(self) -> None:
        self.both(lambda store: list(store.events(EventFilter(), limit=1000)))
        self.both(lambda store: [store.call(name) for name in ("c1", "c2", "c3")])
        self.both(lambda store: sorted(placed.row for placed in store.calls(CallFilter(), limit=1000)))
        self.both(lambda store: list(store.sessions(limit=10)))
        self.both(lambda store: list(store.sessions(limit=10, unfinished=True)))
        self.both(lambda store: [store.head(name) for name in ("s1", "s2")])
        self.both(lambda store: [store.keyed(FULL.tenant, key) for key in ("k1", "k2")])


TestTwoStores = TwoStores.TestCase
TestTwoStores.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
