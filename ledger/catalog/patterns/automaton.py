"""
Runs a pattern in one pass over the text: a deterministic automaton built while it is needed.

Every character is looked at once, and a step costs at most the pattern's size, whatever the pattern: time is linear by
construction, not by luck. (Python's `re` backtracks: `(a+)+$` on 40 characters takes years there.)
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, assert_never

from ledger.catalog.patterns.charset import WORD, CharSet
from ledger.catalog.patterns.program import MATCH, Program
from ledger.catalog.patterns.tree import Place

Side: TypeAlias = Literal["edge", "word", "other"]
"""What stands at one side of a place in the text: nothing, a word character, another character."""

MAX_EDGES: Final = 20_000
"""So many steps are remembered; then all are forgotten and built again."""

MAX_COST: Final = 20_000_000
"""States looked at while new steps are built, in one search: some seconds. Real patterns need thousands at most."""


class PatternTooCostly(RuntimeError):
    """A large counted repeat and a long, varied text: linear, but more work than a gate may do."""


class Stop:
    """Where the search stands between two characters: the states before any place is passed, and what came before."""

    __slots__ = ("at_end", "before", "edges", "found", "states")

    def __init__(self, states: frozenset[int], before: Side, *, found: bool = False) -> None:
        self.states = states
        self.before = before
        self.found = found
        self.edges: dict[str, Stop] = {}
        self.at_end: bool | None = None

    @property
    def key(self) -> tuple[frozenset[int], Side, bool]:
        """What two stops share exactly if they are the same place."""
        return self.states, self.before, self.found


class Automaton:
    """Answers whether a pattern matches anywhere in a text."""

    def __init__(self, program: Program, pattern: str = "") -> None:
        self.pattern = pattern
        self._program = program
        self._bounded = any(state.place in ("boundary", "inside") for state in program.states)
        self._found = Stop(frozenset(), "other", found=True)
        self._forget()
        start = frozenset({program.start})
        # An anchored pattern cannot start again behind the first character.
        sides: tuple[Side, ...] = ("word", "other")
        later = any(self._passed(start, before, after) for before in sides for after in (*sides, "edge"))
        self._restart = start if later else frozenset()

    def search(self, text: str) -> bool:
        """
        Whether the pattern matches somewhere in *text* (JSON Schema's `pattern` is not anchored).

        Raises PatternTooCostly; only a pattern with large counted repeats can.
        """
        stop, cost = self._first, 0
        for char in text:
            following = stop.edges.get(char)
            if following is None:
                cost += len(stop.states)
                if cost > MAX_COST:
                    raise PatternTooCostly
                following = self._step(stop, char)
            if following.found:
                return True
            stop = following
            if not stop.states:
                return False
        if stop.at_end is None:
            stop.at_end = MATCH in self._passed(stop.states, stop.before, "edge")
        return stop.at_end

    def begin(self) -> Stop:
        """Return where a reading starts, for who walks over several patterns at once."""
        return self._first

    def after(self, stop: Stop, char: str) -> Stop:
        """Return where a reading stands behind *char*; once it has matched it stays there."""
        if stop.found or not stop.states:
            return stop
        return stop.edges.get(char) or self._step(stop, char)

    def ends(self, stop: Stop) -> bool:
        """Whether the pattern has matched if the text ends here."""
        return stop.found or MATCH in self._passed(stop.states, stop.before, "edge")

    @property
    def alphabet(self) -> list[CharSet]:
        """The sets of characters that it tells apart."""
        sets = [state.chars for state in self._program.states if state.chars is not None]
        return [*sets, WORD] if self._bounded else sets

    def _forget(self) -> None:
        self._edges = 0
        self._stops: dict[tuple[frozenset[int], Side], Stop] = {}
        self._first = Stop(frozenset({self._program.start}), "edge")

    def _side(self, char: str) -> Side:
        return "word" if self._bounded and char in WORD else "other"

    def _step(self, stop: Stop, char: str) -> Stop:
        """Build the way from *stop* over *char*, and remember it."""
        if self._edges >= MAX_EDGES:
            self._forget()
        self._edges += 1
        side = self._side(char)
        passed = self._passed(stop.states, stop.before, side)
        if MATCH in passed:
            following = self._found
        else:
            states = self._program.states
            taken = {states[n].after[0] for n in passed if (chars := states[n].chars) is not None and char in chars}
            key = (self._restart | taken, side)
            following = self._stops.setdefault(key, Stop(*key))
        stop.edges[char] = following
        return following

    def _passed(self, states: frozenset[int], before: Side, after: Side) -> set[int]:
        """Return what can be reached without a character between *before* and *after*."""
        seen: set[int] = set()
        waiting = list(states)
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            state = self._program.states[number]
            if state.place is not None and not _holds(state.place, before, after):
                continue
            seen.add(number)
            if state.chars is None:
                waiting.extend(state.after)
        return {n for n in seen if n == MATCH or self._program.states[n].chars is not None}


def _holds(place: Place, before: Side, after: Side) -> bool:
    match place:
        case "start":
            return before == "edge"
        case "end":
            return after == "edge"
        case "boundary":
            return (before == "word") != (after == "word")
        case "inside":
            return (before == "word") == (after == "word")
        case _:
            assert_never(place)
