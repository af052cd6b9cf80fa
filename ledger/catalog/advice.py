"""
How well a model can read a catalog: vague names, numbers without a unit, long enums, undescribed fields, look-alikes.

Warnings only. Which mistakes models make with such schemas is known from their transcripts; a person may know better.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from ledger.catalog.definition import ToolVersion
from ledger.catalog.guarding import guarded_of
from ledger.catalog.naming import is_vague, meaning_of, names_unit
from ledger.catalog.notes import Code, Note
from ledger.catalog.references import target_of
from ledger.catalog.shape import SIGNIFICANT
from ledger.catalog.words import listed
from ledger.strictjson import Json, JsonObject, to_pointer

MAX_ENUM: Final = 20

_NUMBERS: Final = frozenset({"integer", "number"})


def advice_of(versions: Sequence[ToolVersion], significant: Collection[str] = ()) -> Iterator[Note]:
    """Yield warnings about what models will read; *significant* are the catalog's own annotations, units among them."""
    units = SIGNIFICANT.union(significant) - {"x-sensitive"}
    for version in versions:
        if is_vague(version.tool.rsplit("/", 1)[-1]):
            yield _note(version, "vague_name", "", "the tool's name does not say what it does")
        yield from _fields(version, guarded_of(version).nodes, units)
    yield from _alike(versions)


def _note(version: ToolVersion, code: Code, pointer: str, message: str, hint: str | None = None) -> Note:
    return Note(
        code=code,
        tool=version.tool,
        version=version.version,
        path=version.path,
        pointer=pointer,
        message=message,
        hint=hint,
    )


def _fields(version: ToolVersion, nodes: Mapping[str, Json], units: Collection[str]) -> Iterator[Note]:
    for pointer, node in nodes.items():
        if not isinstance(node, dict):
            continue
        if len(node.get("enum", ())) > MAX_ENUM:
            message = f"{len(node['enum'])} values to choose from: models choose badly among more than {MAX_ENUM}"
            hint = "Offer a search, or check the value in a business rule."
            yield _note(version, "long_enum", pointer, message, hint)
        for name in node.get("properties", {}):
            place = f"{pointer}/properties{to_pointer([name])}"
            yield from _field(version, name, place, _Field(nodes, place), units)


class _Field:
    """A field with all that says something of it: its schema, those that it refers to, and their alternatives."""

    def __init__(self, nodes: Mapping[str, Json], pointer: str) -> None:
        self.parts: list[JsonObject] = []
        waiting, seen = [pointer], {pointer}
        while waiting:
            at = waiting.pop()
            node = nodes[at]
            if not isinstance(node, dict):
                continue
            self.parts.append(node)
            below = [target_of(node["$ref"])] if "$ref" in node else []
            below += [f"{at}/{key}/{i}" for key in ("allOf", "anyOf", "oneOf") for i in range(len(node.get(key, ())))]
            waiting.extend(each for each in below if each not in seen)
            seen.update(below)

    @property
    def described(self) -> bool:
        """Whether anything explains it."""
        return any(part.get("description") or "const" in part for part in self.parts)

    @property
    def is_measure(self) -> bool:
        """Whether it is a number of which not every value is named."""
        named = any("enum" in part or "const" in part for part in self.parts)
        return not named and any(_NUMBERS.intersection(_types(part)) for part in self.parts)

    @property
    def text(self) -> str:
        """Its titles and descriptions."""
        return " ".join(str(part.get(word, "")) for part in self.parts for word in ("title", "description"))


def _types(node: JsonObject) -> list[str]:
    named = node.get("type", ())
    return [named] if isinstance(named, str) else list(named)


def _field(version: ToolVersion, name: str, pointer: str, field: _Field, units: Collection[str]) -> Iterator[Note]:
    if is_vague(name):
        message = f"the name {listed([name])} does not say what is meant"
        yield _note(version, "vague_name", pointer, message, "Name the thing: a path, a query, an address.")
    if not field.described:
        yield _note(version, "undescribed", pointer, "nothing explains this field", "Write a `description`.")
    annotated = any(unit in part for part in field.parts for unit in units)
    if field.is_measure and not annotated and not names_unit(name, field.text):
        hint = "Name it (`timeout_seconds`), say it in the description, or annotate it: `x-unit`."
        yield _note(version, "number_without_unit", pointer, "a number, and nothing says of which unit", hint)


def _alike(versions: Sequence[ToolVersion]) -> Iterator[Note]:
    """Yield the tools that a model takes for one another: names of the same meaning, or one description for two."""
    names: dict[tuple[str, ...], ToolVersion] = {}
    told: dict[str, ToolVersion] = {}
    for version in versions:
        other = names.setdefault(meaning_of(version.tool), version)
        same = told.setdefault(" ".join(version.description.casefold().split()), version)
        if other.tool != version.tool:
            message = f"its name means the same as that of {other.tool}"
        elif same.tool != version.tool:
            message = f"its description is that of {same.tool}"
        else:
            continue
        hint = "Make one of them, or say in `useWhen` and `notWhen` which is for what."
        yield _note(version, "near_duplicate", "", message, hint)
