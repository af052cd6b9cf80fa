# ruff: noqa: S101, PLR2004 - these are tests
"""Leases: one owner at a time, tokens that only grow, and a stale owner that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import LeaseLost, SessionOwned, WrongSequence
from ledger.store.port import Head, Store, Take
from ledger.testing.contract.building import HandClock, StoreCase, add, everything


def take(owner: str = "me", token: int = 1, *, seconds: float = 30, dead: int | None = None, claims: int = 1) -> Take:
    """Return a take of half a minute."""
    return Take(owner=owner, token=token, seconds=seconds, dead=dead, claims=claims)


def lease(store: Store, session_id: str = "s1") -> tuple[str | None, int, str]:
    """Return a session's owner, token and expiry."""
    head = store.head(session_id)
    assert head is not None
    return head.owner, head.token, head.expires_at


class LeaseContract(StoreCase):
    """Who may work on a session."""

    def test_a_session_begins_without_an_owner(self, store: Store) -> None:
        """An append without a take leaves the lease alone."""
        head = add(store, "s1", "a").head
        assert (head.owner, head.token, head.expires_at) == (None, 0, "")

    def test_a_free_session_is_taken(self, store: Store, time: HandClock) -> None:
        """Taking a free lease names the owner, gives the first token, and ends by the store's clock."""
        appended = add(store, "s1", "a", take=take())
        assert lease(store)[:2] == ("me", 1)
        assert appended.head == store.head("s1")
        assert time.stamp(20) < lease(store)[2] < time.stamp(40)

    def test_an_owner_keeps_others_out(self, store: Store) -> None:
        """While somebody owns a session nobody else can take it; the refusal names owner and end."""
        add(store, "s1", "a", take=take())
        with pytest.raises(SessionOwned) as refusal:
            add(store, "s1", "b", take=take("them", 2))
        assert (refusal.value.session_id, refusal.value.owner, refusal.value.until) == ("s1", "me", lease(store)[2])
        assert len(everything(store, "s1")) == 1
        assert lease(store)[:2] == ("me", 1)

    def test_an_owner_renews_with_its_own_token(self, store: Store, time: HandClock) -> None:
        """Taking again what is one's own prolongs it; the token stays, also after it ended or was given back."""
        add(store, "s1", "a", take=take())
        self.let_pass(store, time, 20)
        before = lease(store)[2]
        add(store, "s1", "b", take=take())
        assert lease(store)[2] > before
        self.let_pass(store, time, 60)
        add(store, "s1", "c", take=take())
        store.release("s1", token=1)
        add(store, "s1", "d", take=take())
        assert lease(store)[:2] == ("me", 1)

    def test_an_ended_lease_is_taken_over(self, store: Store, time: HandClock) -> None:
        """After its end somebody else takes the lease, with the next token; the old owner is then refused."""
        add(store, "s1", "a", take=take())
        self.let_pass(store, time, 31)
        add(store, "s1", "b", take=take("them", 2))
        assert lease(store)[:2] == ("them", 2)
        with pytest.raises(LeaseLost) as refusal:
            add(store, "s1", "late", token=1)
        assert (refusal.value.session_id, refusal.value.token, refusal.value.current) == ("s1", 1, 2)
        with pytest.raises(SessionOwned):
            add(store, "s1", "late", take=take())
        assert len(everything(store, "s1")) == 2

    def test_a_stale_owner_hears_that_first(self, store: Store) -> None:
        """A stale token is refused as such, also where the expected sequence is wrong as well."""
        add(store, "s1", "a", take=take(), release=True)
        add(store, "s1", "b", take=take("them", 2))
        with pytest.raises(LeaseLost):
            add(store, "s1", "c", token=1, expected=1)

    def test_a_lease_that_ended_still_has_its_owner(self, store: Store, time: HandClock) -> None:
        """Until somebody else takes it, an ended lease's token is current: nothing is lost by a pause."""
        add(store, "s1", "a", take=take())
        self.let_pass(store, time, 60)
        assert add(store, "s1", "b", token=1).sequences == (2,)

    def test_a_dead_owner_is_followed_at_once(self, store: Store) -> None:
        """A caller that knows the holder to be gone takes the lease before its end, with the next token."""
        add(store, "s1", "a", take=take())
        add(store, "s1", "b", take=take("them", 2, dead=1))
        assert lease(store)[:2] == ("them", 2)

    def test_another_token_than_the_dead_one_is_alive(self, store: Store) -> None:
        """Somebody who took over from the dead owner meanwhile is not taken for it."""
        add(store, "s1", "a", take=take())
        add(store, "s1", "b", take=take("them", 2, dead=1))
        with pytest.raises(SessionOwned):
            add(store, "s1", "c", take=take("third", 2, dead=1))

    @pytest.mark.parametrize(("owner", "claims"), [("them", 1), ("them", 3), ("me", 2)])
    def test_one_append_tells_several_takes(self, store: Store, owner: str, claims: int) -> None:
        """The token grows by as many, also where the owner of before comes last; any other number is refused."""
        add(store, "s1", "a", take=take(), release=True)
        with pytest.raises(WrongSequence):
            add(store, "s1", "b", take=take(owner, claims, claims=claims))
        add(store, "s1", "b", take=take(owner, 1 + claims, claims=claims))
        assert lease(store)[:2] == (owner, 1 + claims)
        with pytest.raises(SessionOwned):
            add(store, "s1", "c", take=take(owner, 3 + claims, claims=2))
        assert len(everything(store, "s1")) == 2

    @pytest.mark.parametrize("counted_on", [0, 1, 3])
    def test_another_token_than_counted_on_is_refused(self, store: Store, counted_on: int) -> None:
        """Events carry the token their writer counted on: where it gets another one, it reads on first."""
        add(store, "s1", "a", take=take(), release=True)
        with pytest.raises(WrongSequence):
            add(store, "s1", "b", take=take("them", counted_on))
        assert lease(store) == ("me", 1, "")
        assert len(everything(store, "s1")) == 1

    def test_a_lease_is_given_back_with_the_last_append(self, store: Store) -> None:
        """`release` gives the lease back in the append's transaction; the owner stays on record."""
        appended = add(store, "s1", "a", take=take(), release=True)
        assert lease(store) == ("me", 1, "")
        assert appended.head == store.head("s1")
        add(store, "s1", "b", take=take("them", 2))
        assert lease(store)[:2] == ("them", 2)

    def test_a_lease_is_given_back_by_itself(self, store: Store) -> None:
        """`release` frees the session for others; with a stale token, or twice, it does nothing."""
        add(store, "s1", "a", take=take())
        store.release("s1", token=2)
        store.release("nobody", token=1)
        assert lease(store)[2] != ""
        store.release("s1", token=1)
        store.release("s1", token=1)
        assert lease(store) == ("me", 1, "")

    def test_a_lease_is_prolonged(self, store: Store, time: HandClock) -> None:
        """`renew` moves the end while the token is current and not given back, even after the end."""
        add(store, "s1", "a", take=take())
        self.let_pass(store, time, 60)
        assert store.renew("s1", token=1, seconds=30)
        with pytest.raises(SessionOwned):
            add(store, "s1", "b", take=take("them", 2))
        assert not store.renew("s1", token=2, seconds=30)
        assert not store.renew("nobody", token=1, seconds=30)
        store.release("s1", token=1)
        assert not store.renew("s1", token=1, seconds=30)
        assert lease(store) == ("me", 1, "")

    @pytest.mark.parametrize("options", [{}, {"expected": "exists"}, {"expected": 1}])
    def test_anyone_may_write_what_needs_no_token(self, store: Store, options: dict[str, Any]) -> None:
        """Verdicts, notes and late outcomes come without a token, and leave the owner its lease."""
        add(store, "s1", "a", take=take())
        before = lease(store)
        add(store, "s1", "note", **options)
        assert lease(store) == before
        add(store, "s1", "b", token=1)

    def test_a_token_needs_a_lease(self, store: Store) -> None:
        """A token for a session that nobody ever took is stale."""
        with pytest.raises(LeaseLost):
            add(store, "s1", "a", token=1)
        assert store.head("s1") is None

    def test_a_token_beside_a_take_is_the_one_after_it(self, store: Store) -> None:
        """A writer that takes the lease may carry the token it gets."""
        add(store, "s1", "a", take=take(), token=1)
        with pytest.raises(LeaseLost):
            add(store, "s1", "b", take=take(), token=2)

    def test_a_lease_belongs_to_one_session(self, store: Store) -> None:
        """Owning one session says nothing of another."""
        add(store, "s1", "a", take=take())
        add(store, "s2", "a", take=take("them"))
        assert lease(store, "s2")[:2] == ("them", 1)

    def test_the_head_follows_lease_and_events(self, store: Store) -> None:
        """`head` shows sequence, digest and lease as the last append left them."""
        assert store.head("s1") is None
        add(store, "s1", "a", take=take())
        store.release("s1", token=1)
        last = store.read("s1", limit=1)[0]
        assert store.head("s1") == Head(sequence=1, digest=last.digest, owner="me", token=1, expires_at="")
