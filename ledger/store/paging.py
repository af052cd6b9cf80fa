"""Long answers read a page at a time: the one loop for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")


def paged(page: Callable[[K, int], Sequence[T]], key: Callable[[T], K], after: K, size: int) -> Iterator[T]:
    """
    Yield every row behind `after`: `page` reads up to `size` of them, `key` says where the following page begins.

    A page with fewer rows is the last one; a page is read when its first row is taken.
    """
    while True:
        found = page(after, size)
        yield from found
        if len(found) < size:
            return
        after = key(found[-1])
