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
from ledger.errors import IntegrityFailure, UnknownCall
from ledger.session.handle import Session
from tests.session.agents import opened, recorded


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


def damage(folder: Path, type: str) -> None:
    """Make every event of this type unreadable."""
    with contextlib.closing(sqlite3.connect(folder / "ledger.db")) as file:
        file.execute("drop trigger event_no_update")
        file.execute("update event set record = ? where type = ?", (b"{}x", type))
        file.commit()


@pytest.mark.parametrize("type", ["call.proposed", "call.authorized", "call.started", "call.succeeded"])
def test_nobody_answers_for_a_call_whose_state_cannot_be_read(tmp_path: Path, type: str) -> None:
    """The person is sent to the check, whatever they would do: what is shown is not where it stands."""
    with asking(tmp_path) as ledger:
        call_id = waiting(ledger, "s")
        ledger.approve(call_id, by="ada")
        ledger.session("s").wait(0)
    damage(tmp_path, type)
    acts = (Ledger.find, Ledger.approve, Ledger.deny, partial(Ledger.resolve, verdict="abandon"))
    with asking(tmp_path) as ledger:
        before = recorded(ledger, "s")
        for act in (*acts, partial(Ledger.note, text="Odd.")):
            with pytest.raises(IntegrityFailure, match=f"{call_id} cannot be read, so nobody can say.*ledger db check"):
                act(ledger, call_id)
        with pytest.raises(IntegrityFailure if type != "call.proposed" else UnknownCall):
            ledger.session("s").advance(call_id)
        assert recorded(ledger, "s") == before
        assert [row["state"] for row in ledger.calls()] == ["succeeded"]


def test_a_word_on_a_call_that_is_damaged_and_waits_is_kept(tmp_path: Path) -> None:
    """The queue can be cleared of it; but it never runs, and no conversation can be told."""
    with opened(tmp_path) as ledger:
        ledger.tool("act", effect="write")(lambda: {"done": 1})
        calls = [ledger.session(name).propose("act").call_id for name in ("a", "b")]
        for name, call_id in zip(("a", "b"), calls, strict=True):
            ledger.resume(name)
            assert ledger.find(call_id).state == "needs-review"
            ledger.note(call_id, "Look here.", by="ada")
    damage(tmp_path, "call.noted")
    with opened(tmp_path) as ledger:
        for call_id in calls:
            with pytest.raises(IntegrityFailure, match="it will never run"):
                ledger.resolve(call_id, "run", by="ada")
            assert "no conversation is told" in ledger.resolve(call_id, "abandon", by="ada").next
        assert list(ledger.reviews()) == []


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
