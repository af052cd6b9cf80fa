"""
What a schema accepts, as a union of cells: each cell is one kind of value under conditions that all hold.

Two spellings of one thing (`type` lists, `anyOf` with null, `const`, `allOf`, references, either draft) give the same
cells, so whoever compares cells need not know spellings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from ledger.strictjson import Json

Kind: TypeAlias = Literal["null", "boolean", "number", "string", "array", "object"]
KINDS: Final[tuple[Kind, ...]] = ("null", "boolean", "number", "string", "array", "object")

Child: TypeAlias = frozenset[str]
"""Schemas, by their pointers, that all look at one value; none: anything goes."""
ANYTHING: Final[Child] = frozenset()


def kind_of(value: Json) -> Kind:
    """Return the kind of a value; 1 and 1.0 are both numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Numbers between bounds, exact; `whole`: integers only (1.0 is one)."""

    whole: bool = False
    low: Fraction | None = None
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False
    multiples: frozenset[Fraction] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Texts of `low` to `high` characters in which each of `patterns` matches; `formats` are those that assert."""

    low: int = 0
    high: int | None = None
    patterns: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Row:
    """What one schema says of items: those of a fixed place, and all behind them (None: anything)."""

    prefix: tuple[str, ...]
    rest: str | None

    def at(self, index: int) -> str | None:
        """Return the schema of one place."""
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """Arrays of `low` to `high` items, each under every row."""

    rows: tuple[Row, ...] = ()
    low: int = 0
    high: int | None = None
    unique: bool = False

    @property
    def length(self) -> int:
        """So many places have a schema of their own."""
        return max((len(row.prefix) for row in self.rows), default=0)

    def at(self, index: int) -> Child:
        """Return what looks at the item of one place."""
        return frozenset(pointer for row in self.rows if (pointer := row.at(index)) is not None)


@dataclass(frozen=True, slots=True)
class Layer:
    """What one schema says of properties; `rest` is that of undeclared ones (None: anything)."""

    fields: Mapping[str, str]
    patterns: tuple[tuple[str, str], ...]
    rest: str | None
    declares: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    """
    Objects of `low` to `high` properties under every layer; `needs`: a property and what has to come with it.

    `names` and `patterns` are all that the layers declare.
    """

    layers: tuple[Layer, ...] = ()
    required: frozenset[str] = frozenset()
    low: int = 0
    high: int | None = None
    needs: frozenset[tuple[str, frozenset[str]]] = frozenset()
    names: frozenset[str] = field(init=False)
    patterns: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        names = frozenset(name for layer in self.layers for name in layer.fields)
        object.__setattr__(self, "names", names)
        patterns = frozenset(pattern for layer in self.layers for pattern, _ in layer.patterns)
        object.__setattr__(self, "patterns", patterns)

    @property
    def declares(self) -> bool:
        """Whether it lists its properties; if not, it is a free map."""
        return any(layer.declares for layer in self.layers)

    def under(self, matching: frozenset[str], name: str | None = None) -> Child:
        """Return what looks at a property that matches just these patterns and has this name, or an undeclared one."""
        found: set[str] = set()
        for layer in self.layers:
            here = [pointer for pattern, pointer in layer.patterns if pattern in matching]
            if name is not None and name in layer.fields:
                found.update(here, [layer.fields[name]])
            elif here:
                found.update(here)
            elif layer.rest is not None:
                found.add(layer.rest)
        return frozenset(found)

    def needed(self, given: frozenset[str] = frozenset()) -> frozenset[str]:
        """Return all that has to be there if *given* is."""
        there = self.required | given
        while more := frozenset(name for if_there, names in self.needs if if_there in there for name in names) - there:
            there |= more
        return there


Body: TypeAlias = Numbers | Texts | Arrays | Objects | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """
    One kind of value.

    `values`: only these (always so for null and booleans). `conditions`: texts of those keywords that are compared by
    their text only. `sources`: pointers of the schemas it comes from, the outermost first.
    """

    kind: Kind
    body: Body
    values: tuple[Json, ...] | None = None
    conditions: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()

    @property
    def numbers(self) -> Numbers:
        """The body of a number."""
        return self.body if isinstance(self.body, Numbers) else Numbers()

    @property
    def texts(self) -> Texts:
        """The body of a string."""
        return self.body if isinstance(self.body, Texts) else Texts()

    @property
    def arrays(self) -> Arrays:
        """The body of an array."""
        return self.body if isinstance(self.body, Arrays) else Arrays()

    @property
    def objects(self) -> Objects:
        """The body of an object."""
        return self.body if isinstance(self.body, Objects) else Objects()


def full(kind: Kind) -> Cell:
    """Return every value of a kind."""
    match kind:
        case "null":
            return Cell(kind=kind, body=None, values=(None,))
        case "boolean":
            return Cell(kind=kind, body=None, values=(False, True))
        case "number":
            return Cell(kind=kind, body=Numbers())
        case "string":
            return Cell(kind=kind, body=Texts())
        case "array":
            return Cell(kind=kind, body=Arrays())
        case _:
            return Cell(kind=kind, body=Objects())
