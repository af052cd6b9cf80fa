"""Times and ages as people type and read them: `7d`, `24h`, `15m`, or ISO 8601; a time without offset is UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import click

from ledger.ids import age, moment

_SIZES: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_Function = TypeVar("_Function", bound=Callable[..., Any])


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
