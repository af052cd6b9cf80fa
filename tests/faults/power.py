"""Ledgers written on a disk that remembers, and looked at as they are after the power went."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from ledger import Ledger, LedgerError
from ledger.audit.projection import Folded
from ledger.errors import NoDatabase
from ledger.store.maintenance import check
from ledger.store.port import Append, Appended, EventFilter, Store
from ledger.store.sqlite import files, writer
from ledger.store.urls import open_store
from ledger.testing.contract.building import add
from tests.faults.disk import Disk, Fail, Mark, Step
from tests.faults.images import LOSSES, Image, image
from tests.helpers import memory
from tests.session.agents import asked

SMALL_LOG: Final = 60 * 4120
"""A log that is brought home every few turns: checkpoints and fresh starts are what goes wrong, if anything."""
OPENED: Final = "opened"

Row = tuple[str, int, str, bytes, bytes]
"""Session, sequence, event id, record, digest."""


@dataclass(slots=True)
class Telling:
    """Stands between a ledger and its store; marks on the disk what the host was told."""

    store: Store
    disk: Disk
    started: set[str] = field(default_factory=set)

    def append(self, request: Append) -> Appended:
        """Hand on, and mark each event that was acknowledged."""
        done = self.store.append(request)
        for draft in request.drafts:
            self.disk.mark((request.session_id, draft.event.event_id))
            if draft.type == "call.started":
                self.started.add(draft.event.call_id or "")
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@dataclass(slots=True)
class Run:
    """One life of a ledger: what its disk saw, and every event that there was at the end."""

    steps: list[Step]
    rows: dict[tuple[str, int], Row]
    effects: list[tuple[Any, int]] = field(default_factory=list)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder in memory, gone afterwards."""
    with tempfile.TemporaryDirectory(dir=memory.folder(200_000_000)) as folder:
        yield Path(folder)


@contextmanager
def settings(*, synchronous: str = files.SYNCHRONOUS, log: int = SMALL_LOG) -> Iterator[None]:
    """Let ledgers have a small log, or another level of durability, for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "SYNCHRONOUS", synchronous)
        patch.setattr(writer, "WAL_BYTES", log)
        patch.setattr(writer, "_CHECKPOINT_STEP", log // 4)
        yield


def rows(store: Store) -> dict[tuple[str, int], Row]:
    """Return every event as it is stored."""
    found: dict[tuple[str, int], Row] = {}
    after = 0
    while page := store.events(EventFilter(), after=after, limit=500):
        for event in page:
            place = event.session_id, event.sequence
            found[place] = (*place, event.event_id, bytes(event.record), bytes(event.digest))
        after = page[-1].position
    return found


def lived(folder: Path, seed: int, turns: int, *, fail: Fail | None = None) -> Run:
    """Let a host work in three sessions, with tools that act, and record what its disk sees."""
    chance, disk = random.Random(seed), Disk(folder, fail=fail)
    effects: list[tuple[Any, int]] = []
    with disk.spinning():
        for opening in range(2):  # closed in between: the log is removed, and made anew
            ledger = Ledger.open(f"sqlite:///{folder}/ledger.db")
            disk.mark((OPENED, ""))
            ledger.wrap_store(lambda store: Telling(store, disk))

            @ledger.tool("send", effect="external")
            def send(text: str, *, context: Any) -> dict[str, Any]:
                """Send."""
                effects.append((context.call_id, len(disk.steps)))
                return {"sent": text * chance.choice((1, 40))}

            pinned = chance.random() < 0.5
            with ledger:
                reader: Any = ledger.reader
                sessions = [ledger.session(f"s{number}") for number in range(3)]
                for turn in range(turns):
                    text = "x" * chance.choice((10, 3000, 9000))
                    session = chance.choice(sessions)
                    if pinned and turn == turns // 2:
                        with reader.store._pool.snapshot():  # a long audit: the log cannot start over meanwhile
                            session.call("send", {"text": text})
                            session.call("send", {"text": f"{opening}{turn}"})
                    session.dispatch(asked(*[("send", {"text": f"{text} {turn}"})] * chance.choice((1, 1, 2))))
    store = open_store(f"sqlite:///{folder}/ledger.db", create=False)
    found = rows(store)
    store.close()
    return Run(disk.steps, found, effects)


def problems(run: Run, found: Image, folder: Path) -> Iterator[str]:
    """Open what is left after a power loss, and say what is wrong with it."""
    url = f"sqlite:///{folder}/ledger.db"
    known = set(found.known)
    try:
        store = open_store(url, create=False)
    except NoDatabase:
        if known:
            yield "the ledger is lost"
        return
    except LedgerError as error:
        yield f"the ledger cannot be opened: {error}"
        return
    try:
        yield from _compared(run, store, known)
        if list(store.rebuild(Folded(store).rows(), write=False)) or any(n for _, n in store.reindex(write=False)):
            yield "the projection is corrupt"
        add(store, "after", "again")
    except LedgerError as error:
        yield f"corrupt: {error}"
    finally:
        store.close()
    health = check(url)
    if not health.sound:
        yield f"corrupt: {health.damage} {health.chains.faults} {health.orphans}"


def _compared(run: Run, store: Store, known: set[Any]) -> Iterator[str]:
    there = rows(store)
    for place, row in there.items():
        if place not in run.rows:
            yield f"{place} is invented"
        elif run.rows[place] != row:
            yield f"{place} is corrupt"
    kept = {(session_id, event_id) for session_id, _, event_id, _, _ in there.values()} | {(OPENED, "")}
    yield from (f"{event} is lost" for event in sorted(known - kept))


def losses(run: Run, images: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Cut the power at so many moments; yield each one's name and what is wrong after it."""
    chance = random.Random(seed)
    moments = [number for number, step in enumerate(run.steps) if isinstance(step, Mark)]
    with scratch() as folder:
        for number in range(images):
            # Every second one right after the host was told something: there is most to lose.
            cut = chance.randint(0, len(run.steps)) if number % 2 else chance.choice(moments) + 1
            loss, dice = LOSSES[number % len(LOSSES)], chance.randrange(2**32)
            there = folder / str(number)
            there.mkdir()
            found = image(run.steps, cut, loss, dice)
            found.write(there)
            yield f"cut at {cut}, lost {loss}, dice {dice}", list(problems(run, found, there))
            shutil.rmtree(there)
