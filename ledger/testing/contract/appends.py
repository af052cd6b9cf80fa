# ruff: noqa: S101, PLR2004 - these are tests
"""Appending: places, expectations, repeats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ledger.errors import IdempotencyConflict, LeaseLost, SessionOwned, StoreUnavailable, UsageError, WrongSequence
from ledger.events import CallNoted, MessageRecorded, SessionOpened, ToolVersionPublished
from ledger.events.wire import chain
from ledger.store.port import Append, CallFilter, EventFilter, Store, Take
from ledger.testing.contract.building import StoreCase, Story, add, everything, ids, note

MANY = 173
"""More events than one statement of any back end takes."""


class AppendContract(StoreCase):
    """What `append` records, and what it refuses."""

    def test_an_append_is_read_back_byte_for_byte(self, store: Store) -> None:
        """Records come back with the exact bytes, at gapless sequences from 1, each chained to the one before."""
        story = Story()
        drafts = (story.event(SessionOpened(agent="a")), story.propose("c1"), *story.run("c1"))
        appended = store.append(Append(session_id="s1", drafts=drafts, calls=story.rows("c1")))
        assert appended.sequences == (1, 2, 3, 4, 5, 6)
        assert not appended.repeated
        digest = b""
        for sequence, (draft, event) in enumerate(zip(drafts, store.read("s1", limit=100), strict=True), 1):
            digest = chain(digest, draft.record(sequence))
            assert event == (
                appended.positions[sequence - 1],
                "s1",
                sequence,
                draft.event.event_id,
                draft.type,
                draft.event.call_id,
                draft.event.tool,
                draft.record(sequence),
                digest,
            )
        assert appended.head == store.head("s1")
        assert (appended.head.sequence, appended.head.digest) == (6, digest)

    def test_appends_follow_each_other(self, store: Store) -> None:
        """A later append goes on where the session stands, and positions grow over all sessions."""
        first = add(store, "s1", "a", "b")
        other = add(store, "s2", "a")
        second = add(store, "s1", "c", "d")
        assert second.sequences == (3, 4)
        assert other.sequences == (1,)
        positions = [*first.positions, *other.positions, *second.positions]
        assert positions == sorted(set(positions))
        assert ids(everything(store, "s1")) == ["a", "b", "c", "d"]

    def test_many_events_fit_in_one_append(self, store: Store) -> None:
        """One append holds any number of events."""
        appended = add(store, "s1", *(f"e{n}" for n in range(MANY)))
        assert appended.sequences == tuple(range(1, MANY + 1))
        assert appended.positions == tuple(event.position for event in everything(store, "s1"))

    @pytest.mark.parametrize(
        ("expected", "before"), [("any", 0), ("any", 2), ("none", 0), ("exists", 2), (0, 0), (2, 2)]
    )
    def test_the_expected_sequence_is_met(self, store: Store, expected: Any, before: int) -> None:
        """An append is taken where the session is at the expected sequence."""
        for n in range(before):
            add(store, "s1", f"before{n}")
        assert add(store, "s1", "x", expected=expected).sequences == (before + 1,)

    @pytest.mark.parametrize(("expected", "before"), [("none", 2), ("exists", 0), (0, 2), (1, 2), (3, 2), (1, 0)])
    def test_another_sequence_is_refused(self, store: Store, expected: Any, before: int) -> None:
        """Where somebody appended meanwhile the append is refused, naming both sequences, and leaves nothing."""
        for n in range(before):
            add(store, "s1", f"before{n}")
        take = Take(owner="me", token=1, seconds=30)
        with pytest.raises(WrongSequence) as refusal:
            add(store, "s1", "x", expected=expected, take=take)
        assert (refusal.value.session_id, refusal.value.expected, refusal.value.actual) == ("s1", expected, before)
        assert len(everything(store, "s1")) == before
        head = store.head("s1")
        assert head is None if before == 0 else head is not None and head.owner is None

    def test_an_append_that_repeats_itself_is_recorded_once(self, store: Store) -> None:
        """The same events again are answered with where they are, also after others came, and not stored again."""
        first = add(store, "s1", "a", "b", expected=0)
        add(store, "s1", "c")
        again = add(store, "s1", "a", "b", expected=0)
        assert again.repeated
        assert (again.sequences, again.positions) == (first.sequences, first.positions)
        assert again.head == store.head("s1")
        assert again.head.sequence == 3
        assert ids(everything(store, "s1")) == ["a", "b", "c"]

    @pytest.mark.parametrize("expected", ["any", "exists", 2])
    def test_a_repeat_is_known_whatever_it_expects(self, store: Store, expected: Any) -> None:
        """A repeat is recognised by its event ids, also where its expectation is met."""
        first = add(store, "s1", "a", "b")
        again = add(store, "s1", "a", "b", expected=expected)
        assert again.repeated
        assert again.positions == first.positions

    def test_many_repeats_are_known_at_once(self, store: Store) -> None:
        """A repeat of any size is recognised."""
        names = [f"e{n}" for n in range(MANY)]
        first = add(store, "s1", *names)
        again = add(store, "s1", *names)
        assert again.repeated
        assert again.positions == first.positions

    def test_a_repeat_may_carry_a_later_time(self, store: Store) -> None:
        """An event encoded again is the same one: its type, call and body count, not when it was written."""
        first = Story()
        store.append(Append(session_id="s1", drafts=(first.propose("c1"),), calls=first.rows("c1")))
        later = Story(at="2026-02-03T04:05:06.000000Z")
        again = store.append(Append(session_id="s1", drafts=(later.propose("c1"),), calls=later.rows("c1")))
        assert again.repeated
        assert len(everything(store, "s1")) == 1

    def test_a_repeat_comes_before_every_refusal(self, store: Store) -> None:
        """What is recorded is recorded: a repeat is not refused because the lease went to somebody else since."""
        mine = Take(owner="me", token=1, seconds=30)
        add(store, "s1", "a", take=mine, release=True)
        theirs = Take(owner="them", token=2, seconds=30)
        add(store, "s1", "b", take=theirs)
        assert add(store, "s1", "a", take=mine).repeated
        assert add(store, "s1", "a", token=1).repeated
        with pytest.raises(SessionOwned):
            add(store, "s1", "new", take=mine)
        with pytest.raises(LeaseLost):
            add(store, "s1", "new", token=1)

    @pytest.mark.parametrize(
        "other",
        [
            note("another text"),
            MessageRecorded(role="system", provider="test", message={"text": "a"}),
            SessionOpened(),
            CallNoted(by="me", text="a"),
        ],
    )
    def test_an_event_id_means_one_event(self, store: Store, other: Any) -> None:
        """An event id with another type or body is refused, and leaves nothing."""
        add(store, "s1", "a")
        draft = Story().event(other, event_id="a")
        with pytest.raises(IdempotencyConflict) as refusal:
            store.append(Append(session_id="s1", drafts=(draft,)))
        assert refusal.value.event_id == "a"
        assert len(everything(store, "s1")) == 1

    def test_one_is_not_one_point_zero(self, store: Store) -> None:
        """Bodies are compared exactly: 1 and 1.0 are different contents."""
        story = Story()
        first = story.event(MessageRecorded(role="user", provider="t", message={"n": 1}), event_id="a")
        other = story.event(MessageRecorded(role="user", provider="t", message={"n": 1.0}), event_id="a")
        store.append(Append(session_id="s1", drafts=(first,)))
        with pytest.raises(IdempotencyConflict):
            store.append(Append(session_id="s1", drafts=(other,)))

    def test_an_event_id_means_one_call(self, store: Store) -> None:
        """An event id used again for another call is refused."""
        story = Story()
        store.append(Append(session_id="s1", drafts=(story.propose("c1", event_id="x"),)))
        with pytest.raises(IdempotencyConflict):
            store.append(Append(session_id="s1", drafts=(story.propose("c2", event_id="x", turn=1),)))

    @pytest.mark.parametrize("names", [("a", "new"), ("new", "a"), ("a", "b", "new")])
    def test_a_half_recorded_append_is_refused(self, store: Store, names: tuple[str, ...]) -> None:
        """Where only a part of an append is recorded, it is another append under used ids."""
        add(store, "s1", "a", "b")
        with pytest.raises(IdempotencyConflict) as refusal:
            add(store, "s1", *names)
        assert refusal.value.event_id == "a"
        assert len(everything(store, "s1")) == 2

    def test_a_long_append_is_refused_as_a_whole(self, store: Store) -> None:
        """Where the last of many events is there already, none of the others is recorded."""
        add(store, "s1", "a")
        with pytest.raises(IdempotencyConflict):
            add(store, "s1", *(f"e{n}" for n in range(MANY)), "a")
        assert len(everything(store, "s1")) == 1

    def test_an_append_names_an_event_once(self, store: Store) -> None:
        """Two events of one append have two ids."""
        with pytest.raises(IdempotencyConflict):
            add(store, "s1", "a", "a")
        assert store.head("s1") is None

    def test_event_ids_belong_to_their_session(self, store: Store) -> None:
        """The same event id in another session is another event."""
        add(store, "s1", "a")
        assert not add(store, "s2", "a").repeated

    def test_an_append_needs_an_event(self, store: Store) -> None:
        """An append without events is refused."""
        with pytest.raises(UsageError):
            store.append(Append(session_id="s1", drafts=()))

    def test_an_append_is_of_one_session(self, store: Store) -> None:
        """An event of another session is refused."""
        with pytest.raises(UsageError):
            store.append(Append(session_id="s1", drafts=(Story("s2").event(note("a")),)))

    @pytest.mark.parametrize("field", ["turn", "index", "revision", "attempt", "schema_version"])
    def test_a_number_beyond_64_bits_is_refused(self, store: Store, field: str) -> None:
        """A turn, index, revision, attempt or version that databases cannot hold is refused, and leaves nothing."""
        draft = Story().event(note("a"), **{field: 2**63})
        with pytest.raises(UsageError):
            store.append(Append(session_id="s1", drafts=(draft,)))
        assert store.head("s1") is None

    def test_a_tool_version_may_be_published_again(self, store: Store) -> None:
        """Two ledgers of one store may both publish a version; both events are kept."""
        for event_id in ("a", "b"):
            story = Story("_catalog")
            body = ToolVersionPublished(schema={"type": "object"}, contract={}, description="d", description_digest="x")
            draft = story.event(body, tool="t", schema_version=1, schema_digest="y", event_id=event_id)
            store.append(Append(session_id="_catalog", drafts=(draft,)))
        assert ids(everything(store, "_catalog")) == ["a", "b"]

    def test_a_closed_store_is_unavailable(self, store: Store) -> None:
        """After `close` everything is refused, and closing again is fine."""
        add(store, "s1", "a")
        store.close()
        store.close()
        refused: list[Callable[[], object]] = [
            lambda: add(store, "s1", "b"),
            lambda: store.renew("s1", token=1, seconds=1),
            lambda: store.release("s1", token=1),
            lambda: store.head("s1"),
            lambda: store.read("s1", limit=1),
            lambda: store.events(EventFilter(), limit=1),
            lambda: store.calls(CallFilter(), limit=1),
            lambda: store.call("c1"),
            lambda: store.keyed("", "k"),
            lambda: store.sessions(limit=1),
            lambda: store.rebuild(iter(()), write=False),
            lambda: store.rebuild(iter(()), write=True),
        ]
        for operation in refused:
            with pytest.raises(StoreUnavailable):
                operation()

    def test_a_draft_is_the_callers_own(self, store: Store) -> None:
        """Drafts and requests are values: appending leaves them as they are."""
        story = Story()
        request = Append(session_id="s1", drafts=(story.event(note("a")),))
        copy = replace(request)
        store.append(request)
        assert request == copy
