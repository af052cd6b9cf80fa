"""A model that follows a script, so that the demo needs no network and always tells the same story."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ledger.counting import counted
from ledger.errors import LedgerError

SCRIPT = Path(__file__).with_name("script.json")
"""The script that ships: six decisions, seven calls. A copy of it is the start of one's own."""

_CHARS_PER_TOKEN = 4


class ScriptFault(LedgerError):
    """The script is missing, is not what a script must be, or has no decision left; the message says where."""

    default_code = "script_fault"


@dataclass(frozen=True, slots=True)
class ScriptedModel:
    """
    Decisions in order, each an assistant message of the OpenAI Chat format, and the task they answer.

    It keeps no state: the conversation says how many decisions were made. So it goes on rightly after a crash, in
    another process.
    """

    name: str
    task: str
    decisions: tuple[Mapping[str, Any], ...]

    @classmethod
    def load(cls, path: Path = SCRIPT) -> Self:
        """Read a script file: `{"model": name, "task": text, "decisions": [assistant message, …]}`; or ScriptFault."""
        return cls.of_script(read_script(path), path)

    @classmethod
    def of_script(cls, script: Any, place: Path | str) -> Self:
        """Return the model of a script; ScriptFault names the place and what is wrong there."""
        fault = _fault(script)
        if fault:
            raise ScriptFault(f"{place}#{fault[0]}: {fault[1]}", hint=f"Compare it with {SCRIPT}.")
        return cls(script["model"], script["task"], tuple(script["decisions"]))

    def chat(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
        """
        Return the next decision as a chat completion; ScriptFault when the script has none left.

        The tools change nothing but the token count, a quarter of the characters: a script does not choose.
        """
        turn = sum(message.get("role") == "assistant" for message in messages)
        if turn >= len(self.decisions):
            raise ScriptFault(
                f"the script has {counted(len(self.decisions), 'decision')}, and the conversation holds {turn} already",
                hint="Let the last decision be a message without tool_calls: it is the final answer.",
            )
        decision = deepcopy(dict(self.decisions[turn]))
        reason = "tool_calls" if decision.get("tool_calls") else "stop"
        asked, answered = _tokens([*messages, *tools]), _tokens(decision)
        return {
            "id": f"chatcmpl-scripted-{turn + 1}",
            "object": "chat.completion",
            "model": self.name,
            "choices": [{"index": 0, "message": decision, "finish_reason": reason}],
            "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
        }


def read_script(path: Path) -> Any:
    """Return what a script file holds, unchecked; or ScriptFault."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScriptFault(f"{path}: the script cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ScriptFault(f"{path}: the script is not JSON: {error}") from error


def _tokens(value: object) -> int:
    return len(json.dumps(value)) // _CHARS_PER_TOKEN


def _fault(script: object) -> tuple[str, str] | None:
    """Return pointer and reason of the first fault. Arguments are left alone: a wrong call is a story worth telling."""
    if not isinstance(script, dict):
        return "", "a script is an object"
    for key in ("model", "task"):
        if not isinstance(script.get(key), str):
            return f"/{key}", "must be a text"
    decisions = script.get("decisions")
    if not isinstance(decisions, list) or not decisions:
        return "/decisions", "must be a list of at least one assistant message"
    faults = (_decision_fault(decision, f"/decisions/{index}") for index, decision in enumerate(decisions))
    return next((fault for fault in faults if fault), None)


def _decision_fault(decision: object, pointer: str) -> tuple[str, str] | None:
    if not isinstance(decision, dict) or decision.get("role") != "assistant":
        return pointer, "must be an object with the role assistant"
    calls = [] if decision.get("tool_calls") is None else decision["tool_calls"]
    if not isinstance(calls, list):
        return f"{pointer}/tool_calls", "must be a list"
    if not calls and not isinstance(decision.get("content"), str):
        return f"{pointer}/content", "must be a text where there are no tool_calls"
    for index, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return f"{pointer}/tool_calls/{index}/function/name", "must be a text"
    return None
