# ruff: noqa: S101 - these are tests
"""The projection compared with the events it was folded from, and made again."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.calls import CallRow
from ledger.events import CallNoted
from ledger.store.port import Append, CallFilter, EventFilter, Store
from ledger.testing.contract.building import StoreCase, Story


def story_of(store: Store) -> Story:
    """Record three calls, of which two are done."""
    story = Story()
    drafts = [story.propose(name) for name in ("c1", "c2", "c3")]
    drafts += [*story.run("c1"), *story.run("c2")]
    store.append(Append(session_id="s1", drafts=tuple(drafts), calls=story.rows("c1", "c2", "c3")))
    return story


def falsify(store: Store, *rows: CallRow) -> None:
    """Write rows that no events lead to."""
    head = store.head("s1")
    told = Story("s1", told=head.sequence if head else 0)
    store.append(Append(session_id="s1", drafts=(told.event(CallNoted(by="me", text="x")),), calls=rows))


class RebuildContract(StoreCase):
    """`rebuild`: differences found, and put right where asked."""

    def test_an_honest_projection_has_no_differences(self, store: Store) -> None:
        """What appends wrote is what the events say; rebuilding changes nothing."""
        rows = story_of(store).rows("c1", "c2", "c3")
        assert list(store.rebuild(iter(rows), write=False)) == []
        assert list(store.rebuild(iter(rows), write=True)) == []
        assert store.call("c1") == rows[0]

    def test_differences_are_named(self, store: Store) -> None:
        """A changed row, a row without a call and a call without a row are shown, by call id, and nothing changes."""
        good = story_of(store).rows("c1", "c2", "c3")
        bad = good[1]._replace(state="failed", code="wrong")
        extra = good[2]._replace(call_id="zz", turn=99)
        falsify(store, bad, extra)
        missing = good[0]._replace(call_id="a0", turn=98)
        found = store.rebuild(iter([missing, *good]), write=False)
        assert list(found) == [("a0", None, missing), ("c2", bad, good[1]), ("zz", extra, None)]
        assert store.call("c2") == bad

    def test_a_rebuilt_projection_is_what_the_events_say(self, store: Store) -> None:
        """Rebuilding writes what was folded, removes what was not, and keeps the order of proposals."""
        good = story_of(store).rows("c1", "c2", "c3")
        falsify(store, good[1]._replace(state="failed"), good[2]._replace(call_id="zz", turn=99))
        first = store.rebuild(iter(good), write=True)
        assert [call_id for call_id, _, _ in first] == ["c2", "zz"]
        assert list(store.rebuild(iter(good), write=True)) == []
        assert [placed.row for placed in store.calls(CallFilter(), limit=10)] == list(good)
        assert store.call("zz") is None

    def test_keys_and_places_may_change_hands(self, store: Store) -> None:
        """Rows whose keys and places were swapped are put right in one go."""
        good = story_of(store).rows("c1", "c2", "c3")
        one, two = good[0]._replace(idempotency_key="k1"), good[1]._replace(idempotency_key="k2")
        falsify(store, one, two)
        swapped = [one._replace(idempotency_key="k2"), two._replace(idempotency_key="k1"), good[2]]
        store.rebuild(iter(swapped), write=True)
        assert store.keyed("acme", "k1") == swapped[1]
        assert store.keyed("acme", "k2") == swapped[0]

    def test_rows_may_be_folded_while_they_are_compared(self, store: Store) -> None:
        """The caller may read the store for its rows: it sees the state that is compared."""
        rows = {row.call_id: row for row in story_of(store).rows("c1", "c2", "c3")}

        def folded() -> Iterator[CallRow]:
            for event in store.events(EventFilter(types=("call.proposed",)), limit=100):
                yield rows[event.call_id or ""]

        assert list(store.rebuild(folded(), write=False)) == []
        assert list(store.rebuild(folded(), write=True)) == []
