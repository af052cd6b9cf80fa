"""The verdicts from Python: each in a sync and an async spelling."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.errors import IntegrityFailure
from ledger.session.handle import Session
from tests.session.agents import opened


def waiting(ledger: Ledger, name: str) -> str:
    """Leave a call that waits for an approval."""
    return ledger.session(name).call("act").call_id


def asking(folder: Path) -> Ledger:
    ledger = opened(folder)
    ledger.tool("act", effect="write")(lambda: {"done": 1})
    ledger.authorize(lambda call, principal: Ask())
    return ledger


TWINS = {
    Ledger: ["approve", "deny", "resolve", "note", "find", "resume", "close"],
    Session: ["messages", "add", "complete", "dispatch", "call", "propose", "advance", "wait", "close", "resume"],
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in TWINS.items() for name in names])
def test_what_writes_or_waits_has_an_async_twin(kind: type[Any], name: str) -> None:
    """No host of an event loop is left without a spelling that does not block it; both take the same options."""
    twin = getattr(kind, {"wait": "await_"}.get(name, f"a{name}"))
    assert inspect.iscoroutinefunction(twin)
    assert inspect.signature(twin).parameters.keys() == inspect.signature(getattr(kind, name)).parameters.keys()


def test_a_call_that_cannot_be_read_is_told_as_damaged(tmp_path: Path) -> None:
    """Its row is there, its proposal is not: the person is sent to the check, whatever they would do."""
    with asking(tmp_path) as ledger:
        call_id = waiting(ledger, "s")
    with contextlib.closing(sqlite3.connect(tmp_path / "ledger.db")) as file:
        file.execute("drop trigger event_no_update")
        file.execute("update event set record = ? where call_id = ? and type = 'call.proposed'", (b"{}x", call_id))
        file.commit()
    acts = (Ledger.find, Ledger.approve, Ledger.deny, partial(Ledger.resolve, verdict="abandon"))
    with asking(tmp_path) as ledger:
        for act in (*acts, partial(Ledger.note, text="Odd.")):
            with pytest.raises(IntegrityFailure, match=f"{call_id}: the event that proposed it cannot be.*db check"):
                act(ledger, call_id)


def test_every_verdict_can_be_awaited(tmp_path: Path) -> None:
    """They record the same, and what was approved runs by the awaited resume."""

    async def run(ledger: Ledger) -> list[str]:
        first, second, third = (waiting(ledger, name) for name in ("a", "b", "c"))
        await ledger.aapprove(first, by="ada")
        await ledger.adeny(second, by="ada")
        await ledger.anote(third, "Later.", by="ada")
        new = (await ledger.aresolve(third, arguments={}, by="ada")).call.call_id
        await ledger.aresume("a")
        async with ledger.asession("c") as session:
            assert [each["action"] for each in (await session.aresume()).decisions] == ["run"]
        found = [(await ledger.afind(call)).state for call in (first, second, third, new)]
        await ledger.aclose()
        return [*found]

    assert asyncio.run(run(asking(tmp_path))) == ["succeeded", "denied", "superseded", "succeeded"]
