"""Times and ages as people type them: `7d`, `24h`, `15m`, or an ISO 8601 time; a time without offset is UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import click

_UNITS: Final = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_AGE: Final = re.compile(r"(?:\d{1,9}[wdhms])+", re.ASCII)
_PIECE: Final = re.compile(r"(\d+)([wdhms])", re.ASCII)


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


class Moment(click.ParamType[datetime]):
    """The type of `--since` and `--until`: gives a datetime in UTC."""

    name = "when"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the instant, counted from now where an age was given."""
        try:
            return moment(value, datetime.now(UTC))
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


class Age(click.ParamType[timedelta]):
    """The type of `--max-age` and its like: gives a timedelta."""

    name = "age"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the length of time."""
        try:
            return age(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)
