"""The fixtures that pytest finds where this package is installed: a ledger, a model, crashes, effects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# The ledger itself is imported where it is used: whoever runs other tests does not wait for it.


@pytest.fixture
def tool_ledger(tmp_path: Path) -> Iterator[Any]:
    """Give a fresh ledger on a real SQLite file, `ledger.db` in the test's folder."""
    with _open(tmp_path) as ledger:
        yield ledger


@pytest.fixture
def crash(tool_ledger: Any, tmp_path: Path) -> Iterator[Any]:
    """Crash `tool_ledger` in a block, `with crash.after("call.started"): …`; `crash.reopen()` is the next process."""
    from ledger.testing.simulated import Crash

    opened: list[Any] = []

    def again() -> Any:
        opened.append(_open(tmp_path))
        return opened[-1]

    yield Crash(tool_ledger, again)
    for ledger in opened:
        ledger.close()


@pytest.fixture
def scripted_model() -> Callable[..., Any]:
    """Make a model that follows a script: `scripted_model([("refund", {"order": 17})], "Done.")`, or a file's path."""
    from ledger.testing.model import ScriptedModel

    def made(*decisions: Any, **about: Any) -> ScriptedModel:
        if len(decisions) == 1 and isinstance(decisions[0], Path):
            return ScriptedModel.load(decisions[0])
        return ScriptedModel.of(*decisions, **about)

    return made


@pytest.fixture
def assert_no_second_effect(tmp_path: Path) -> Callable[..., Any]:
    """
    Crash a program at each of its appends, start it again, and fail where anything happened twice.

    `program(ledger, effects)` registers its tools and works; where a tool would do something, it says
    `effects.add("refund 17")`. With `kill=True` a forked child is killed instead of a simulation. Returns the `Outcome`
    of each crash.
    """
    from ledger.testing.effects import no_second_effect

    def assert_it(program: Callable[..., Any], *, kill: bool = False) -> Any:
        return no_second_effect(program, tmp_path / "crashes", kill=kill)

    return assert_it


def _open(folder: Path) -> Any:
    from ledger.testing.empty import open_fresh

    return open_fresh(folder)
