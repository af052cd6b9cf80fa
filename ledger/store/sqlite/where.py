"""A SELECT in the making: conditions, their parameters, and what leads to the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from ledger.store.sqlite.sql import marks


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """
    What a look at the side tables told: the tag of few sessions that leads to the rows (name, value), if there is one.

    No row that fits has a position up to `low`, or above `high`.
    """

    tag: tuple[str, str] | None = None
    low: int = 0
    high: int | None = None


NO_HINTS: Final = Hints()


@dataclass(slots=True)
class Where:
    """Conditions joined by AND, with their parameters, over a table; `source` is it and what leads to it."""

    table: str
    source: str = ""
    conditions: list[str] = field(default_factory=list)
    first: list[Any] = field(default_factory=list)
    rest: list[Any] = field(default_factory=list)
    led: bool = False
    order: str = "position"

    @property
    def values(self) -> tuple[Any, ...]:
        """The parameters in the order of their marks."""
        return (*self.first, *self.rest)

    def add(self, condition: str, *values: Any) -> None:
        """Add a condition with its parameters."""
        self.conditions.append(condition)
        self.rest += values

    def lead(self, source: str, *values: Any, order: str = "+position") -> None:
        """Let another source, with its parameters, lead to the rows."""
        self.source, self.led, self.order = source, True, order
        self.first += values

    def equal(self, column: str, value: Any) -> None:
        """Add an equality, where a value is asked for."""
        if value is not None:
            self.add(f"{column} = ?", value)

    def of_tool(self, tool: str | None, carried: tuple[tuple[str, int], ...], *, name: str, version: str) -> None:
        """Add the name of a tool, where one is asked for, and what was `carried` to it; `name`, `version`: columns."""
        if tool is None or not carried:
            self.equal(name, tool)
            return
        self.among(name, tuple(dict.fromkeys((tool, *(old for old, _ in carried)))))  # which an index finds
        pairs = f" OR ({name} = ? AND {version} = ?)" * len(carried)
        self.add(f"({name} = ?{pairs})", tool, *chain.from_iterable(carried))

    def among(self, column: str, values: tuple[str, ...]) -> None:
        """Add a choice, where there is one."""
        if values:
            self.add(f"{column} IN ({marks(len(values))})", *values)

    def within(self, column: str, since: str | None, until: str | None) -> None:
        """Add a half-open range of times."""
        if since is not None:
            self.add(f"{column} >= ?", since)
        if until is not None:
            self.add(f"{column} < ?", until)

    def matching(self, columns: str) -> str:
        """Return the SELECT of all that fits, in any order."""
        where = " AND ".join(self.conditions) or "1"
        return f"SELECT {columns} FROM {self.source or self.table} WHERE {where}"  # noqa: S608 - our names

    def select(self, columns: str) -> str:
        """Return the SELECT of a page; its last parameter is the limit."""
        if self.led and self.table == "event":  # sort positions, not records
            found = f"{self.matching('position')} ORDER BY {self.order} LIMIT ?"
            return f"SELECT {columns} FROM event WHERE position IN ({found}) ORDER BY position"  # noqa: S608 - our names
        return f"{self.matching(columns)} ORDER BY {self.order} LIMIT ?"
