"""The same turn on several back ends, with the same clock and the same ids."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

from ledger import Ledger
from ledger.ids import Clock
from tests.session.agents import asked


class SameOwner:
    """An owner that has one name everywhere."""

    def __str__(self) -> str:
        return "host:boot:ns:1:2:same"


def everywhere(urls: list[str]) -> list[list[tuple[bytes, bytes]]]:
    """Return record and digest of each event, for each back end."""
    return [_recorded(url) for url in urls]


def _recorded(url: str) -> list[tuple[bytes, bytes]]:
    numbers = itertools.count(1)
    clock = Clock(
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        monotonic=lambda: 0.0,
        new_id=lambda: f"00000000-0000-7000-8000-{next(numbers):012d}",
    )
    odd: dict[str, Any] = {"value": "a\x00b \\u0000 日本", "n": 2**70, "f": 1.0}
    with Ledger.open(url, clock=clock, owner=SameOwner()) as ledger:

        @ledger.tool("echo", effect="read", schema={"type": "object"})
        def echo(**arguments: Any) -> Any:
            """Give back what it was given, and a lone surrogate."""
            return [arguments, "\udce9"]

        ledger.session("s", tenant="acme").dispatch(asked(("echo", odd)))
        rows = ledger.reader.read("s", limit=100)
    return [(_timeless(row.record), row.digest if b"durationMs" not in row.record else b"") for row in rows]


def _timeless(record: bytes) -> bytes:
    """Leave out how long the tool took: nothing else differs between two runs."""
    before, mark, rest = record.partition(b'"durationMs":')
    return before + rest.partition(b",")[2] if mark else record
