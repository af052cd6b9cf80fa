"""
The plain appends of a group, written in a few statements for all of them.

Each statement lets the other threads of the process have the interpreter, and then waits until it gets that back: with
32 callers this takes longer than what SQLite does for one of their appends.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from ledger.errors import LedgerError
from ledger.events import ToolVersionPublished
from ledger.store import rules
from ledger.store.port import Append, Appended, Head
from ledger.store.rules import Link
from ledger.store.sqlite import sql
from ledger.store.sqlite.changes import Changes, Torn, proposals
from ledger.store.writing import Answer, Request


def apply_together(changes: Changes, requests: Sequence[Request]) -> list[Answer | LedgerError]:
    """
    Apply the requests of a group: the plain ones at once, then the others one by one.

    Raises `Torn` where one is refused behind what is written already, `sqlite3.Error` where the transaction is lost.
    """
    sessions = Counter(request.session_id for request in requests)
    batch = Batch(changes)
    batch.admit(
        [each for each in requests if sessions[each.session_id] == 1 and isinstance(each, Append) and _plain(each)]
    )
    batch.write()
    done = batch.answers
    return [
        done.get(request.session_id) or changes.apply(request, alone=False)  # a session that is done has one request
        for request in requests
    ]


def _plain(request: Append) -> bool:
    """Return whether an append can be decided on by its session's head alone."""
    return (
        not request.guards
        and all(row.idempotency_key is None for row in request.calls)
        and not any(isinstance(draft.event.body, ToolVersionPublished) for draft in request.drafts)
    )


class _Admitted(NamedTuple):
    request: Append
    links: list[Link]
    head: Head  # after it


class Batch:
    """Appends to different sessions that nothing speaks against, and what they are answered with once written."""

    def __init__(self, changes: Changes) -> None:
        self.answers: dict[str, Appended] = {}
        self._changes = changes
        self._admitted: list[_Admitted] = []

    def admit(self, requests: Sequence[Append]) -> None:
        """Take in those that are not refused; a refused one may have been recorded already, which takes a look."""
        heads = self._changes.heads([request.session_id for request in requests])
        for request in requests:
            row = heads.get(request.session_id)
            try:  # a damaged head is its own session's business
                head = rules.EMPTY if row is None else sql.head_of(row, request.session_id)
                after = rules.admit(request, head, self._changes.now)
            except LedgerError:
                continue
            links = rules.linked(request.drafts, head.sequence, head.digest)
            self._admitted.append(_Admitted(request, links, rules.moved(after, links[-1])))

    def write(self) -> None:
        """Write them. Raises `Torn` where the database refuses one: nobody can tell which."""
        if not self._admitted:
            return
        try:
            self._write_events()
            heads = [sql.head_row(each.request.session_id, each.head) for each in self._admitted]
            self._changes.put(sql.put_heads, heads, sql.MOST_ROWS)
            self._write_calls()
        except (sqlite3.IntegrityError, OverflowError) as error:
            raise Torn from error
        for each in self._admitted:
            self._changes.looked_up.note(each.request, self.answers[each.request.session_id].positions)
        self._changes.made = True

    def _write_events(self) -> None:
        links = [link for each in self._admitted for link in each.links]
        last = self._changes.put(sql.insert_events, list(map(sql.event_row, links)), sql.MOST_ROWS)
        position = last - len(links) + 1
        for request, some, head in self._admitted:
            positions = tuple(range(position, position + len(some)))
            position += len(some)
            sequences = tuple(link.sequence for link in some)
            self.answers[request.session_id] = Appended(sequences=sequences, positions=positions, head=head)

    def _write_calls(self) -> None:
        rows: list[tuple[Any, ...]] = []
        for request, _, _ in self._admitted:
            if request.calls:
                first = proposals(request, self.answers[request.session_id].positions)
                rows += [(first.get(row.call_id), row.call_id, *row) for row in request.calls]
        self._changes.put(sql.put_calls, rows, sql.MOST_CALLS)
