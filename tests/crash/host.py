"""Two hosts with a scripted model: one lets the ledger keep the conversation, one keeps its own transcript."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ledger import Ledger, Session
from tests.crash.world import World, register

SESSION = "s1"
START = [{"role": "user", "content": "Do it."}]

Script = Sequence[Sequence[tuple[str, dict[str, Any]]]]
"""Turn by turn the calls that the model makes; after the last one it gives its final answer."""


def reply(script: Script, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the model says to a conversation: the next turn of its script."""
    turn = sum(1 for message in messages if message["role"] == "assistant")
    if turn >= len(script):
        return {"role": "assistant", "content": "Done."}
    calls = [
        {"id": f"call_{turn}_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(script[turn])
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def converse(world: World, script: Script) -> None:
    """Run the session to its end, or until a person is asked; what it says at last is noted for the checks."""
    with world.open() as ledger:
        register(ledger, world, _names(script))
        with ledger.session(SESSION, principal="ada") as session:
            _until_final(session, script)
            _note(world, session.messages())
            _close(session)


def _names(script: Script) -> set[str]:
    return {name for turn in script for name, _ in turn}


def _until_final(session: Session, script: Script) -> None:
    messages = session.messages(start=START)
    while not session.final:
        results = session.dispatch(reply(script, messages))
        messages += results.messages
        if results.waiting:
            return


def _close(session: Session) -> None:
    if session.final and not session.history.open_calls():
        session.close()


def keep(world: World, script: Script) -> None:
    """Do the same with an own transcript, written before each dispatch: after a crash the same reply is sent again."""
    path = world.folder / "transcript"
    messages = json.loads(path.read_text()) if path.exists() else list(START)
    with world.open() as ledger:
        register(ledger, world, _names(script))
        with ledger.session(SESSION, principal="ada") as session:
            waiting = False
            if messages[-1]["role"] == "assistant":
                waiting = session.dispatch(messages[-1]).waiting
            messages = session.complete(messages)
            while not waiting and not session.final:
                messages.append(reply(script, messages))
                _write(path, messages)
                results = session.dispatch(messages[-1])
                messages += results.messages[1:]
                waiting = results.waiting
            _note(world, messages)
            _close(session)


def answer(world: World, _script: Script = ()) -> None:
    """Say yes to whatever waits and surely never ran; this process has none of the tools."""
    with world.open() as ledger:
        for row in _waiting(ledger):
            if row.state == "awaiting-approval":
                ledger.approve(row.call_id, by="bob")
            elif row.reason == "not-started":
                ledger.resolve(row.call_id, "run", by="bob")


def _waiting(ledger: Ledger) -> list[Any]:
    from ledger.store.port import CallFilter

    found = ledger.reader.calls(CallFilter(states=("awaiting-approval", "needs-review")), limit=100)
    return [placed.row for placed in found]


def _note(world: World, messages: Any) -> None:
    _write(world.folder / "messages.json", messages)


def _write(path: Path, messages: Any) -> None:
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps(messages))
    whole.rename(path)  # a host that cares writes whole files
