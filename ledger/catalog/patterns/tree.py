"""What a pattern means, as a tree: characters, places, sequences, choices and repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ledger.catalog.patterns.charset import CharSet

Place: TypeAlias = Literal["start", "end", "boundary", "inside"]
"""`^`, `$`, `\\b`, `\\B`: they take no character."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    chars: CharSet


@dataclass(frozen=True, slots=True)
class At:
    """A place in the text."""

    place: Place


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other; none: the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any one of several."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body `least` to `most` times (None: no end). Greedy or lazy makes no difference to *whether* it matches."""

    body: Node
    least: int
    most: int | None


Node: TypeAlias = Chars | At | Sequence | Choice | Repeat


class PatternRefused(ValueError):
    """This pattern is not of the portable linear subset: `message` says why, `hint` what to write, `at` where."""

    def __init__(self, message: str, hint: str, at: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.at = at
