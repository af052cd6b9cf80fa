"""
Refuses patterns that make a backtracking engine's time explode (`(a+)+$`).

Here every pattern runs in linear time, but the same schema is read by other engines: providers, editors, other hosts.
A loop is refused when one text can be split over its rounds in more than one way, for then a backtracking engine
tries them all: exponential ambiguity (Weideman et al., "Analyzing matching time behavior of backtracking regular
expression matchers by using ambiguity of NFA", 2016).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, assert_never

from ledger.catalog.patterns.program import MATCH, Program, State, compiled
from ledger.catalog.patterns.tree import At, Chars, Choice, Node, PatternRefused, Repeat, Sequence

FEW: Final = 8
"""A counted repeat up to this is looked at as its copies; a larger one as a loop."""
MAX_PLACES: Final = 200

_HINT: Final = (
    "Make each round start with a character that cannot continue the round before it, as in `^[a-z]+(-[a-z]+)*$`."
)


def refuse_ambiguous_loops(node: Node) -> None:
    """Raise PatternRefused if a loop in *node* can read one text in several ways."""
    for loop in _loops(node):
        _check(loop)


def is_loop(node: Node) -> bool:
    """Whether *node* repeats something often enough to multiply its cost."""
    return isinstance(node, Repeat) and (node.most is None or node.most > FEW)


def _loops(node: Node) -> Iterator[Repeat]:
    """Yield the outermost loops; their inner ones are part of them."""
    if isinstance(node, Repeat) and (is_loop(node) or (node.most != 1 and _nullable(node) and _has_loop(node))):
        yield node
    else:
        for child in _children(node):
            yield from _loops(child)


def _children(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence(parts):
            return parts
        case Choice(options):
            return options
        case Repeat(body):
            return (body,)
        case Chars() | At():
            return ()
        case _:
            assert_never(node)


def _has_loop(node: Node) -> bool:
    return is_loop(node) or any(_has_loop(child) for child in _children(node))


def _nullable(node: Node) -> bool:
    match node:
        case Chars():
            return False
        case At():
            return True
        case Sequence(parts):
            return all(_nullable(part) for part in parts)
        case Choice(options):
            return any(_nullable(option) for option in options)
        case Repeat(body, least):
            return least == 0 or _nullable(body)
        case _:
            assert_never(node)


def _check(loop: Repeat) -> None:
    body = _few(loop.body)
    if _nullable(body):
        hint = "Let the repeated part take at least one character: `(a|b)*` instead of `(a*|b)*`."
        raise PatternRefused("a loop repeats something that may be empty", hint)
    program = compiled(Repeat(body, 0, None))
    places = [number for number, state in enumerate(program.states) if state.chars is not None]
    if len(places) > MAX_PLACES:
        raise PatternRefused(f"a loop has more than {MAX_PLACES} places", "Repeat something smaller.")
    follow = {place: _follow(program, place) for place in places}
    if any(ways > 1 for after in follow.values() for ways in after.values()):
        raise PatternRefused("a loop can read one text in several ways", _HINT)
    _check_pairs(program.states, {place: frozenset(after) for place, after in follow.items()})


def _few(node: Node) -> Node:
    """Return *node* with every large counted repeat as a loop without end: coarser, never less ambiguous."""
    match node:
        case Sequence(parts):
            return Sequence(tuple(_few(part) for part in parts))
        case Choice(options):
            return Choice(tuple(_few(option) for option in options))
        case Repeat(body, least, most):
            return Repeat(_few(body), min(least, 1), None) if is_loop(node) else Repeat(_few(body), least, most)
        case Chars() | At():
            return node
        case _:
            assert_never(node)


def _follow(program: Program, place: int) -> Counter[int]:
    """Count the ways from *place* to each next place. Ways without a character never go in circles (see _nullable)."""
    ways: Counter[int] = Counter()
    waiting = list(program.states[place].after)
    while waiting:
        number = waiting.pop()
        state = program.states[number]
        if state.chars is not None:
            ways[number] += 1
            if ways[number] > 1:
                break
        elif number != MATCH:
            waiting.extend(state.after)
    return ways


def _check_pairs(states: list[State], follow: dict[int, frozenset[int]]) -> None:
    """Walk two readings of one text side by side: parted once and together again means that there are two of them."""
    waiting = [(place, place) for place in follow]
    seen = set(waiting)
    while waiting:
        one, two = waiting.pop()
        if one != two and follow[one] & follow[two]:
            raise PatternRefused("a loop can read one text in several ways", _HINT)
        for pair in _next_pairs(states, follow[one], follow[two]):
            if pair not in seen:
                seen.add(pair)
                waiting.append(pair)


def _next_pairs(states: list[State], ones: frozenset[int], twos: frozenset[int]) -> Iterator[tuple[int, int]]:
    for one in ones:
        for two in twos:
            first, second = states[one].chars, states[two].chars
            if one < two and first and second and first.overlaps(second):
                yield one, two
            elif one > two and first and second and first.overlaps(second):
                yield two, one
