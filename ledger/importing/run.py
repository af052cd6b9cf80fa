"""Imports a transcript: reads it in a stream, gives each session its id, and says what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, TypeAlias

from ledger.errors import LedgerError, UsageError
from ledger.ids import Clock
from ledger.importing.bundles import imported_bundle
from ledger.importing.chunks import chunks_of, pieces_of
from ledger.importing.identity import LONGEST_ID, Naming, named, usable
from ledger.importing.meeting import Meeting
from ledger.importing.plan import About, Plan
from ledger.importing.refusals import OF_THE_STORE
from ledger.importing.report import ImportReport, Problem, SessionReport, Told, state_of
from ledger.importing.sources import AUTO, Source
from ledger.importing.writing import Outbox
from ledger.providers.imported import ImportedSession, Said, Skipped, Turn
from ledger.store.port import Store
from ledger.store.urls import open_store

Stores: TypeAlias = Callable[[], Store]

_BEGIN: Final = 64
"""Messages from whose content an id is made, at most: those up to the first turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """
    What the importer says of all sessions of a file.

    `session_id` is the first one's id (the others get `/1`, `/2` … behind it) instead of that of the file.
    """

    session_id: str | None = None
    principal: str | None = None
    tenant: str | None = None

    def __post_init__(self) -> None:
        """Raise `UsageError` for an id that no session can have."""
        if self.session_id is not None and not usable(self.session_id):
            raise UsageError(
                f"{self.session_id!r} can be no session's id",
                hint=f"1 to {LONGEST_ID} printable characters; none begins with _.",
            )


def import_file(
    file: str | Path | IO[bytes],
    into: Store | str,
    *,
    format: str = AUTO,
    wanted: Wanted | None = None,
    clock: Clock | None = None,
) -> ImportReport:
    """
    Import a transcript, packed with gzip or not, into a store or the ledger at a URL (made where there is none).

    `format`: `openai`, `responses`, `anthropic`, `bedrock`, `gemini`, `claude-code`, `ledger`, or `auto`: by the first
    bytes. Again it adds nothing; a longer state of a transcript adds what is new; one that differs from what is
    recorded is refused in the report, as is what cannot be read. Raises `UsageError` where it is no transcript at all,
    `OSError` for the file, and what the store raises.
    """
    source = Source(chunks_of(Path(file)) if isinstance(file, str | Path) else pieces_of(file), format)
    with opening(into) as stores:
        return ImportReport(format=source.format).take(imported(source, stores, wanted or Wanted(), clock))


@contextmanager
def opening(into: Store | str) -> Iterator[Stores]:
    """Lend a store, or the ledger at a URL, which is opened (and made) when it is first asked for."""
    opened: list[Store] = []

    def stores() -> Store:
        if not isinstance(into, str):
            return into
        if not opened:
            opened.append(open_store(into, create=True))
        return opened[0]

    try:
        yield stores
    finally:
        for store in opened:
            store.close()


def imported(source: Source, stores: Stores, wanted: Wanted, clock: Clock | None = None) -> Iterator[Told]:
    """
    Import what is read, and yield what became of each session and what could not be read, as it goes.

    `stores` is asked for each session's store when it begins. Raises `UsageError` for an id or an owner of a ledger's
    own export, and what `Source.read` and the store raise.
    """
    if source.is_bundle:
        if wanted != Wanted():
            raise UsageError("A ledger's own export keeps its sessions' ids and owners: it is imported as it is.")
        yield from imported_bundle(source.lines, stores, (clock or Clock()).stamp())
        yield from source.damage()
        return
    importing = _Importing(stores, source.format, wanted, clock or Clock())
    for item in source.read():
        match item:
            case Problem():
                yield item
            case ImportedSession():
                yield from importing.close()
                importing.open(item)
            case Said() | Turn():
                importing.take(item)
            case Skipped():  # pragma: no cover - the source hands it out as a problem
                pass
    yield from importing.close()
    yield from importing.finish()


