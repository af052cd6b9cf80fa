"""What the comparisons of two cells say: notes, which become findings, and places below that are compared next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ledger.catalog.diff.cells import Cell, Child
from ledger.catalog.diff.examples import Examples
from ledger.catalog.diff.space import Space
from ledger.strictjson import Json

Outcome: TypeAlias = Literal["refused", "ignored", "reinterpreted"]
"""What becomes of old arguments: invalid now, a part of them not read any more, or valid and meaning something else."""
Tries: TypeAlias = Callable[[], Iterator[Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """
    One difference at a value.

    `keywords`: where it stands in the schemas, the first that is there; `name`: under this name there. `tries`: values
    that may show it, at the part `step` of the value if there is one; the outcome says what they are to show. `absent`:
    it shows best where the value is missing.
    """

    code: str
    message: str
    keywords: tuple[str, ...] = ()
    old: Json = None
    new: Json = None
    name: str | None = None
    step: str | int | None = None
    outcome: Outcome | None = None
    tries: Tries | None = None
    absent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A part of the value to compare next; `optional`: it may be missing on both sides."""

    old: Child
    new: Child
    step: str | int
    optional: bool = False


Said: TypeAlias = Iterator[Note | Below]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cells of one kind, with the spaces they come from and examples of the old one."""

    old: Cell
    new: Cell
    here: Space
    there: Space
    examples: Examples
