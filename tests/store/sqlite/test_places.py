"""Places under limits leave nothing behind: the table holds little more than what counts."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ledger.events import CallSucceeded
from ledger.store.port import Append
from ledger.store.urls import open_store
from ledger.testing.contract.building import HandClock, Story
from ledger.testing.contract.limits import guard, start, started


def rows(path: Path) -> list[str]:
    """The keys in the table, in order."""
    with sqlite3.connect(path) as connection:
        return [row[0] for row in connection.execute("SELECT limit_key FROM limited_start ORDER BY limit_key")]


@pytest.mark.parametrize("seconds", [60.0, None])
def test_keys_that_nobody_asks_for_again_are_forgotten(tmp_path: Path, seconds: float | None) -> None:
    """Places of many principals that never come back are swept by the starts of others, and no place that counts is."""
    path, time = tmp_path / "ledger.db", HandClock()
    store = open_store(f"sqlite:///{path}", create=True, clock=time.clock())
    story = Story("many")
    names = [f"c{n:02}" for n in range(40)]
    guards = tuple(guard(name, key=name, seconds=seconds) for name in names)
    store.append(
        Append(session_id="many", drafts=started(story, *names), calls=story.rows(*names), guards=guards),
    )
    start(store, "other", guard("other", key="z", seconds=60.0 if seconds is None else None))
    assert rows(path) == [*names, "z"]
    time.move(61)
    ends = tuple(story.of_call(name, CallSucceeded(result=1), attempt=1) for name in names)
    store.append(Append(session_id="many", drafts=ends, calls=story.rows(*names)))
    left = []
    for n in range(3):
        start(store, f"next{n}", guard(f"next{n}", key="zz", most=9, seconds=600.0))
        left.append(len([key for key in rows(path) if key.startswith("c")]))
    assert left == [24, 8, 0]
    assert rows(path) == (["zz"] * 3 if seconds is None else ["z"] + ["zz"] * 3)
    store.close()
