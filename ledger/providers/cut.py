"""Values that are too long for the model, cut so that what is left is still one valid JSON value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ledger.strictjson import Json, canonical

Unit: TypeAlias = Literal["characters", "items"]
_ELLIPSIS: Final = "…"
_LEAST: Final = 64  # bytes that are left for the place that is cut


@dataclass(frozen=True, slots=True)
class Cut:
    """
    A cut value: `value` is what is left, `path` leads to the one place that was cut.

    Of that place the first `returned` of `total` units are left. The rest is read on from the character `offset` of
    its text (of its JSON, where it is no text).
    """

    value: Json
    path: tuple[str | int, ...]
    unit: Unit
    returned: int
    total: int
    offset: int


def pageable(value: Json) -> str | list[Json]:
    """Return what a place of a result is read by: a text by characters, an array by items, all else as JSON text."""
    return value if isinstance(value, str | list) else canonical(value).decode()


def cut(value: Json, budget: int) -> Cut | None:
    """
    Return the value cut to at most `budget` bytes of canonical JSON, or None where it fits.

    Only one place is cut: the one that makes it long, if there is one (the log in `{"exit": 1, "log": …}`), else the
    whole, whose JSON text is cut then. `budget` is at least 64.
    """
    if size(value) <= budget:
        return None
    path, node, room = _place(value, budget)
    left = _shorten(node, room)
    whole = pageable(node)
    if isinstance(whole, str):
        return Cut(_put(value, path, left), path, "characters", len(left), len(whole), len(left))
    offset = len(canonical(left).decode()) - 1 if left else 0  # before the bracket that closes what is left
    return Cut(_put(value, path, left), path, "items", len(left), len(whole), offset)


def clip(text: str, budget: int) -> str:
    """Return the beginning of a text, in at most `budget` bytes of JSON, marked where it was cut."""
    if size(text) <= budget:
        return text
    return text[: _fitting(text, budget - len(_ELLIPSIS.encode()))] + _ELLIPSIS


def size(value: Json) -> int:
    """Return the bytes of the canonical JSON."""
    return len(canonical(value))


def _place(value: Json, budget: int) -> tuple[tuple[str | int, ...], Json, int]:
    """Follow the largest part down as long as all the rest is small beside it."""
    path: list[str | int] = []
    node, room = value, budget
    while isinstance(node, dict | list) and node:
        parts = node.items() if isinstance(node, dict) else enumerate(node)
        sizes = {key: size(part) for key, part in parts}
        key = max(sizes, key=sizes.__getitem__)
        rest = size(node) - sizes[key]
        if rest > room // 2 or room - rest < _LEAST:
            break
        path.append(key)
        node, room = node[key], room - rest
    return tuple(path), node, room


def _shorten(node: Json, room: int) -> str | list[Json]:
    whole = pageable(node)
    if isinstance(whole, str):
        return whole[: _fitting(whole, room)]
    kept, used = 0, 2
    while (used := used + size(whole[kept]) + 1) <= room:
        kept += 1
    return whole[:kept]


def _fitting(text: str, room: int) -> int:
    """Return how many characters of a text fit (by bisection: escapes make some longer than others)."""
    low, high = 0, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(text[:middle]) <= room else (low, middle - 1)
    return low


def _put(value: Json, path: tuple[str | int, ...], left: Json) -> Json:
    """Return a copy of the value with another one at the path; what is not on the path is shared."""
    if not path:
        return left
    copy: Json = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _put(value[path[0]], path[1:], left)
    return copy
