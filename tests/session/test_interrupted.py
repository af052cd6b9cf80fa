"""Ctrl-C between any two lines of the engine's frame: the session is never locked, and nothing is done twice."""

from __future__ import annotations

import gc
import itertools
import os
from pathlib import Path
from typing import Any

import pytest

from ledger.execution.drive import _next, drive
from ledger.session.core import Core
from ledger.session.intake import take_in
from ledger.session.loop import Loop
from ledger.session.running import Runner
from ledger.session.seat import Seat
from tests.helpers.interrupts import interrupted_at
from tests.session.agents import asked, opened

EVERY = int(os.environ.get("LEDGER_TEST_EVERY", "8"))
"""At every which line; the long run takes each."""

PLACES = {
    "drive": drive,
    "next": _next,
    "entered": Loop.entered,
    "break off": Loop._break_off,
    "turn": Loop.turn,
    "enter": Core.enter,
    "leave": Seat.leave,
    "commit": Core.commit,
    "absorb": Core._absorb,
    "refresh": Core.load,
    "take in": take_in,
    "run": Runner._run,
    "groups": Runner._groups,
    "start": Runner._start,
    "launch": Runner._launch,
    "round": Runner._round,
    "judge": Runner._judge,
}


def offset(place: str) -> int:
    """Begin elsewhere in each place, so that no kind of line is always left out."""
    return list(PLACES).index(place) % EVERY


@pytest.fixture(autouse=True)
def _only_what_is_new_is_looked_at() -> None:
    """Garbage is collected at each line: what other tests have left in this process need not be passed by again."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("place", PLACES)
def test_ctrl_c_at_any_line_leaves_the_session_usable(tmp_path: Path, place: str) -> None:
    """The effect happens at most once; the same handle, or another one, goes on with the session, and so do others."""
    code: Any = PLACES[place].__code__
    effects: list[str] = []
    with opened(tmp_path) as ledger:

        @ledger.tool("send", effect="external")
        def send(to: str) -> str:
            """Send once."""
            effects.append(to)
            return to

        for line in itertools.count(1 + offset(place), EVERY):
            effects.clear()
            session = ledger.session(str(line))
            reply = asked(("send", {"to": "a"}))
            hit = interrupted_at(line, code, lambda s=session, r=reply: s.dispatch(r))  # type: ignore[misc]  # bound now
            gc.collect()
            assert len(effects) <= 1
            again = session.dispatch(reply, turn=1)
            (call,) = again.calls
            assert call.state in ("succeeded", "needs-review", "failed")
            assert len(effects) == (1 if call.state == "succeeded" else len(effects))
            assert (call.state, effects) != ("failed", ["a"])
            assert [m["role"] for m in ledger.session(str(line)).messages()] == ["assistant", "tool"]
            head = ledger.reader.head(str(line))
            assert head is not None
            assert head.expires_at == ""
            if not hit:
                break
