"""A model that follows a script, in the wire forms of OpenAI Chat and Anthropic: no network, always the same story."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from ledger.demo.model import SCRIPT, ScriptFault, read_script
from ledger.demo.model import ScriptedModel as OpenAIModel
from ledger.providers.formats import get_format
from ledger.strictjson import JsonObject

Ask: TypeAlias = tuple[str, Any]
"""A tool's name and its arguments; a text goes out as it is, so it may be no JSON."""
Decision: TypeAlias = str | Sequence[Ask] | Mapping[str, Any]
"""A text is an answer, a list is calls, an object is an assistant message of OpenAI's or Anthropic's form."""
Form: TypeAlias = Literal["openai", "anthropic"]

__all__ = ["Ask", "Decision", "Form", "ScriptFault", "ScriptedModel"]


@dataclass(frozen=True)  # no slots: they would break super()
class ScriptedModel(OpenAIModel):
    """
    Decisions in order: `chat` gives the next one, as the provider's API would.

    It keeps no state: the conversation says how many decisions were made. So it goes on rightly after a crash, in
    another process.
    """

    blocks: tuple[Sequence[Any] | None, ...] = ()

    @classmethod
    def of(cls, *decisions: Decision, name: str = "scripted", task: str = "") -> Self:
        """Return the model that decides so; ScriptFault for what is no decision."""
        return cls.of_script({"model": name, "task": task, "decisions": list(decisions)}, "the script")

    @classmethod
    def load(cls, path: Path = SCRIPT) -> Self:
        """
        Read a script file: `{"model": name, "task": text, "decisions": [assistant message, …]}`, or the list alone.

        Raises ScriptFault, which names the place in the file.
        """
        script = read_script(path)
        return cls.of_script({"decisions": script} if isinstance(script, list) else script, path)

    @classmethod
    def of_script(cls, script: Any, place: Path | str) -> Self:
        """Return the model of a script whose decisions may be of either form."""
        if not isinstance(script, Mapping) or not isinstance(script.get("decisions"), list):
            return super().of_script(script, place)
        given = script["decisions"]
        messages = [_message(decision, number) for number, decision in enumerate(given)]
        made = super().of_script({"model": "scripted", "task": ""} | dict(script) | {"decisions": messages}, place)
        blocks = tuple(each["content"] if _is_anthropic(each) else None for each in given)
        return cls(made.name, made.task, made.decisions, blocks)

    def chat(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), *, format: Form = "openai"
    ) -> JsonObject:
        """
        Return the next decision as a chat completion, or as Anthropic's message; ScriptFault when there is none left.

        A decision that was given in that very form goes out as it is.
        """
        completion = super().chat(messages, tools)
        if format == "openai":
            return completion
        turn = sum(message.get("role") == "assistant" for message in messages)
        decision, usage = completion["choices"][0]["message"], completion["usage"]
        content = self.blocks[turn]
        return {
            "id": f"msg_scripted_{turn + 1}",
            "type": "message",
            "role": "assistant",
            "model": self.name,
            "content": _blocks(decision) if content is None else deepcopy(list(content)),
            "stop_reason": "tool_use" if decision.get("tool_calls") else "end_turn",
            "usage": {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]},
        }


def _is_anthropic(decision: Any) -> bool:
    return isinstance(decision, Mapping) and isinstance(decision.get("content"), list)


def _is_ask(given: Any) -> bool:
    return isinstance(given, list | tuple) and len(given) == len(("name", "arguments"))


def _message(decision: Any, number: int) -> Any:
    """Return a decision as OpenAI's assistant message; what is none is left as it is, for the script's own check."""
    if isinstance(decision, str):
        return {"role": "assistant", "content": decision}
    if _is_anthropic(decision):
        read = get_format("anthropic").parse({"stop_reason": "end_turn"} | dict(decision))
        asked = [_call(call.name, call.arguments, call.provider_call_id or "") for call in read.calls]
        return {"role": "assistant", "content": read.text} | ({"tool_calls": asked} if asked else {})
    if isinstance(decision, list | tuple) and all(map(_is_ask, decision)):
        calls = [_call(name, given, f"call_{number + 1}_{index}") for index, (name, given) in enumerate(decision)]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    return decision


def _call(name: Any, arguments: Any, call_id: str) -> JsonObject:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def _blocks(decision: JsonObject) -> list[JsonObject]:
    """Return OpenAI's message as Anthropic's blocks; arguments that are no JSON stay a text, which no tool takes."""
    text = [{"type": "text", "text": decision["content"]}] if decision.get("content") else []
    calls = decision.get("tool_calls") or []
    asked = [
        {"type": "tool_use", "id": call.get("id"), "name": call["function"]["name"], "input": _input(call["function"])}
        for call in calls
    ]
    return [*text, *asked]


def _input(function: JsonObject) -> Any:
    try:
        return json.loads(function.get("arguments") or "{}")
    except ValueError:
        return function["arguments"]
