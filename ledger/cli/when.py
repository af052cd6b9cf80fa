"""Times and ages as people type and read them: `7d`, `24h`, `15m`, or ISO 8601; a time without offset is UTC."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import click

_UNITS: Final = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_SIZES: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_AGE: Final = re.compile(r"(?:\d{1,9}[wdhms])+", re.ASCII)
_PIECE: Final = re.compile(r"(\d+)([wdhms])", re.ASCII)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def age(text: str) -> timedelta:
    """Return a length of time: `15m`, `24h`, `7d`, `2w`, or several together (`1h30m`). Raises ValueError."""
    if not _AGE.fullmatch(text):
        raise ValueError(f"{text!r} is not a length of time: write 15m, 24h, 7d or 1h30m")
    try:
        return sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in _PIECE.findall(text)), timedelta())
    except OverflowError:
        raise ValueError(f"{text!r} is too long") from None


def moment(text: str, now: datetime) -> datetime:
    """
    Return the instant, in UTC: an ISO 8601 date or time, or an age counted back from `now`.

    Without an offset it is UTC; a date is its first instant. Raises ValueError.
    """
    try:
        if _AGE.fullmatch(text):
            return now.astimezone(UTC) - age(text)
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is outside of the calendar") from None
    except ValueError:
        raise ValueError(f"{text!r} is not a time: write 7d, 24h, 2026-05-01 or 2026-05-01T12:00:00Z") from None


def span(seconds: float) -> str:
    """Return a length of time as people read it: its two largest units, `2d 3h` or `41s`."""
    left = int(seconds)
    parts: list[tuple[int, str]] = []
    for unit, size in _SIZES.items():
        count, left = divmod(left, size)
        if count or parts or unit == "s":
            parts.append((count, unit))
    return " ".join(f"{count}{unit}" for count, unit in parts[:2] if count or len(parts) == 1)


def instant(stamp: str | None) -> str:
    """Return a recorded time for a table: UTC to the second; `-` for none."""
    return stamp[:19].replace("T", " ") if stamp else "-"


def short_instant(stamp: str | None) -> str:
    """Return a recorded time without its year, for tables that are about one session."""
    return instant(stamp)[-14:]


def moment_option(name: str, help: str) -> Callable[[_Function], _Function]:
    """Return the decorator of an option that gives a datetime in UTC, or None: `--since`, `--until`."""
    return click.option(name, metavar="WHEN", callback=_to_moment, help=help)


def age_option(name: str, help: str) -> Callable[[_Function], _Function]:
    """Return the decorator of an option that gives a timedelta, or None: `--max-age`."""
    return click.option(name, metavar="AGE", callback=_to_age, help=help)


def _to_moment(context: click.Context, option: click.Parameter, value: str | None) -> datetime | None:
    try:
        return None if value is None else moment(value, datetime.now(UTC))
    except ValueError as error:
        raise click.BadParameter(f"{error}.", context, option) from None


def _to_age(context: click.Context, option: click.Parameter, value: str | None) -> timedelta | None:
    try:
        return None if value is None else age(value)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", context, option) from None
