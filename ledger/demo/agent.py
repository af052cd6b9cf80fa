"""A small coding agent on the ledger: its tools, its loop, and a trace of what was recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger.calls import WAITING, Call
from ledger.catalog import default_catalog_root
from ledger.demo.model import ScriptedModel
from ledger.demo.tools import TOOL_NAMES, CodingTools, Row, range_is_ordered
from ledger.session.handle import Session
from ledger.session.ledger import Ledger
from ledger.session.results import Results

SESSION = "mini-agent"
INSTRUCTIONS = "You repair a small project. Work with the tools. Answer without a call when you are done."


def nothing(_: Any) -> None:
    """Listen to nobody."""
    return None  # noqa: RET501 - a listener that does nothing is what is meant


@dataclass(frozen=True)  # no slots: they would break super()
class WatchedTools(CodingTools):
    """The same tools; `edited` hears of each file that was changed, when the change is made and not yet reported."""

    edited: Callable[[str], None] = nothing

    def edit_file(self, path: str, old_text: str, new_text: str) -> Row:
        """Replace `old_text`, which must stand in the file exactly once; see CodingTools."""
        changed = super().edit_file(path, old_text, new_text)
        self.edited(changed["path"])
        return changed


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why the loop ended: with the model's `answer`, or because a person is asked about the calls in `waiting`."""

    answer: str | None
    waiting: tuple[Call, ...]


def open_ledger(url: str, tools: CodingTools, *, reconcile: bool = False) -> Ledger:
    """
    Open a ledger with the six tools of one workspace; their schemas and contracts come from the packaged catalog.

    `reconcile`: after a crash `edit_file` looks for itself whether its change is in the file, and nobody is asked.
    """
    ledger = Ledger.open(url, catalog=default_catalog_root())
    for name in TOOL_NAMES:
        looks = {"reconcile": tools.edit_file_happened} if reconcile and name == "edit_file" else {}
        ledger.tool(name, **looks)(getattr(tools, name))
    ledger.check("read_lines")(range_is_ordered)
    return ledger


def run(
    ledger: Ledger, model: ScriptedModel, *, session_id: str = SESSION, told: Callable[[Results], None] = nothing
) -> Stopped:
    """
    Let the model work on its task until it gives an answer, or until a person is asked; then run it again.

    After a crash this same function carries on: the conversation comes from the ledger. `told` hears of each turn.
    """
    with ledger.session(session_id, agent=SESSION, model=model.name) as session:
        messages = session.messages("openai", start=start_of(model))
        while not session.final and not waiting_in(session):
            reply = model.chat(messages, tools=session.tools("openai"))
            results = session.dispatch(reply)
            messages += results.messages
            told(results)
        if session.final:
            session.close()
        return Stopped(session.history.turns[-1].body.text if session.final else None, waiting_in(session))


def start_of(model: ScriptedModel) -> list[dict[str, Any]]:
    """Return the messages with which the conversation starts."""
    return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": model.task}]


def waiting_in(session: Session) -> tuple[Call, ...]:
    """Return the calls of the session about which a person is asked."""
    return tuple(call for call in session.history.open_calls() if call.state in WAITING)


def write_trace(ledger: Ledger, file: Path, session_id: str = SESSION) -> None:
    """Write the session's events as JSON, one a line, in the order of recording."""
    with file.open("w", encoding="utf-8", newline="\n") as lines:
        for event in ledger.events(session=session_id):
            lines.write(json.dumps(event) + "\n")
