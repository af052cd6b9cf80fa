"""`python -m examples.roundtrip`: a long log read by pages, tools found on demand, a plan that is checked."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples.roundtrip.plan import PLAN, is_sound
from examples.roundtrip.tools import LOOKING, open_ledger
from examples.scripted import Format, Messages, Script, Turn, answers
from ledger import Session
from ledger.demo.workspace import Workspace

TASK = "Why did the server stop? Look into server.log, and clean up."
SOUGHT = "FATAL"


def write_log(workspace: Workspace) -> str:
    """Write a log of about 50 KB, in which one line says what happened; return it."""
    lines = [f"2026-11-29 12:{n // 60:02}:{n % 60:02} INFO request {n} was served\n" for n in range(1100)]
    lines[600] = "2026-11-29 12:10:00 FATAL no space left on device\n"
    text = "".join(lines)
    (workspace.root / "server.log").write_text(text, encoding="utf-8")
    return text


def read_on(messages: Messages) -> Turn:
    """Ask for the next page of the result that was cut."""
    told = answers(messages)
    place = next(answer["pointer"] for answer in told if answer.get("truncated"))
    offset = told[-1]["data"]["nextOffset"] if "nextOffset" in told[-1].get("data", {}) else place["offset"]
    return [(place["tool"], {"pointer": place["pointer"], "offset": offset, "limit": 6000})]


def _step(id: str, kind: str, start: int, end: int, *needs: str) -> dict[str, Any]:
    return {"id": id, "kind": kind, "start": start, "end": end, "needs": list(needs)}


HASTY = {"steps": [_step("look", "read", 0, 1), _step("delete", "write", 1, 2, "look")]}
SOUND = {"steps": [_step("look", "read", 0, 1), _step("ask", "approval", 1, 2), _step("delete", "write", 2, 3, "ask")]}
LOOKS: Sequence[Any] = [
    [("read_file", {"path": "server.log"}), ("read_file", {"path": "error.log"})],
    read_on,
    read_on,
    read_on,
    read_on,
    [("find_tools", {"query": "delete a file"})],
    [("delete_file", {"path": "server.log"})],
]
PLANS = [json.dumps(HASTY), json.dumps(SOUND)]


def look(session: Session, model: Script, messages: list[dict[str, Any]]) -> None:
    """Let the model look for the cause, with the tools of this stage and those that it finds."""
    for _ in LOOKS:
        tools = session.tools(model.format, only=LOOKING)
        results = session.dispatch(model.chat(messages, tools), format=model.format)
        messages += results.messages
        for call in results.calls:
            shown = call.answer
            note = "cut" if shown.get("truncated") else shown.get("code", "")
            line = f"turn {results.turn}   {call.tool:12}{shown['status']:11}{note:15}"
            print(f"{line}{len(tools)} tools offered, about {session.tools_tokens} tokens")


def plan(session: Session, model: Script, messages: list[dict[str, Any]]) -> Any:
    """Ask the model for a plan until it is sound, or until it was told often enough what is wrong with it."""
    while True:
        tools = session.tools(model.format, only=[])  # an answer is wanted, no call
        answer = session.structured(model.chat(messages, tools), PLAN, is_sound, format=model.format)
        messages += answer.messages
        print(f"turn {answer.turn}   the plan is {answer.status}", *(fault.keyword for fault in answer.violations))
        if not answer.again:
            return answer.value


def main(format: Format = "openai") -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        write_log(workspace)
        model = Script([*LOOKS, *PLANS], format)
        with open_ledger(f"sqlite:///{folder}/ledger.db", workspace) as ledger, ledger.session("log") as session:
            messages = session.messages(format, start=[{"role": "user", "content": TASK}])
            look(session, model, messages)
            print(f"the plan has {len(plan(session, model, messages)['steps'])} steps")
            [cut] = [call for call in session.history.calls.values() if call.truncated_for_model]
            print(
                f"the ledger kept all {cut.size} bytes of the log, {SOUGHT} among them: {SOUGHT in cut.result['text']}"
            )


if __name__ == "__main__":
    main()
