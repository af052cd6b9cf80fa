"""Messages in Anthropic's format, for tests."""

from __future__ import annotations

from typing import Any


def text(given: str) -> dict[str, Any]:
    """Return a text block."""
    return {"type": "text", "text": given}


def use(given_id: Any, name: Any = "look", arguments: Any = None, **more: Any) -> dict[str, Any]:
    """Return a call."""
    return {"type": "tool_use", "id": given_id, "name": name, "input": {} if arguments is None else arguments} | more


def result(given_id: Any, content: Any = "seen", **more: Any) -> dict[str, Any]:
    """Return a result."""
    return {"type": "tool_result", "tool_use_id": given_id, "content": content} | more


def said(*blocks: Any) -> dict[str, Any]:
    """Return an assistant's message."""
    return {"role": "assistant", "content": list(blocks)}


def asked(*blocks: Any) -> dict[str, Any]:
    """Return a user's message."""
    return {"role": "user", "content": list(blocks)}


SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
USER = {"role": "user", "content": "Hi"}
