"""What an SDK or a host hands over, as plain JSON."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Collection, Mapping
from enum import Enum
from math import isfinite
from typing import Any, Final

from ledger.strictjson import Json, JsonObject, canonical

_DEEPEST: Final = 60
_SENT: Final[JsonObject] = {
    "by_alias": True,
    "exclude_unset": True,
    "warnings": False,
}  # what is loosely parsed is no news
_DUMPS: Final[tuple[JsonObject, ...]] = ({"mode": "json"} | _SENT, _SENT, {})


def view(value: object) -> JsonObject | None:
    """
    Return an SDK's object or a mapping as a dict (its own copy at the top level), or None if it is neither.

    Of an SDK's object under the API's own names, what the server sent and nothing else.
    """
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    if isinstance(value, type) or not callable(dump):
        return None
    for options in _DUMPS:
        try:
            dumped = dump(**options)
        except (TypeError, ValueError):  # another library's dump, or what has no JSON form
            continue
        return dict(dumped) if isinstance(dumped, Mapping) else None
    return None


def plain(value: object, depth: int = 0) -> Json:
    """Return a deep copy of anything as JSON: what has no JSON form, and what is nested too deep, becomes text."""
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    if isinstance(value, bytes):
        return b64encode(value).decode()  # as APIs write them
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple) and depth < _DEEPEST:
        return [plain(item, depth + 1) for item in value]
    return repr(value)[:200]


def text_of(content: object) -> str | None:
    """Return the text of a message's content, be it a text or a list of parts; None if there is none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [part.get("text", part.get("refusal")) for part in content if isinstance(part, dict)]
    found = [text for text in texts if isinstance(text, str)]
    return "".join(found) if found else None


def text_from(content: Json) -> str:
    """Return content as a text: parts joined, anything else as JSON, nothing as ''."""
    text = text_of(content)
    if text is not None:
        return text
    return "" if content is None or content == [] else canonical(plain(content)).decode()


def said(content: object) -> str:
    """Return what a result says, to be compared: its text however it is cut into parts, anything else as JSON."""
    given = plain(content)
    text = text_of(given)
    return json.dumps(given, sort_keys=True) if text is None else text


def rest(whole: Mapping[str, Any], known: Collection[str] = ()) -> JsonObject:
    """Return a deep copy of what is beside the known keys, as JSON; nulls are left out."""
    return {str(key): plain(value) for key, value in whole.items() if key not in known and value is not None}


def text_or_none(value: object) -> str | None:
    """Return a text, and None for anything else."""
    return value if isinstance(value, str) else None


def id_or_none(value: object) -> str | None:
    """Return an id, and None for an empty one: some servers send that where they give none."""
    return text_or_none(value) or None


def named(value: object) -> str:
    """Name what was given, without its content."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
