"""The writing half of a store with one writer a process, alike on every back end; and that of one that only reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, cast

from ledger.errors import LedgerError, UsageError
from ledger.store import rules
from ledger.store.group import GroupWriter
from ledger.store.port import Append, Appended

Request: TypeAlias = Append | rules.Renewal | rules.Return
"""What changes one session."""

Answer: TypeAlias = Appended | bool
"""What an append, a renewal or a return is answered with."""


def is_outcome(request: Request) -> bool:
    """Return whether a request waits without a deadline."""
    return isinstance(request, Append) and rules.is_outcome(request)


class Committing(Protocol):
    """The one write connection of a process; used by one thread at a time."""

    @property
    def patience(self) -> float:
        """Seconds that a request waits which is no outcome."""

    def commit(self, requests: Sequence[Request]) -> Sequence[Answer | LedgerError]:
        """Record the requests in one transaction; each gets its answer, or the error to raise."""


class Grouped:
    """Records what many threads ask for, in groups of one transaction each."""

    def __init__(self, writer: Committing) -> None:
        self._committing = writer
        self._group: GroupWriter[Request, Answer] = GroupWriter(writer.commit)

    def append(self, request: Append) -> Appended:
        """Record events; see `Store.append`."""
        rules.check_request(request)
        return cast("Appended", self._submit(request))

    def append_all(self, requests: Sequence[Append]) -> Sequence[Appended | LedgerError]:
        """Record the appends of several sessions in one commit; see `Batching`."""
        for request in requests:
            rules.check_request(request)
        return cast("Sequence[Appended | LedgerError]", self._committing.commit(requests))

    def renew(self, session_id: str, *, token: int, seconds: float) -> bool:
        """Prolong a lease; see `Store.renew`."""
        return bool(self._submit(rules.Renewal(session_id, token, seconds)))

    def release(self, session_id: str, *, token: int) -> None:
        """Give a lease back; see `Store.release`."""
        self._submit(rules.Return(session_id, token))

    def _submit(self, request: Request) -> Answer:
        return self._group.submit(request, patience=None if is_outcome(request) else self._committing.patience)

    def _regroup(self) -> None:
        """Start anew in a forked child: the threads of those who wait are not here."""
        self._group = GroupWriter(self._committing.commit)


class Refusing:
    """Refuses every write of a ledger that was opened for reading."""

    def append(self, request: Append) -> Appended:
        """Refuse."""
        raise read_only(request)

    def renew(self, session_id: str, *, token: int, seconds: float) -> bool:
        """Refuse."""
        raise read_only(session_id, token, seconds)

    def release(self, session_id: str, *, token: int) -> None:
        """Refuse."""
        raise read_only(session_id, token)


def read_only(*_what: object) -> UsageError:
    """Return the refusal of a write."""
    return UsageError("this ledger was opened for reading only")
