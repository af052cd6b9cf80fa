"""Whether anything happens twice: a program is crashed at each of its appends, and started again."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

from ledger.counting import counted
from ledger.session.ledger import Ledger
from ledger.store.port import Append, Appended, Store
from ledger.testing import crash
from ledger.testing.crash import Point, Watch
from ledger.testing.empty import open_fresh
from ledger.testing.simulated import Crashed, Fuse

CAN_KILL = hasattr(os, "fork")
"""Whether this system can let a forked child be killed; Windows cannot."""


class Effects:
    """
    What happened in the world outside, one label a line in a file: it outlives the process that wrote it.

    A tool adds its effect where it would send, pay or write, under the same label each time that it is the same effect.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, label: object) -> None:
        """Let an effect happen; the label says which, e.g. `refund 17`: no call id, time or attempt in it."""
        line = " ".join(str(label).splitlines())
        with self._file.open("ab") as file:
            file.write(f"{line}\n".encode())

    @property
    def counted(self) -> Counter[str]:
        """How often each effect happened."""
        return Counter(self._file.read_text(encoding="utf-8").splitlines() if self._file.exists() else ())


Program: TypeAlias = Callable[[Ledger, Effects], object]
"""What a process does: registers its tools, and works from where its sessions stand. It is started again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What a crash at a point led to, after a resume: effects by label, and the state of each call in order.

    `events` are the types of the events in the append that it hit.
    """

    point: Point
    events: tuple[str, ...]
    effects: Counter[str]
    states: tuple[str, ...]


def no_second_effect(program: Program, folder: Path, *, kill: bool = False) -> list[Outcome]:
    """
    Crash the program before and after each of its appends, start it again, and return what each crash led to.

    Fails where an effect happened more often than without a crash, so also where its label is another one at each
    start: then nobody could tell a second effect from a first. `kill`: the crash is a forked child's SIGKILL, so no
    `finally` runs; else it is simulated in this process. The program must do the same each time: a scripted model.
    """
    expected, appends = _reference(program, folder / "no crash")
    outcomes = []
    for number, events in enumerate(appends, 1):
        for point in (crash.before(number), crash.after(number)):
            place = folder / f"{point.when} {number}"
            (_killed if kill else _crashed)(program, place, point)
            effects, states = _resumed(program, place, point)
            outcome = Outcome(point, events, effects, states)
            _compare(outcome, expected)
            outcomes.append(outcome)
    return outcomes


class _Listed(Watch):
    """Notes the types of the events in each append."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, (), None, crash.die)
        self.appended: list[tuple[str, ...]] = []

    def append(self, request: Append) -> Appended:
        self.appended.append(tuple(draft.type for draft in request.drafts))
        return super().append(request)


def _reference(program: Program, place: Path) -> tuple[Counter[str], list[tuple[str, ...]]]:
    """Return what the program does without a crash: its effects, and its appends."""
    with open_fresh(place) as ledger:
        effects = Effects(place / "effects")
        listed: _Listed = ledger.wrap_store(_Listed)
        program(ledger, effects)
    if not listed.appended:
        raise AssertionError("the program recorded nothing, so there is nothing to crash at")
    return effects.counted, listed.appended


def _crashed(program: Program, place: Path, point: Point) -> None:
    with open_fresh(place) as ledger:
        fuse: Fuse = ledger.wrap_store(Fuse)
        fuse.set(point)
        try:
            program(ledger, Effects(place / "effects"))
        except Crashed:
            fuse.let_go()
            return
    raise _not_reached(point)


def _killed(program: Program, place: Path, point: Point) -> None:
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads: the child opens all it needs by itself
        pid = os.fork()
    return _buried(pid, place, point) if pid else _child(program, place, point)


def _buried(pid: int, place: Path, point: Point) -> None:
    status = os.waitpid(pid, 0)[1]
    if not os.WIFSIGNALED(status):
        error = place / "error"
        raise AssertionError(error.read_text(encoding="utf-8")) if error.exists() else _not_reached(point)


def _child(program: Program, place: Path, point: Point) -> NoReturn:
    try:
        ledger = open_fresh(place)
        crash.arm(ledger, point)
        program(ledger, Effects(place / "effects"))
    except BaseException:  # noqa: BLE001 - whatever it was, the parent tells it and this process must not go on
        (place / "error").write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        os._exit(1)


def _resumed(program: Program, place: Path, point: Point) -> tuple[Counter[str], tuple[str, ...]]:
    effects = Effects(place / "effects")
    with open_fresh(place) as ledger:
        try:
            program(ledger, effects)
        except Exception as error:
            error.add_note(f"This was the program's second start, after a crash {point.when} append {point.what}.")
            raise
        return effects.counted, tuple(str(row["state"]) for row in ledger.calls())


def _compare(outcome: Outcome, expected: Counter[str]) -> None:
    more = {label: count for label, count in outcome.effects.items() if count > expected[label]}
    if more:
        each = ((label, counted(count, "time"), expected[label]) for label, count in sorted(more.items()))
        told = ", ".join(f"{label!r} {times} (without a crash: {usual})" for label, times, usual in each)
        where = f"{outcome.point.when} append {outcome.point.what} ({', '.join(outcome.events)})"
        raise AssertionError(f"after a crash {where} and a resume there was {told}")


def _not_reached(point: Point) -> AssertionError:
    return AssertionError(f"the program does not do the same each time: {point.when} append {point.what} never came")
