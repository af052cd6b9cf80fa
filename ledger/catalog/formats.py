"""The values of `format` that a catalog may let assert; by itself `format` is only an annotation."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time
from typing import Final

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})")
_EMAIL: Final = re.compile(r"[^\s@]{1,64}@[^\s@]{1,255}")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _is_date(text: str) -> bool:
    if _DATE.fullmatch(text):
        with suppress(ValueError):
            return bool(date.fromisoformat(text))
    return False


def _is_time(text: str) -> bool:
    if _TIME.fullmatch(text):
        with suppress(ValueError):
            return time.fromisoformat(text.upper()) is not None
    return False


def _is_date_time(text: str) -> bool:
    """RFC 3339: `T` (or a space) between date and time, and an offset. A leap second is refused: Python has none."""
    if text[10:11] in ("T", "t", " ") and _is_date(text[:10]) and _is_time(text[11:]):
        with suppress(ValueError, OverflowError):
            return datetime.fromisoformat(text.upper()) is not None
    return False


def _is_address(kind: type[ipaddress.IPv4Address | ipaddress.IPv6Address]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        with suppress(ValueError):
            return bool(kind(text)) and "%" not in text
        return False

    return check


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "ipv4": _is_address(ipaddress.IPv4Address),
    "ipv6": _is_address(ipaddress.IPv6Address),
    "time": _is_time,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
}
"""By name: whether a text has this format. A catalog can let these assert, and no other."""
