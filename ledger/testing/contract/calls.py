# ruff: noqa: S101, PLR2004 - these are tests
"""The projection: rows of calls in the same transaction, host's keys, places, filters."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.calls import CallRow
from ledger.errors import KeyConflict, UsageError
from ledger.events import CallAuthorized, CallFlagged, CallProposed, CallRejected, CallValidated
from ledger.store.port import Append, CallFilter, Store
from ledger.testing.contract.building import DIGEST, StoreCase, Story, everything

FULL = CallRow(
    call_id="0198aaaa-0000-7000-8000-00000000cafe",
    session_id="s1",
    turn=1,
    idx=2,
    revision=3,
    tool="send_email",
    schema_version=4,
    state="needs-review",
    effect="external",
    stage="compat",
    gate="schema",
    code="rate_limited",
    error_class="environment",
    reason="duplicate",
    duplicate_of="0198aaaa-0000-7000-8000-00000000beef",
    attempt=5,
    arguments_digest=DIGEST,
    idempotency_key="order-17",
    provider_call_id="call_1",
    provider="openai",
    model="m",
    description_digest="e" * 64,
    tenant="acme",
    principal="ada",
    proposed_at="2026-01-02T03:04:05.000000Z",
    started_at="2026-01-02T03:04:06.000000Z",
    waiting_since="2026-01-02T03:04:07.000000Z",
    ended_at="2026-01-02T03:04:08.000000Z",
    duration_ms=12.5,
    sequence=6,
    model_can_repair=1,
)
"""A row with a value in every column."""


def keyed(call_id: str, key: str | None, *, tenant: str = "acme", turn: int = 1, session: str = "s1") -> CallRow:
    """Return a row that holds a host's key."""
    return FULL._replace(call_id=call_id, idempotency_key=key, tenant=tenant, turn=turn, session_id=session)


def put(store: Store, *rows: CallRow) -> None:
    """Record proposals of calls together with their rows."""
    session_id = rows[0].session_id
    head = store.head(session_id)
    story = Story(session_id, told=head.sequence if head else 0)
    drafts = tuple(
        story.event(CallProposed(), call_id=row.call_id, event_id=f"{story.told}-{row.call_id}") for row in rows
    )
    store.append(Append(session_id=session_id, drafts=drafts, calls=rows))


def found(store: Store, **asked: Any) -> list[str]:
    """Return the ids of the calls that a filter finds."""
    return [placed.row.call_id for placed in store.calls(CallFilter(**asked), limit=100)]


