"""Items in the Responses format, for tests."""

from __future__ import annotations

from typing import Any


def call(given_id: Any, arguments: Any = "{}", name: Any = "look", **more: Any) -> dict[str, Any]:
    """Return a function's call."""
    return {"type": "function_call", "call_id": given_id, "name": name, "arguments": arguments} | more


def output(given_id: Any, content: Any = "seen") -> dict[str, Any]:
    """Return what answers a call."""
    return {"type": "function_call_output", "call_id": given_id, "output": content}


def said(text: str) -> dict[str, Any]:
    """Return an assistant's message."""
    return {"role": "assistant", "content": text}


USER = {"role": "user", "content": "Hi"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
SHELL = {"type": "local_shell_call", "call_id": "a", "action": {"command": ["ls"]}}
SHOWN = {"type": "local_shell_call_output", "call_id": "a", "output": "x"}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}
