"""Finds tools by words, for a model that is offered only some of them: small, and the same answer each time."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from ledger.catalog.definition import ToolVersion

FIND_TOOLS: Final = "find_tools"
"""The name of the built-in tool that a model finds others with."""

_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME, _USE, _WORDS = 8, 3, 2
_KIN: Final = 4
"""Characters from which on a word stands for a longer one that begins with it: `email` for `emails`."""


def find(versions: Sequence[ToolVersion], query: str, limit: int) -> list[ToolVersion]:
    """
    Return at most *limit* tools that a word of *query* fits, the best first.

    A word counts for the best place where a tool has it: its name 8, when to use it 3, title and description 2; half
    where only the beginning is equal. What few tools have counts more: times the number of tools that do not have it,
    and one. A tool whose name is the whole query comes first; equal ones by name.
    """
    asked = _words(query)
    places = {version.tool: _places(version) for version in versions}
    scores: dict[str, int] = {}
    for word in asked:
        points = {name: found for name, words in places.items() if (found := _points(word, words))}
        rarity = len(places) - len(points) + 1
        for name, found in points.items():
            scores[name] = scores.get(name, 0) + found * rarity
    exact = query.strip().casefold()
    fitting = [version for version in versions if version.tool in scores]
    fitting.sort(key=lambda version: (version.tool.casefold() != exact, -scores[version.tool], version.tool))
    return fitting[:limit]


def found_names(result: Any) -> list[str]:
    """Return the names in a recorded result of `find_tools`, whatever it holds (a person may have written it)."""
    listed = result.get("tools") if isinstance(result, Mapping) else None
    entries = listed if isinstance(listed, list) else []
    names = [each.get("name") for each in entries if isinstance(each, Mapping)]
    return [name for name in names if isinstance(name, str)]


def _words(text: str | None) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(_HUMP.sub(" ", text or "")))


def _places(version: ToolVersion) -> list[tuple[int, Collection[str]]]:
    """Return the words of a tool with what they count; what says when not to use it names its neighbours."""
    described = _words(version.description) | _words(version.title)
    return [(_NAME, _words(version.tool)), (_USE, _words(version.use_when)), (_WORDS, described)]


def _points(word: str, places: Sequence[tuple[int, Collection[str]]]) -> int:
    """Return twice what the word counts, so that a half is whole."""
    whole = max((points for points, words in places if word in words), default=0)
    kin = max((points for points, words in places if any(_akin(word, each) for each in words)), default=0)
    return max(2 * whole, kin)


def _akin(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= _KIN and longer.startswith(shorter)
