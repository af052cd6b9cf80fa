# ruff: noqa: S101, PLR2004 - these are tests
"""Reading: one session in order, all of them by position, lists of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ledger.events import CallApprovalRequested, CallFlagged, CallProposed, CallValidated, SessionClosed, SessionOpened
from ledger.store.port import Append, EventFilter, SessionRow, Store, Take
from ledger.testing.contract.building import DIGEST, StoreCase, Story, add, ids


class ReadContract(StoreCase):
    """What the read side answers."""

    @pytest.mark.parametrize(
        ("options", "names"),
        [
            ({"limit": 10}, "abcde"),
            ({"limit": 2}, "ab"),
            ({"limit": 2, "after": 2}, "cd"),
            ({"limit": 10, "after": 5}, ""),
            ({"limit": 10, "after": 99}, ""),
            ({"limit": 10, "until": 2}, "ab"),
            ({"limit": 10, "after": 1, "until": 4}, "bcd"),
            ({"limit": 1, "after": 1, "until": 4}, "b"),
            ({"limit": 10, "until": 99}, "abcde"),
            ({"limit": 10, "after": 3, "until": 2}, ""),
        ],
    )
    def test_a_session_is_read_in_parts(self, store: Store, options: dict[str, Any], names: str) -> None:
        """`read` gives the events with `after` < sequence <= `until`, at most `limit`, in order."""
        add(store, "s2", "x")
        add(store, "s1", *"abcde")
        assert ids(store.read("s1", **options)) == list(names)

    def test_an_unknown_session_is_empty(self, store: Store) -> None:
        """A session nobody wrote has no head and no events."""
        assert store.head("s1") is None
        assert list(store.read("s1", limit=10)) == []

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({}, ["o", "p", "v", "x"]),
            ({"session_id": "s1"}, ["o", "p", "v"]),
            ({"session_id": "s2"}, ["x"]),
            ({"call_id": "c1"}, ["p", "v"]),
            ({"types": ("call.proposed",)}, ["p"]),
            ({"types": ("call.proposed", "session.opened")}, ["o", "p", "x"]),
            ({"tool": "send_email"}, ["p", "v"]),
            ({"tool": "send_email' OR '1'='1"}, []),
            ({"tenant": "acme"}, ["o", "p", "v"]),
            ({"tenant": ""}, ["x"]),
            ({"principal": "ada"}, ["o", "p", "v"]),
            ({"principal": "nobody"}, []),
            ({"since": "2026-01-02T00:00:00.000000Z"}, ["p", "v", "x"]),
            ({"until": "2026-01-02T00:00:00.000000Z"}, ["o"]),
            ({"since": "2026-01-02T00:00:00.000000Z", "until": "2026-01-03T00:00:00.000000Z"}, ["p", "v"]),
            ({"tool": "send_email", "types": ("call.validated",), "session_id": "s1"}, ["v"]),
        ],
    )
    def test_events_are_filtered(self, store: Store, asked: dict[str, Any], names: list[str]) -> None:
        """Every condition narrows the events; `since` is inclusive, `until` is not."""
        story = Story(at="2026-01-01T00:00:00.000000Z")
        drafts = [story.event(SessionOpened(), event_id="o")]
        story.at = "2026-01-02T00:00:00.000000Z"
        drafts.append(story.propose("c1", event_id="p"))
        body = CallValidated(gates=(), validator="v", arguments_digest=DIGEST)
        drafts.append(story.of_call("c1", body, event_id="v"))
        store.append(Append(session_id="s1", drafts=tuple(drafts), calls=story.rows("c1")))
        other = Story("s2", at="2026-01-03T00:00:00.000000Z", tenant=None, principal=None)
        store.append(Append(session_id="s2", drafts=(other.event(SessionOpened(), event_id="x"),)))
        assert ids(store.events(EventFilter(**asked), limit=10)) == names

    def test_events_come_in_pages_by_position(self, store: Store) -> None:
        """Pages over all sessions hold every event once, in the order of their positions."""
        for n in range(5):
            add(store, f"s{n % 2}", f"a{n}", f"b{n}")
        seen, after = [], 0
        while page := store.events(EventFilter(), after=after, limit=3):
            assert len(page) <= 3
            seen += ids(page)
            after = page[-1].position
        assert seen == [f"{letter}{n}" for n in range(5) for letter in "ab"]

    def test_a_session_is_summed_up(self, store: Store) -> None:
        """A list shows when a session began and last moved, its calls, and who owns it."""
        story = Story("s1", at="2026-01-01T00:00:00.000000Z")
        drafts = [story.event(SessionOpened()), *(story.propose(name) for name in ("done", "asked", "doubt", "open"))]
        drafts += story.run("done")
        drafts.append(story.of_call("asked", CallValidated(gates=(), validator="v", arguments_digest=DIGEST)))
        drafts.append(story.of_call("asked", CallApprovalRequested(arguments_digest=DIGEST)))
        story.at = "2026-01-02T00:00:00.000000Z"
        drafts.append(story.of_call("doubt", CallFlagged(reason="outcome-unknown")))
        take = Take(owner="me", token=1, seconds=30)
        rows = story.rows("done", "asked", "doubt", "open")
        appended = store.append(Append(session_id="s1", drafts=tuple(drafts), calls=rows, take=take))
        (row,) = store.sessions(limit=10)
        assert row == SessionRow(
            session_id="s1",
            sequence=len(drafts),
            opened_at="2026-01-01T00:00:00.000000Z",
            last_at="2026-01-02T00:00:00.000000Z",
            closed=None,
            calls=4,
            waiting=2,
            open=3,
            owner="me",
            owned_until=appended.head.expires_at,
        )

    def test_a_closed_session_says_why(self, store: Store) -> None:
        """The reason is shown, also where a note or a verdict came after the end."""
        story = Story()
        closing = story.event(SessionClosed(reason="max_turns", turns=1, calls=0))
        store.append(Append(session_id="s1", drafts=(story.event(SessionOpened()), closing)))
        add(store, "s1", "a note")
        (row,) = store.sessions(limit=10)
        assert row.closed == "max_turns"

    def test_sessions_come_in_pages_by_id(self, store: Store) -> None:
        """Sessions are listed by id, each once; the catalog's stream is not among them."""
        names = ["b", "a", "_catalog", "Z", "ä", "z", "a\U0001f600", "10", "9"]
        for name in names:
            add(store, name, "x")
        seen: list[str] = []
        while page := store.sessions(after=seen[-1] if seen else "", limit=2):
            seen += [row.session_id for row in page]
        assert seen == sorted(name for name in names if name != "_catalog")

    def test_unfinished_sessions_are_asked_for_alone(self, store: Store) -> None:
        """Those that are not closed and have a call that has not ended, in pages by id."""
        for name in ("e", "closed", "d", "done", "a", "empty", "c"):
            story = Story(name)
            drafts = [story.event(SessionOpened())]
            if name != "empty":
                drafts += [story.propose(f"{name}-1"), *story.run(f"{name}-1")]
            if name not in ("empty", "done"):
                drafts += [story.propose(f"{name}-2"), story.propose(f"{name}-3")]
            if name == "closed":
                drafts.append(story.event(SessionClosed(reason="aborted", turns=1, calls=3)))
            store.append(Append(session_id=name, drafts=tuple(drafts), calls=story.rows(*story.calls)))
        seen: list[str] = []
        while page := store.sessions(after=seen[-1] if seen else "", limit=2, unfinished=True):
            seen += [row.session_id for row in page]
        assert seen == ["a", "c", "d", "e"]

    def test_a_session_without_calls_has_none(self, store: Store) -> None:
        """Calls are counted for their own session only."""
        story = Story("s2")
        store.append(Append(session_id="s2", drafts=(story.propose("c1", CallProposed()),), calls=story.rows("c1")))
        add(store, "s1", "a")
        rows: Sequence[SessionRow] = store.sessions(limit=10)
        assert [(row.session_id, row.calls, row.open, row.waiting) for row in rows] == [
            ("s1", 0, 0, 0),
            ("s2", 1, 1, 0),
        ]
