"""A disk that fails at its n-th step: once, or from then on until somebody repairs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ledger import Ledger
from ledger.calls import WAITING
from ledger.errors import StoreError
from ledger.store.port import Append, CallFilter, Store
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, note
from tests.faults.disk import EIO, FULL, OK, Disk, Kind, Mark
from tests.faults.images import LOSSES, image
from tests.faults.power import OPENED, Run, Telling, problems, rows, scratch, settings
from tests.session.agents import asked

Error: TypeAlias = Literal["EIO", "ENOSPC", "fsync"]
Lasts: TypeAlias = Literal["once", "until repaired"]
Life: TypeAlias = Literal["appends", "calls"]
WAYS: Final[tuple[tuple[Error, Lasts], ...]] = (
    ("EIO", "once"),
    ("EIO", "until repaired"),
    ("ENOSPC", "once"),
    ("ENOSPC", "until repaired"),
    ("fsync", "once"),
    ("fsync", "until repaired"),
)
_FAIL: Final[dict[Error, tuple[Kind, ...]]] = {
    "EIO": ("write", "sync", "truncate", "unlink", "index"),
    "ENOSPC": ("write", "index"),  # what is there can be synced and cut
    "fsync": ("sync",),
}
TINY_LOG: Final = 12 * 4120


@dataclass(slots=True)
class Fault:
    """Fails the n-th step of those that its error can hit; `met` says how often it did."""

    nth: int
    error: Error = "EIO"
    lasts: Lasts = "once"
    count: int = 0
    met: int = 0
    repaired: bool = False

    def __call__(self, kind: Kind) -> int:
        """Answer before a step."""
        if kind not in _FAIL[self.error]:
            return OK
        self.count += 1
        due = self.count == self.nth if self.lasts == "once" else self.count >= self.nth
        if not due or self.repaired:
            return OK
        self.met += 1
        return FULL if self.error == "ENOSPC" and kind == "write" else EIO[kind]


@dataclass(slots=True)
class Living:
    """What a host did on such a disk, and what went wrong."""

    disk: Disk
    fault: Fault
    url: str
    wrong: list[str] = field(default_factory=list)
    failed_at: int | None = None

    def retried(self, work: Callable[[], Any]) -> Any:
        """Do some work; where the ledger cannot write, have the disk repaired and do the same again."""
        try:
            return work()
        except StoreError:
            if not self.fault.met:
                raise
        self.fault.repaired = self.fault.lasts != "once"
        self.failed_at = len(self.disk.steps)
        try:
            return work()
        except StoreError as error:
            self.wrong.append(f"on a sound disk: {error}")
            raise


def appends(life: Living) -> None:
    """Append ten times; an append that failed is asked for again with the same event ids."""
    with suppress(StoreError):  # it is in `wrong` already
        store = life.retried(lambda: open_store(life.url, create=True))
        life.disk.mark((OPENED, ""))
        story = Story("s1")
        for number in range(10):
            size = 6000 if number % 3 else 10
            drafts = tuple(story.event(note("x" * size), event_id=f"e{number}{half}") for half in "ab")
            request = Append(session_id="s1", drafts=drafts)
            life.retried(partial(store.append, request))
            for draft in drafts:
                life.disk.mark(("s1", draft.event.event_id))
        store.close()


def calls(life: Living) -> None:
    """Let a host loop over turns; after an error it hands in the reply that it has once more."""
    effects: Counter[str] = Counter()
    with suppress(StoreError):
        ledger = life.retried(lambda: Ledger.open(life.url))
        life.disk.mark((OPENED, ""))
        told: Telling = ledger.wrap_store(lambda store: Telling(store, life.disk))
        life.retried(lambda: _registered(ledger, life, told, effects))
        with ledger.session("s1", principal="ada") as session:
            life.retried(lambda: session.messages(start=[{"role": "user", "content": "Do it."}]))
            for turn in range(1, 4):
                reply = asked(*[("send", {"number": 10 * turn + number}) for number in range(2)])
                life.retried(partial(session.dispatch, reply, turn=turn))
        ledger.close()
    life.wrong += [f"{number} ran {times} times" for number, times in effects.items() if times > 1]
    life.fault.repaired = True  # whatever it met while it closed
    store = open_store(life.url, create=False)
    found = [placed.row.state for placed in store.calls(CallFilter(), limit=100)]
    store.close()
    if len(found) != 6 or not set(found) <= {"succeeded", *WAITING}:
        life.wrong.append(f"the calls are {found}")


def _registered(ledger: Ledger, life: Living, told: Telling, effects: Counter[str]) -> None:
    def send(number: int, *, context: Any) -> dict[str, Any]:
        """Send."""
        effects[f"{number}"] += 1
        if context.call_id not in told.started:
            life.wrong.append(f"{number} ran before its start was durable")
        return {"sent": "x" * 300 * number}

    ledger.tool("send", effect="external")(send)


LIVES: Final[dict[Life, Callable[[Living], None]]] = {"appends": appends, "calls": calls}


@cache
def made() -> dict[str, bytes]:
    """Return the files of a new ledger."""
    with scratch() as folder:
        open_store(f"sqlite:///{folder}/ledger.db", create=True).close()
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def failed_at(life: Life, nth: int, error: Error, lasts: Lasts) -> tuple[Fault, list[str]]:
    """Let a host live on a disk that fails at its n-th step; return what it met, and what went wrong."""
    fault = Fault(nth, error, lasts)
    with scratch() as folder, settings(log=TINY_LOG):
        if life == "calls":  # what goes wrong while the tables are made is the other life's
            for name, data in made().items():
                (folder / name).write_bytes(data)
        disk = Disk(folder, fail=fault)
        found = Living(disk, fault, f"sqlite:///{folder}/ledger.db")
        with disk.spinning():
            LIVES[life](found)
            fault.repaired = True
        run = Run(disk.steps, _rows(found))
        for number, cut in enumerate(_moments(found, nth)):
            found.wrong += _lost(run, cut, folder / f"image{number}", nth + number)
    return fault, found.wrong


def _rows(life: Living) -> dict[tuple[str, int], Any]:
    store: Store = open_store(life.url, create=False)
    found = rows(store)
    store.close()
    doubled = [event for event, times in Counter((row[0], row[2]) for row in found.values()).items() if times > 1]
    life.wrong += [f"{event} is recorded twice" for event in doubled]
    return found


def _moments(life: Living, nth: int) -> Iterator[int]:
    """
    Yield when to cut the power: as soon as the host was told something after it tried again, and at the end.

    What was acknowledged has to be on the disk by then, not only in the system's memory.
    """
    if life.failed_at is not None:
        told = [at + 1 for at, step in enumerate(life.disk.steps) if isinstance(step, Mark) and at >= life.failed_at]
        yield from told[nth % 4 : nth % 4 + 1]
    yield len(life.disk.steps)


def _lost(run: Run, cut: int, there: Path, dice: int) -> Iterator[str]:
    there.mkdir()
    found = image(run.steps, cut, LOSSES[dice % len(LOSSES)], dice)
    found.write(there)
    yield from problems(run, found, there)


def everywhere(
    life: Life, error: Error, lasts: Lasts, *, first: int = 1, step: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Let every `step`-th step fail, until a life comes to its end without meeting the fault; yield what went wrong."""
    nth = first
    while True:
        fault, wrong = failed_at(life, nth, error, lasts)
        if not fault.met:
            return
        yield nth, wrong
        nth += step
