"""What a host hands in, checked where it comes in: only plain texts and numbers go further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import float_info
from typing import Any

from ledger.errors import UsageError
from ledger.providers.formats import get_format
from ledger.providers.port import WireFormat

LONGEST = 1024
"""Characters of a name or a key."""


def text(value: object, what: str) -> str:
    """
    Return a plain text; an Enum of texts becomes the text that it is.

    Raises `UsageError` for anything else: a subclass may write itself in any way, and a record must be JSON.
    """
    if not isinstance(value, str):
        raise UsageError(f"{what} is a text, not {type(value).__name__}")
    if len(value) > LONGEST:
        raise UsageError(f"{what} has {len(value)} characters; {LONGEST} are the most")
    return str.__str__(value)


def optional_text(value: object, what: str) -> str | None:
    """Return a plain text or None. Raises `UsageError`."""
    return None if value is None else text(value, what)


def whole(value: object, what: str) -> int | None:
    """Return a whole number or None. Raises `UsageError`."""
    if value is None or type(value) is int:
        return value
    raise UsageError(f"{what} is a whole number, not {type(value).__name__}")


def seconds(value: object, what: str) -> float | None:
    """Return a number of seconds or None. Raises `UsageError`."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN
        raise UsageError(f"{what} is a number of seconds, not {value!r:.40}")
    return float(max(-float_info.max, min(value, float_info.max)))  # an integer may be larger than any float


def wire(name: object) -> WireFormat:
    """Return the wire format of this name. Raises `UsageError`."""
    return get_format(text(name, "format="))


def messages(value: object, what: str) -> list[Any]:
    """Return a list of messages. Raises `UsageError`."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise UsageError(f"{what} is a list of messages, not {type(value).__name__}")
    return list(value)


def principal_id(principal: Any, what: str = "principal=") -> str | None:
    """Return a principal as events name it. Raises `UsageError` where it is neither a text nor has an id."""
    if principal is None or isinstance(principal, str):
        return optional_text(principal, what)
    found = principal.get("id") if isinstance(principal, Mapping) else getattr(principal, "id", None)
    if isinstance(found, int) and found.bit_length() < 256:  # noqa: PLR2004 - larger than any id, and printed at once
        return str(int(found))
    if not isinstance(found, str):
        raise UsageError(f"{what} is a text, or an object with an id", hint='For example {"id": "u-17"}.')
    return text(found, f"the id of {what}")
