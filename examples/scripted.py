"""A model that follows a script and speaks the wire form of a provider: no network, and the same story each time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Messages: TypeAlias = Sequence[Mapping[str, Any]]
Ask: TypeAlias = tuple[str, Any]
"""A tool's name and its arguments; a text goes out as it is (it may be no JSON)."""
Turn: TypeAlias = str | Sequence[Ask]
"""What the model says: a text is its answer, a list is calls."""
Decide: TypeAlias = Callable[[Messages], Turn]
"""A turn that depends on what the model reads."""
Format: TypeAlias = Literal["openai", "anthropic"]
FORMATS: tuple[Format, ...] = ("openai", "anthropic")


@dataclass(frozen=True, slots=True)
class Script:
    """
    Turns in order, in OpenAI's or Anthropic's form.

    It keeps no state: how far it is, the conversation says. So it goes on rightly after a crash, in another process.
    """

    turns: Sequence[Turn | Decide]
    format: Format = "openai"

    def chat(self, messages: Messages, tools: Messages = ()) -> dict[str, Any]:
        """Return the next reply, as the provider's API would; a script does not look at the tools."""
        del tools
        number = sum(message["role"] == "assistant" for message in messages)
        turn = self.turns[number]
        return reply(self.format, turn(messages) if callable(turn) else turn, number=number)


def reply(format: Format, turn: Turn, *, stop: str | None = None, number: int = 0) -> dict[str, Any]:
    """Return a turn as the provider's API would; `stop` is its reason to stop, if it is another than usual."""
    return _openai(turn, stop, number) if format == "openai" else _anthropic(turn, stop, number)


def answers(messages: Messages) -> list[dict[str, Any]]:
    """Return what the model reads for each call so far, oldest first, in either form."""
    found = []
    for message in messages:
        if message["role"] == "tool":
            found.append(json.loads(message["content"]))
        elif message["role"] == "user" and isinstance(message["content"], list):
            results = [block for block in message["content"] if block["type"] == "tool_result"]
            found += [json.loads(_text(block["content"])) for block in results]
    return found


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _openai(turn: Turn, stop: str | None, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
    if not isinstance(turn, str):
        message["tool_calls"] = [
            {"id": f"call_{number}_{n}", "type": "function", "function": {"name": name, "arguments": _raw(arguments)}}
            for n, (name, arguments) in enumerate(turn)
        ]
    reason = stop or ("stop" if isinstance(turn, str) else "tool_calls")
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": f"chatcmpl-{number}", "object": "chat.completion", "model": "scripted", "choices": [choice]}


def _raw(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _anthropic(turn: Turn, stop: str | None, number: int) -> dict[str, Any]:
    content: list[dict[str, Any]]
    if isinstance(turn, str):
        content = [{"type": "text", "text": turn}]
    else:
        content = [
            {"type": "tool_use", "id": f"toolu_{number}_{n}", "name": name, "input": arguments}
            for n, (name, arguments) in enumerate(turn)
        ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": stop or ("end_turn" if isinstance(turn, str) else "tool_use"),
    }
