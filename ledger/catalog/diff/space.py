"""Reads a guarded schema into cells, each schema in it once and only when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Final

from ledger.catalog.diff.cells import (
    KINDS,
    Arrays,
    Body,
    Cell,
    Child,
    Kind,
    Layer,
    Numbers,
    Objects,
    Row,
    Texts,
    full,
    kind_of,
)
from ledger.catalog.diff.meet import decimal, meet, settled
from ledger.catalog.equality import key_of
from ledger.catalog.formats import FORMATS
from ledger.catalog.guard import CAPS, Guarded, guard
from ledger.catalog.patterns import compile_pattern
from ledger.catalog.references import target_of
from ledger.catalog.shape import SIGNIFICANT, shape_at
from ledger.catalog.vocabulary import Dialect
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, canonical, to_pointer

MAX_CELLS: Final = 150
"""Cells of one schema: unions inside unions multiply."""
MAX_WORK: Final = 50_000
"""Cells that are put together for one schema."""
MAX_DEPTH: Final = 100
"""Schemas that look at one value through one another."""

_PLAIN: Final[dict[Kind, Cell]] = {kind: full(kind) for kind in KINDS}
_WHOLE_NODE: Final = ("unevaluatedItems", "unevaluatedProperties")
_ANY_KIND: Final = ("not", "if", "then", "else", "dependentSchemas")
_BY_TEXT: Final[dict[Kind, tuple[str, ...]]] = {
    "array": ("contains",),
    "object": ("propertyNames",),
}
_COMPARED: Final = frozenset({*_ANY_KIND, *_WHOLE_NODE, "contains", "dependencies", "propertyNames"})
"""Keywords that are compared by their text, or may hold what is."""
_NO_CONDITIONS: Final[frozenset[str]] = frozenset()


def read(schema: Json, dialect: Dialect) -> Guarded:
    """
    Return a schema checked, within the largest limits that a catalog may set.

    One that names no draft and is none of *dialect* may be one of the other (`items` with a list is draft-07), or write
    its bounds as draft-04 and OpenAPI 3.0 do. Raises CatalogFault.
    """
    try:
        return guard(schema, limits=CAPS, dialect=dialect)
    except CatalogFault as fault:
        if isinstance(schema, dict) and "$schema" not in schema:
            other: Dialect = "draft-07" if dialect == "2020-12" else "2020-12"
            with suppress(CatalogFault):
                return guard(schema, limits=CAPS, dialect=other)
            with suppress(CatalogFault, RecursionError):
                return guard(modern(schema), limits=CAPS, dialect=dialect)
        raise fault from None


def modern(node: Json) -> Json:
    """Return a schema of draft-04 with its bounds as numbers: `minimum: 0, exclusiveMinimum: true` is one bound."""
    if isinstance(node, list):
        return [modern(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {key: modern(value) for key, value in node.items()}
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(found.get(exclusive), bool) and (bound in found or not found[exclusive]):
            closed = not found.pop(exclusive)
            if not closed:
                found[exclusive] = found.pop(bound)
    return found


class TooComplex(Exception):
    """This schema has too many alternatives to be compared; nothing is known of it."""


class Space:
    """
    A guarded schema as cells.

    *formats* are those that assert, *significant* the annotations that mean something. `cells(child)` and what it
    builds on raise TooComplex.
    """

    def __init__(
        self, guarded: Guarded, formats: frozenset[str] = frozenset(), significant: frozenset[str] = SIGNIFICANT
    ) -> None:
        self.nodes: Mapping[str, Json] = guarded.nodes
        self.guarded = guarded
        self.formats = formats & FORMATS.keys()
        self.significant = significant
        self._at: dict[str, tuple[Cell, ...]] = {}
        self._cells: dict[Child, tuple[Cell, ...]] = {}
        self._texts: dict[str, str] = {}
        self._raws: dict[str, bytes] = {}
        self._work = 0
        self._depth = 0

    def cells(self, child: Child) -> tuple[Cell, ...]:
        """Return the cells of a value at which all schemas of *child* look; none: no value is valid."""
        found = self._cells.get(child)
        if found is None:
            pointers = sorted(child, key=lambda each: (len(each), each))
            found = self.at(pointers[0]) if pointers else tuple(_PLAIN.values())
            for pointer in pointers[1:]:
                found = self._both(found, self.at(pointer))
            self._cells[child] = found
        return found

    def at(self, pointer: str) -> tuple[Cell, ...]:
        """Return the cells of the schema at *pointer*."""
        found = self._at.get(pointer)
        if found is None:
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise TooComplex
            found = self._at[pointer] = self._read(pointer, self.nodes[pointer])
            self._depth -= 1
        return found

    def same(self, child: Child, other: Space, theirs: Child) -> bool:
        """Whether two schemas are the same to the letter, and refer to nothing; the quick answer for most of a tool."""
        if len(child) != 1 or len(theirs) != 1 or self.guarded.dialect != other.guarded.dialect:
            return False
        raw = self._raw(*child)
        return b'"$ref"' not in raw and raw == other._raw(*theirs)

    def _raw(self, pointer: str) -> bytes:
        found = self._raws.get(pointer)
        if found is None:
            found = self._raws[pointer] = canonical(self.nodes[pointer])
        return found

    def text(self, pointer: str) -> str:
        """Return the shape of the schema at *pointer* as a text: one text, one meaning."""
        found = self._texts.get(pointer)
        if found is None:
            shape = shape_at(self.nodes, pointer, self.guarded.dialect, self.significant)
            found = self._texts[pointer] = canonical(shape).decode()
        return found

    def _read(self, pointer: str, node: Json) -> tuple[Cell, ...]:
        if not isinstance(node, dict):
            return tuple(_PLAIN.values()) if node else ()
        if "$ref" in node and self.guarded.dialect == "draft-07":
            # There the reference hides everything beside it; what stands beside it is read as words only.
            return tuple(replace(cell, sources=(pointer, *cell.sources)) for cell in self.at(target_of(node["$ref"])))
        cells = tuple(self._own(pointer, node))
        if "$ref" in node:
            cells = self._both(cells, self.at(target_of(node["$ref"])))
        for index in range(len(node.get("allOf", ()))):
            cells = self._both(cells, self.at(f"{pointer}/allOf/{index}"))
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                cells = self._both(cells, self._union(pointer, keyword, len(node[keyword])))
        return cells

    def _both(self, ones: tuple[Cell, ...], twos: tuple[Cell, ...]) -> tuple[Cell, ...]:
        found: list[Cell] = []
        for one, two in product(ones, twos):
            if one.kind == two.kind:
                self._work += 1
                both = meet(one, two)
                if both is not None:
                    found.append(both)
        if len(found) > MAX_CELLS or self._work > MAX_WORK:
            raise TooComplex
        return _merged(found)

    def _union(self, pointer: str, keyword: str, count: int) -> tuple[Cell, ...]:
        branches = [self.at(f"{pointer}/{keyword}/{index}") for index in range(count)]
        together = [cell for branch in branches for cell in branch]
        if keyword == "oneOf" and not self._apart(branches):
            condition = "oneOf:" + ",".join(sorted(self.text(f"{pointer}/oneOf/{index}") for index in range(count)))
            together = [_with(cell, condition) for cell in together]
        if len(together) > MAX_CELLS:
            raise TooComplex
        return _merged(together)

    def _apart(self, branches: list[tuple[Cell, ...]]) -> bool:
        """Whether no value is in two branches, so that `oneOf` is a plain union."""
        seen: list[Cell] = []
        for branch in branches:
            for one, two in product(seen, branch):
                self._work += 1
                if self._work > MAX_WORK:
                    raise TooComplex
                if one.kind == two.kind and not self._disjoint(one, two):
                    return False
            seen.extend(branch)
        return True

    def _disjoint(self, one: Cell, two: Cell) -> bool:
        if meet(one, two) is None:
            return True
        if one.kind != "object":
            return False
        for name in one.objects.needed() | two.objects.needed():
            child = self.named(one.objects, name) | self.named(two.objects, name)
            if not self.leaf(child):
                return True
        return False

    def leaf(self, child: Child) -> bool:
        """Whether some value may be valid under *child*; True in doubt. Looks at one level only."""
        return bool(self.cells(child))

    def named(self, objects: Objects, name: str) -> Child:
        """Return what looks at the property of this name."""
        matching = frozenset(pattern for pattern in objects.patterns if compile_pattern(pattern).search(name))
        return objects.under(matching, name)

    def free(self, child: Child) -> bool:
        """Whether *child* lets everything through, plainly."""
        return all(self.nodes[pointer] in (True, {}) for pointer in child)

    def _own(self, pointer: str, node: JsonObject) -> Iterator[Cell]:
        """Yield what the keywords of the node itself accept."""
        types = node.get("type", [*KINDS])
        types = [types] if isinstance(types, str) else types
        kinds = [kind for kind in KINDS if kind in types or (kind == "number" and "integer" in types)]
        is_plain = _COMPARED.isdisjoint(node)
        conditions = _NO_CONDITIONS if is_plain else self._conditions(pointer, node, (*_ANY_KIND, *_WHOLE_NODE))
        choices = [node["enum"]] if "enum" in node else []
        choices += [[node["const"]]] if "const" in node else []
        for kind in kinds:
            values = _PLAIN[kind].values
            for choice in choices:
                values = _chosen(values, [value for value in choice if kind_of(value) == kind])
            body = self._body(kind, pointer, node, whole="number" not in types and "integer" in types)
            by_text = _NO_CONDITIONS if is_plain else self._conditions(pointer, node, _BY_TEXT.get(kind, ()))
            own = Cell(kind=kind, body=body, values=values, conditions=conditions | by_text, sources=(pointer,))
            cell = settled(own)
            if cell is not None:
                yield cell

    def _conditions(self, pointer: str, node: JsonObject, keywords: tuple[str, ...]) -> frozenset[str]:
        return frozenset(self._compared(pointer, node, keywords))

    def _compared(self, pointer: str, node: JsonObject, keywords: tuple[str, ...]) -> Iterator[str]:
        for keyword in keywords:
            if keyword in _WHOLE_NODE and keyword in node:
                yield f"{keyword}:{self.text(pointer)}"
            elif keyword == "contains" and keyword in node:
                least, most = node.get("minContains", 1), node.get("maxContains")
                yield f"contains:{least}:{most}:{self.text(f'{pointer}/contains')}"
            elif keyword in ("if", "then", "else") and keyword in node:
                parts = [self.text(f"{pointer}/{each}") if each in node else "" for each in ("if", "then", "else")]
                yield f"if:{parts}"
            elif keyword == "dependentSchemas" and keyword in node:
                names = sorted(node[keyword])
                yield f"{keyword}:{[(name, self.text(pointer + to_pointer([keyword, name]))) for name in names]}"
            elif keyword in node:
                yield f"{keyword}:{self.text(f'{pointer}/{keyword}')}"
        dependent = node.get("dependencies", {}) if "dependentSchemas" in keywords else {}
        schemas = sorted(name for name, each in dependent.items() if not isinstance(each, list))
        if schemas:
            texts = [(name, self.text(pointer + to_pointer(["dependencies", name]))) for name in schemas]
            yield f"dependentSchemas:{texts}"

    def _body(self, kind: Kind, pointer: str, node: JsonObject, *, whole: bool) -> Body:
        match kind:
            case "number":
                return _numbers(node, whole=whole)
            case "string":
                return self._string(node)
            case "array":
                return _arrays(pointer, node)
            case "object":
                return _objects(pointer, node)
            case _:
                return None

    def _string(self, node: JsonObject) -> Texts:
        return Texts(
            low=int(node.get("minLength", 0)),
            high=_count(node.get("maxLength")),
            patterns=frozenset([node["pattern"]]) if "pattern" in node else frozenset(),
            formats=frozenset([node["format"]]) & self.formats if "format" in node else frozenset(),
        )


def _chosen(values: tuple[Json, ...] | None, choice: list[Json]) -> tuple[Json, ...]:
    """Return those of *values* (None: all) that are in a choice as well."""
    keys = {key_of(value) for value in choice}
    return tuple(choice) if values is None else tuple(value for value in values if key_of(value) in keys)


def _count(value: Json) -> int | None:
    return None if value is None else int(value)


def _numbers(node: JsonObject, *, whole: bool) -> Numbers:
    lows = [(Fraction(node[key]), key[0] == "e") for key in ("minimum", "exclusiveMinimum") if key in node]
    highs = [(Fraction(node[key]), key[0] != "e") for key in ("maximum", "exclusiveMaximum") if key in node]
    low, low_open = max(lows, default=(None, False))
    high, high_closed = min(highs, default=(None, True))
    multiples = frozenset([decimal(node["multipleOf"])]) if "multipleOf" in node else frozenset()
    return Numbers(whole=whole, low=low, low_open=low_open, high=high, high_open=not high_closed, multiples=multiples)


def _arrays(pointer: str, node: JsonObject) -> Arrays:
    items = node.get("items")
    if isinstance(items, list):  # draft-07
        prefix, rest = ("items", len(items)), "additionalItems"
    else:
        prefix, rest = ("prefixItems", len(node.get("prefixItems", ()))), "items"
    row = Row(
        tuple(f"{pointer}/{prefix[0]}/{index}" for index in range(prefix[1])),
        f"{pointer}/{rest}" if rest in node else None,
    )
    return Arrays(
        rows=(row,) if row.prefix or row.rest is not None else (),
        low=int(node.get("minItems", 0)),
        high=_count(node.get("maxItems")),
        unique=bool(node.get("uniqueItems", False)),
    )


def _objects(pointer: str, node: JsonObject) -> Objects:
    layer = Layer(
        fields={name: f"{pointer}{to_pointer(['properties', name])}" for name in node.get("properties", {})},
        patterns=tuple(
            (pattern, f"{pointer}{to_pointer(['patternProperties', pattern])}")
            for pattern in sorted(node.get("patternProperties", {}))
        ),
        rest=f"{pointer}/additionalProperties" if "additionalProperties" in node else None,
        declares="properties" in node or not pointer,  # a tool's arguments are never a free map
    )
    dependent = {**node.get("dependentRequired", {}), **node.get("dependencies", {})}
    return Objects(
        layers=(layer,) if layer.declares or layer.patterns or layer.rest is not None else (),
        required=frozenset(node.get("required", ())),
        low=int(node.get("minProperties", 0)),
        high=_count(node.get("maxProperties")),
        needs=frozenset((name, frozenset(each)) for name, each in dependent.items() if isinstance(each, list)),
    )


def _with(cell: Cell, condition: str) -> Cell:
    return replace(cell, conditions=cell.conditions | {condition})


def _merged(cells: list[Cell]) -> tuple[Cell, ...]:
    """Put cells of single values that differ in nothing else into one, so that a union of constants is a choice."""
    found: dict[object, Cell] = {}
    for cell in cells:
        whole = cell.values is None or cell.kind in ("array", "object")
        key = len(found) if whole else (cell.kind, cell.conditions)
        known = found.get(key)
        if known is None:
            found[key] = cell
        else:
            values = tuple(
                {canonical(value): value for value in (*(known.values or ()), *(cell.values or ()))}.values()
            )
            sources = tuple(dict.fromkeys(known.sources + cell.sources))
            found[key] = replace(cell, values=values, sources=sources)
    return tuple(found.values())