class _Importing:
    """The sessions of a file, one after the other."""

    def __init__(self, stores: Stores, source: str, wanted: Wanted, clock: Clock) -> None:
        self._stores = stores
        self._source = source
        self._wanted = wanted
        self._now = clock.stamp()
        self._naming = Naming()
        self._count = 0
        self._first: tuple[str | None, str] = (None, "")
        self._head: ImportedSession | None = None
        self._begin: list[Said | Turn] = []
        self._one: _One | None = None
        self._ended: list[_One] = []
        self._outbox: Outbox | None = None

    def open(self, head: ImportedSession) -> None:
        """Begin a session."""
        self._head, self._one, self._begin = head, None, []
        self._count += 1
        wanted = self._wanted.session_id
        if wanted is not None:
            self._start(wanted if self._count == 1 else f"{wanted}/{self._count - 1}")
        elif head.id is not None:
            self._start(head.id if usable(head.id) else named(head.id))

    def take(self, item: Said | Turn) -> None:
        """Take in its next message."""
        if self._one is not None:
            self._one.take(item)
            return
        self._begin.append(item)
        if isinstance(item, Turn) or len(self._begin) == _BEGIN:
            self._start(self._naming.name(self._source, self._begin))

    def close(self) -> Iterator[SessionReport]:
        """End the session, if one is begun, and yield what became of those that are committed by now."""
        if self._one is None and self._begin:
            self._start(self._naming.name(self._source, self._begin))
        if self._one is not None:
            self._one.end()
            self._ended.append(self._one)
        self._one, self._begin = None, []
        if self._outbox is None or self._outbox.is_due:
            yield from self.finish()

    def finish(self) -> Iterator[SessionReport]:
        """Commit all that has ended, and yield what became of it."""
        if self._outbox is not None:
            self._outbox.flush()
        ended, self._ended = self._ended, []
        for one in ended:
            yield one.report()

    def _start(self, session_id: str) -> None:
        assert self._head is not None  # noqa: S101 - for the type checker
        if self._count == 1:
            self._first = (self._head.id, session_id)
        parent = self._head.parent
        if parent is not None:
            parent = self._first[1] if parent == self._first[0] else parent
        about = About(principal=self._wanted.principal, tenant=self._wanted.tenant, parent=parent)
        self._one = _One(self._outbox_for(session_id), Plan(session_id, self._head, self._now, about))
        for item in self._begin:
            self._one.take(item)

    def _outbox_for(self, session_id: str) -> Outbox:
        store = self._stores()
        if self._outbox is None or self._outbox.store is not store:
            self._outbox = Outbox(store)
        if self._outbox.holds(session_id):  # twice in one file: the second is compared with the first
            self._outbox.flush()
        return self._outbox


class _One:
    """One session on its way into the store; where it is refused, the rest of it is passed over."""

    def __init__(self, outbox: Outbox, plan: Plan) -> None:
        self._plan = plan
        self._meeting = Meeting(outbox, plan.session_id)
        self._error: LedgerError | None = None
        self._begun = False

    def take(self, item: Said | Turn) -> None:
        """Take in a message."""
        if self._error is None:
            with self._refusing():
                self._open()
                for planned in self._plan.events(item):
                    self._meeting.take(planned)
                self._meeting.writer.settle()

    def _open(self) -> None:
        if not self._begun:
            self._begun = True
            self._meeting.take(self._plan.opening())

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Keep why the session is not taken; what is wrong with the store ends the import."""
        try:
            yield
        except OF_THE_STORE:
            raise
        except LedgerError as error:
            self._error = error

    def end(self) -> None:
        """Take in that it is at its end."""
        if self._error is None:
            with self._refusing():
                self._open()
                self._meeting.end()

    def report(self) -> SessionReport:
        """Say what became of it, once all is committed."""
        plan, meeting = self._plan, self._meeting
        error, added = self._error or meeting.writer.error, meeting.writer.added
        return SessionReport(
            session_id=plan.session_id,
            state=state_of(error, known=meeting.known, added=added),
            added=added,
            turns=plan.turns,
            calls=plan.calls,
            open=plan.open,
            reserialized=plan.reserialized,
            error=error,
        )
