"""
Languages of texts: patterns that match, patterns that don't, and a least length; decided on the patterns' automata.

One walk over all patterns at once, breadth first, finds the shortest text, or shows that there is none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from ledger.catalog.diff.cells import Texts
from ledger.catalog.formats import FORMATS
from ledger.catalog.patterns import Automaton, compile_pattern
from ledger.catalog.patterns.automaton import Stop
from ledger.catalog.patterns.charset import LAST, CharSet

MAX_STOPS: Final = 1_500
"""Places of the walk; a pattern of a tool needs tens."""
MAX_STEPS: Final = 30_000
MAX_COST: Final = 300_000
"""States that a pattern may be in, over all steps: counted repeats make them many."""
MAX_LENGTH: Final = 10_000
"""A plain text up to this length is written out as an example."""

_NICE: Final = "aA0b1-_ @./:#"
_SURROGATES: Final = (0xD800, 0xDFFF)

SAMPLES: Final = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "email": "a@example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "time": "12:00:00Z",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
}
"""A text of each format that can assert."""


class Undecided(Exception):
    """Too large to decide, or with Unicode categories, which have no small alphabet."""


def shortest(must: Iterable[str], never: Iterable[str] = (), *, low: int = 0, high: int | None = None) -> str | None:
    """
    Return the shortest text of *low* to *high* characters in which each of *must* matches and none of *never*.

    None: there is none. Raises Undecided. Surrogates do not count: no JSON text here has them.
    """
    required, excluded = [compile_pattern(each) for each in must], [compile_pattern(each) for each in never]
    if not required and not excluded:
        if low > MAX_LENGTH:
            raise Undecided
        return "a" * low if high is None or low <= high else None
    return _walk(required, excluded, low, high)


def _walk(required: list[Automaton], excluded: list[Automaton], low: int, high: int | None) -> str | None:
    automata = [*required, *excluded]
    chars = representatives([each for automaton in automata for each in automaton.alphabet])
    start = tuple(automaton.begin() for automaton in automata)
    waiting = deque([(start, "")])
    seen = {_key(start, 0)}
    steps = cost = 0
    while waiting:
        stops, text = waiting.popleft()
        if len(text) >= low and _accepted(required, excluded, stops):
            return text
        if high is not None and len(text) >= high:
            continue
        for char in chars:
            steps += 1
            cost += sum(len(stop.states) for stop in stops)
            after = tuple(automaton.after(stop, char) for automaton, stop in zip(automata, stops, strict=True))
            key = _key(after, min(len(text) + 1, low))
            if key in seen or _hopeless(after, len(required)):
                continue
            seen.add(key)
            waiting.append((after, text + char))
        if len(seen) > MAX_STOPS or steps > MAX_STEPS or cost > MAX_COST:
            raise Undecided
    return None


def _key(stops: tuple[Stop, ...], length: int) -> object:
    return tuple(stop.key for stop in stops), length


def _accepted(required: list[Automaton], excluded: list[Automaton], stops: tuple[Stop, ...]) -> bool:
    here, there = stops[: len(required)], stops[len(required) :]
    return all(automaton.ends(stop) for automaton, stop in zip(required, here, strict=True)) and not any(
        automaton.ends(stop) for automaton, stop in zip(excluded, there, strict=True)
    )


def _hopeless(stops: tuple[Stop, ...], required: int) -> bool:
    """Whether a required pattern can never match any more, or an excluded one has matched."""
    return any(not stop.states and not stop.found for stop in stops[:required]) or any(
        stop.found for stop in stops[required:]
    )


def representatives(sets: list[CharSet]) -> list[str]:
    """Return one character for each class of those that no set tells apart. Raises Undecided."""
    if any(each.categories for each in sets):
        raise Undecided
    edges = {0, _SURROGATES[0], _SURROGATES[1] + 1}
    for each in sets:
        edges.update(point for low, high in each.ranges for point in (low, high + 1))
    starts = sorted(edge for edge in edges if edge <= LAST)
    found: dict[tuple[bool, ...], str] = {}
    for start, end in zip(starts, [*starts[1:], LAST + 1], strict=True):
        if not _SURROGATES[0] <= start <= _SURROGATES[1]:
            char = next((nice for nice in _NICE if start <= ord(nice) < end), chr(start))
            kind = tuple(char in each for each in sets)
            known = found.get(kind)
            if known is None or (char in _NICE and known not in _NICE):
                found[kind] = char
    return sorted(found.values(), key=lambda char: (_NICE.find(char) % (len(_NICE) + 1), char))


def sample(texts: Texts) -> str | None:
    """Return the shortest text of *texts*, or one that probably is right; None if there is none or none was found."""
    if texts.formats:
        return next((SAMPLES[name] for name in sorted(texts.formats) if name in FORMATS), None)
    try:
        return shortest(texts.patterns, low=texts.low, high=texts.high)
    except Undecided:
        return None


def outside(old: Texts, new: Texts) -> str | None:
    """Return a text of *old* that is none of *new*; None: every one is (formats aside). Raises Undecided."""
    for pattern in sorted(new.patterns - old.patterns):
        found = shortest(old.patterns, [pattern], low=old.low, high=old.high)
        if found is not None:
            return found
    if new.low > old.low:
        found = shortest(old.patterns, low=old.low, high=_least(old.high, new.low - 1))
        if found is not None:
            return found
    if new.high is not None and (old.high is None or old.high > new.high):
        return shortest(old.patterns, low=max(old.low, new.high + 1), high=old.high)
    return None


def _least(one: int | None, two: int) -> int:
    return two if one is None else min(one, two)
