"""Long answers read a page at a time."""

from __future__ import annotations

import pytest

from ledger.store.paging import paged


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 100])
@pytest.mark.parametrize("count", [0, 1, 6, 7])
def test_every_row_comes_once(size: int, count: int) -> None:
    """Whatever the size of a page, each row behind the start comes once, in order, and no page is read twice."""
    rows = list(range(10, 10 + count))
    asked: list[tuple[int, int]] = []

    def page(after: int, most: int) -> list[int]:
        asked.append((after, most))
        return [row for row in rows if row > after][:most]

    assert list(paged(page, lambda row: row, 9, size)) == rows
    assert len(asked) == count // size + 1
    assert len(set(asked)) == len(asked)


def test_a_page_is_read_when_its_first_row_is_taken() -> None:
    """Nobody waits for rows that nobody takes."""
    asked: list[int] = []

    def page(after: int, most: int) -> list[int]:
        asked.append(after)
        return list(range(after + 1, after + 1 + most))

    rows = paged(page, lambda row: row, 0, 2)
    assert asked == []
    assert [next(rows), next(rows)] == [1, 2]
    assert asked == [0]
    assert next(rows) == 3
    assert asked == [0, 2]
