"""A pattern's tree as a small non-deterministic automaton (Thompson's construction)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, assert_never

from ledger.catalog.patterns.charset import CharSet
from ledger.catalog.patterns.tree import At, Chars, Choice, Node, PatternRefused, Place, Repeat, Sequence

MAX_STATES: Final = 5_000
MAX_WORK: Final = 20_000
MATCH: Final = 0
"""The state that means: matched."""


@dataclass(frozen=True, slots=True)
class State:
    """Takes one of `chars`, or passes at `place`, or (neither) just goes on, to each of `after`."""

    after: tuple[int, ...]
    chars: CharSet | None = None
    place: Place | None = None


@dataclass(slots=True)
class Program:
    """States by number; `MATCH` is the last one of every way."""

    states: list[State] = field(default_factory=lambda: [State(())])
    start: int = MATCH
    work: int = 0

    def add(self, node: Node, after: int) -> int:
        """Add what *node* means before the state *after*; return its first state."""
        self.work += 1
        if len(self.states) > MAX_STATES or self.work > MAX_WORK:
            hint = "Use `minLength` and `maxLength`, or a smaller repeat."
            raise PatternRefused(f"counted repeats make this pattern larger than {MAX_STATES:,} states", hint)
        match node:
            case Chars(chars):
                return self._new(State((after,), chars=chars))
            case At(place):
                return self._new(State((after,), place=place))
            case Sequence(parts):
                for part in reversed(parts):
                    after = self.add(part, after)
                return after
            case Choice(options):
                return self._new(State(tuple(self.add(option, after) for option in options)))
            case Repeat():
                return self._repeat(node, after)
            case _:
                assert_never(node)

    def _new(self, state: State) -> int:
        self.states.append(state)
        return len(self.states) - 1

    def _repeat(self, node: Repeat, after: int) -> int:
        start, copies = after, node.least
        if node.most is None:
            loop = self._new(State(()))
            entry = self.add(node.body, loop)
            self.states[loop] = State((entry, after))
            start, copies = (entry, copies - 1) if copies else (loop, 0)
        else:
            for _ in range(node.most - node.least):
                start = self._new(State((self.add(node.body, start), after)))
        for _ in range(copies):
            start = self.add(node.body, start)
        return start


def compiled(node: Node) -> Program:
    """Return the automaton of *node*; raises PatternRefused if it would be too large."""
    program = Program()
    program.start = program.add(node, MATCH)
    return program
