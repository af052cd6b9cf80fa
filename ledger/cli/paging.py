"""Pages of a listing: at most so many rows, and where the following page begins."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.cli.rows import Row


class Page:
    """At most `limit` rows; behind the last of them the cursor of the following page, if there is one."""

    def __init__(self, rows: Iterator[Row], limit: int | None, *, key: str = "position") -> None:
        self._rows = rows
        self._limit = limit
        self._key = key
        self._cursor: str | None = None

    def __iter__(self) -> Iterator[Row]:
        last: Row = {}
        for count, row in enumerate(self._rows):
            if count == self._limit:
                self._cursor = str(last[self._key])
                return
            last = row
            yield row

    def cursor(self) -> str | None:
        """Return what to give to `--after` for the rest."""
        return self._cursor
