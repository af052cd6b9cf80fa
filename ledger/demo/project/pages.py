"""Split a list into pages."""


def page(items: list[int], number: int, size: int) -> list[int]:
    """Return the items of one page; pages count from 1."""
    start = number * size
    return items[start : start + size]