class CallContract(StoreCase):
    """What the store knows of calls."""

    def test_a_row_comes_back_as_it_was(self, store: Store) -> None:
        """Every column of a call's row is kept, and types with it."""
        put(store, FULL)
        row = store.call(FULL.call_id)
        assert row == FULL
        assert isinstance(row, CallRow)
        assert [type(value) for value in row] == [type(value) for value in FULL]

    def test_absent_values_stay_absent(self, store: Store) -> None:
        """A row as a fresh proposal has it comes back with its empty fields."""
        story = Story(tenant=None, principal=None)
        store.append(Append(session_id="s1", drafts=(story.propose("c1"),), calls=story.rows("c1")))
        row = store.call("c1")
        assert (row,) == story.rows("c1")
        assert row is not None
        assert (row.tenant, row.principal, row.idempotency_key, row.started_at) == ("", None, None, None)

    def test_an_unknown_call_has_no_row(self, store: Store) -> None:
        """A call that was never recorded is None."""
        assert store.call("nope") is None
        assert store.keyed("", "nope") is None

    def test_a_later_row_replaces_the_call(self, store: Store) -> None:
        """A row replaces the one of the same call; its place in the list is that of its proposal."""
        story = Story()
        first = (story.propose("c1"), story.propose("c2"))
        proposed = store.append(Append(session_id="s1", drafts=first, calls=story.rows("c1", "c2")))
        store.append(Append(session_id="s1", drafts=story.run("c1"), calls=story.rows("c1")))
        placed = store.calls(CallFilter(), limit=10)
        assert [p.position for p in placed] == list(proposed.positions)
        assert tuple(p.row for p in placed) == story.rows("c1", "c2")
        assert [p.row.state for p in placed] == ["succeeded", "proposed"]

    def test_a_refused_append_changes_no_row(self, store: Store) -> None:
        """Rows and events share one transaction."""
        story = Story()
        store.append(Append(session_id="s1", drafts=(story.propose("c1"),), calls=story.rows("c1")))
        before = store.call("c1")
        with pytest.raises(UsageError):
            put(store, FULL._replace(call_id="c9", turn=1, idx=0, revision=0, idempotency_key=None))
        drafts = story.run("c1")
        with pytest.raises(Exception, match="sequence"):
            store.append(Append(session_id="s1", drafts=drafts, calls=story.rows("c1"), expected=0))
        assert store.call("c1") == before
        assert store.call("c9") is None
        assert len(everything(store, "s1")) == 1

    def test_a_host_key_finds_its_call(self, store: Store) -> None:
        """A host's idempotency key is unique in its tenant, and finds the call."""
        put(store, keyed("c1", "k", turn=1), keyed("c2", "k", tenant="other", turn=2), keyed("c3", None, turn=3))
        put(store, keyed("c4", None, turn=4))
        assert store.keyed("acme", "k") == keyed("c1", "k", turn=1)
        assert store.keyed("other", "k") == keyed("c2", "k", tenant="other", turn=2)
        assert store.keyed("", "k") is None

    def test_an_empty_key_is_a_key(self, store: Store) -> None:
        """The empty text is a host's key as any other: a call without one does not take it away."""
        put(store, keyed("c1", "", turn=1), keyed("c2", None, turn=2))
        put(store, keyed("c2", None, turn=2))
        assert store.keyed("acme", "") == keyed("c1", "", turn=1)
        with pytest.raises(KeyConflict):
            put(store, keyed("c3", "", turn=3))

    @pytest.mark.parametrize("session", ["s1", "s2"])
    def test_a_taken_key_is_refused(self, store: Store, session: str) -> None:
        """A key that another call holds is refused, naming both calls, and nothing is recorded."""
        put(store, keyed("c1", "k"))
        with pytest.raises(KeyConflict) as refusal:
            put(store, keyed("c2", "k", turn=2, session=session))
        assert (refusal.value.key, refusal.value.call_id, refusal.value.other) == ("k", "c1", "c2")
        assert store.call("c2") is None
        assert sum(len(everything(store, name)) for name in ("s1", "s2")) == 1

    def test_two_calls_of_one_append_cannot_share_a_key(self, store: Store) -> None:
        """Also within one append a key is taken once."""
        with pytest.raises(KeyConflict):
            put(store, keyed("c1", "k", turn=1), keyed("c2", "k", turn=2))
        assert store.head("s1") is None

    def test_a_repeated_append_is_known_though_its_key_has_moved_on(self, store: Store) -> None:
        """What is recorded is answered so, whoever holds its key by now; the rows stay as they are."""
        draft = Story().event(CallProposed(), call_id="c1", event_id="e1")
        first = Append(session_id="s1", drafts=(draft,), calls=(keyed("c1", "k", turn=1),))
        told = store.append(first)
        put(store, keyed("c1", None, turn=1))
        put(store, keyed("c2", "k", turn=2))
        again = store.append(first)
        assert again.repeated
        assert (again.sequences, again.positions) == (told.sequences, told.positions)
        assert store.keyed("acme", "k") == keyed("c2", "k", turn=2)

    def test_a_freed_key_is_free(self, store: Store) -> None:
        """A call that surely never ran frees its key: for a later call, and for one of the same append."""
        put(store, keyed("c1", "k", turn=1))
        put(store, keyed("c1", None, turn=1))
        put(store, keyed("c2", "k", turn=2))
        put(store, keyed("c3", "k", turn=3), keyed("c2", None, turn=2))
        assert store.keyed("acme", "k") == keyed("c3", "k", turn=3)
        put(store, keyed("c3", "k2", turn=3), keyed("c4", "k", turn=4))
        assert store.keyed("acme", "k") == keyed("c4", "k", turn=4)
        assert store.keyed("acme", "k2") == keyed("c3", "k2", turn=3)

    def test_a_call_keeps_its_key(self, store: Store) -> None:
        """A call that has the key already may be written with it again."""
        put(store, keyed("c1", "k"))
        put(store, keyed("c1", "k")._replace(state="succeeded"))
        row = store.keyed("acme", "k")
        assert row is not None
        assert row.state == "succeeded"

    def test_a_place_holds_one_call(self, store: Store) -> None:
        """(session, turn, index, revision) is unique: a second call there is refused, and nothing is recorded."""
        story = Story()
        store.append(Append(session_id="s1", drafts=(story.propose("c1"),), calls=story.rows("c1")))
        with pytest.raises(UsageError):
            store.append(Append(session_id="s1", drafts=(story.propose("c2", turn=1),), calls=story.rows("c2")))
        assert len(everything(store, "s1")) == 1
        both = (story.propose("c3", turn=7), story.propose("c4", turn=7))
        with pytest.raises(UsageError):
            store.append(Append(session_id="s1", drafts=both, calls=story.rows("c3", "c4")))
        store.append(Append(session_id="s1", drafts=(story.propose("c5", turn=1, revision=1),), calls=story.rows("c5")))
        other = Story("s2")
        store.append(Append(session_id="s2", drafts=(other.propose("c6"),), calls=other.rows("c6")))

    @pytest.mark.parametrize(
        "asked",
        [
            {},
            {"session_id": "s1"},
            {"call_id": FULL.call_id},
            {"tool": "send_email"},
            {"states": ("needs-review",)},
            {"states": ("succeeded", "needs-review")},
            {"states": ("awaiting-approval", "needs-review")},
            {"reasons": ("duplicate", "not-started")},
            {"schema_version": 4},
            {"stage": "compat"},
            {"gate": "schema"},
            {"code": "rate_limited"},
            {"error_class": "environment"},
            {"tenant": "acme"},
            {"principal": "ada"},
            {"idempotency_key": "order-17"},
            {"duplicate_of": FULL.duplicate_of},
            {"since": FULL.proposed_at},
            {"until": "2026-01-02T03:04:05.000001Z"},
            {"since": FULL.proposed_at, "until": "2027-01-01T00:00:00.000000Z", "tool": "send_email"},
        ],
    )
    def test_a_filter_finds_what_fits(self, store: Store, asked: dict[str, Any]) -> None:
        """Each condition finds the call that meets it."""
        put(store, FULL)
        assert found(store, **asked) == [FULL.call_id]

    @pytest.mark.parametrize(
        "asked",
        [
            {"session_id": "s2"},
            {"call_id": "c"},
            {"tool": "send_email' OR 1=1 --"},
            {"states": ("succeeded",)},
            {"states": ("awaiting-approval",)},
            {"reasons": ("not-started",)},
            {"schema_version": 5},
            {"stage": "active"},
            {"gate": "lookup"},
            {"code": "RATE_LIMITED"},
            {"error_class": "model"},
            {"tenant": ""},
            {"principal": "Ada"},
            {"idempotency_key": "order"},
            {"duplicate_of": FULL.call_id},
            {"since": "2026-01-02T03:04:05.000001Z"},
            {"until": FULL.proposed_at},
            {"tool": "send_email", "states": ("failed",)},
        ],
    )
    def test_a_filter_leaves_out_the_rest(self, store: Store, asked: dict[str, Any]) -> None:
        """Each condition leaves out a call that misses it; `since` is inclusive, `until` is not."""
        put(store, FULL)
        assert found(store, **asked) == []

    @pytest.mark.parametrize(
        ("part", "hit"),
        [
            (FULL.call_id, True),
            ("0198", True),
            ("0198aaaa-0000", True),
            ("cafe", True),
            ("0000cafe", True),
            ("0000c", True),
            ("0000caf", True),
            ("000ca", False),
            ("afe", False),
            ("0000-7000", False),
            ("%%%%", False),
            ("____", False),
            ("CAFE", False),
            ("", False),
            (FULL.call_id + "x", False),
        ],
    )
    def test_a_part_of_an_id_finds_its_call(self, store: Store, part: str, hit: bool) -> None:  # noqa: FBT001 - a case, not an option
        """A head, a tail, or a beginning of the last 8 finds a call, by 4 or more characters; no wildcards."""
        put(store, FULL)
        assert found(store, call_id_part=part) == ([FULL.call_id] if hit else [])

    def test_a_short_id_is_found_by_itself(self, store: Store) -> None:
        """A whole id finds its call, however short."""
        put(store, FULL._replace(call_id="c1"))
        assert found(store, call_id_part="c1") == ["c1"]
        assert found(store, call_id_part="c") == []

    def test_calls_come_in_pages(self, store: Store) -> None:
        """Pages by the proposal's position hold each call once, whatever happens to the calls meanwhile."""
        story = Story()
        for n in range(7):
            store.append(Append(session_id="s1", drafts=(story.propose(f"c{n}"),), calls=story.rows(f"c{n}")))
        seen, after = [], 0
        while page := store.calls(CallFilter(tool="send_email"), after=after, limit=3):
            seen += [placed.row.call_id for placed in page]
            after = page[-1].position
            if len(seen) == 3:
                store.append(Append(session_id="s1", drafts=story.run("c0"), calls=story.rows("c0")))
        assert seen == [f"c{n}" for n in range(7)]

    def test_states_that_lead_somewhere_are_found(self, store: Store) -> None:
        """Open, waiting and ended calls are told apart by their states."""
        story = Story()
        drafts = [story.propose(name) for name in ("ended", "open", "waiting", "refused")]
        drafts += story.run("ended")
        drafts.append(story.of_call("open", CallValidated(gates=(), validator="v", arguments_digest=DIGEST)))
        drafts.append(story.of_call("open", CallAuthorized(by="policy", arguments_digest=DIGEST)))
        drafts.append(story.of_call("waiting", CallFlagged(reason="not-started")))
        refusal = CallRejected(gate="schema", code="invalid_arguments", error_class="model", message="no")
        drafts.append(story.of_call("refused", refusal))
        rows = story.rows("ended", "open", "waiting", "refused")
        store.append(Append(session_id="s1", drafts=tuple(drafts), calls=rows))
        assert found(store, states=("authorized",)) == ["open"]
        assert found(store, states=("authorized", "needs-review")) == ["open", "waiting"]
        assert found(store, states=("rejected", "succeeded")) == ["ended", "refused"]
        assert found(store, reasons=("not-started",)) == ["waiting"]
