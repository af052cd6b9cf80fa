"""Contents in Gemini's format, for tests."""

from __future__ import annotations

from typing import Any


def text(given: str) -> dict[str, Any]:
    """Return a text part."""
    return {"text": given}


def call(name: Any = "look", args: Any = None, given_id: Any = None, **more: Any) -> dict[str, Any]:
    """Return a call, with an id or without."""
    body = {"name": name, "args": {} if args is None else args}
    return {"functionCall": body if given_id is None else {"id": given_id} | body} | more


def response(name: Any = "look", answer: Any = None, given_id: Any = None) -> dict[str, Any]:
    """Return a response."""
    body = {"name": name, "response": {"output": "seen"} if answer is None else answer}
    return {"functionResponse": body if given_id is None else {"id": given_id} | body}


def said(*parts: Any) -> dict[str, Any]:
    """Return a model's content."""
    return {"role": "model", "parts": list(parts)}


def asked(*parts: Any) -> dict[str, Any]:
    """Return a user's content."""
    return {"role": "user", "parts": list(parts)}


USER = asked(text("Hi"))
