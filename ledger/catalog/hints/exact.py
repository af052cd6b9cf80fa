"""What a pydantic type takes, as a schema for checks only: no field that it would drop, nothing that it would guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from ledger.catalog.compile import CompiledSchema, compile_guarded
from ledger.catalog.guard import CAPS, guard
from ledger.catalog.hints.base import in_order
from ledger.strictjson import Json, JsonObject

_SPELLED: Final = "x-exact-pattern"
"""So a pattern of ours is told from one of a model's author, which pydantic looks at itself."""
_DECIMAL: Final = {_SPELLED: r"^[-+]?[0-9]*\.?[0-9]*$"}
_DAY: Final = {_SPELLED: "^[0-9]{4}-[0-9]{2}-[0-9]{2}"}
_CLOCK: Final = {_SPELLED: "^[0-9]{2}:[0-9]{2}"}

_LOOK: Final = "x-exact-look"
"""What is built here may hold less than what was sent, though its schema is kept."""
_FIRST: Final = "x-exact-first"
_OLD: Final = not hasattr(core_schema, "ComplexSchema")
"""Before 2.9 a union of pydantic's may take an option that drops fields although another one keeps them."""

_PLAIN: Final = frozenset({"type", "enum", "const", "required", "$ref", "uniqueItems"})
_ONE: Final = frozenset({"items", "additionalProperties"})
_LISTS: Final = {"anyOf": "anyOf", "oneOf": "anyOf", "allOf": "allOf", "prefixItems": "prefixItems"}
_MAPS: Final = frozenset({"properties", "$defs"})


class Described(GenerateJsonSchema):
    """Pydantic's own schema, with the entries of sets in one order: the same in each process."""

    def encode_default(self, dft: Any) -> Any:
        """Return a default as JSON."""
        return in_order(dft, super().encode_default(dft))


class _Exact(GenerateJsonSchema):
    """What pydantic reads beside what it describes: `1_000` and other digits, and numbers as seconds since 1970."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonObject:
        described = super().decimal_schema(schema)
        return {"anyOf": [each | _DECIMAL if each.get("type") == "string" else each for each in described["anyOf"]]}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonObject:
        return super().datetime_schema(schema) | _DAY

    def date_schema(self, schema: core_schema.DateSchema) -> JsonObject:
        return super().date_schema(schema) | _DAY

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonObject:
        return super().time_schema(schema) | _CLOCK

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonObject:
        return super().float_schema(schema) | {_LOOK: True}

    def set_schema(self, schema: core_schema.SetSchema) -> JsonObject:
        return super().set_schema(schema) | _looked_at(schema.get("items_schema"))

    def frozenset_schema(self, schema: core_schema.FrozenSetSchema) -> JsonObject:
        return super().frozenset_schema(schema) | _looked_at(schema.get("items_schema"))

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonObject:
        return super().dict_schema(schema) | _looked_at(schema.get("keys_schema"))

    def union_schema(self, schema: core_schema.UnionSchema) -> JsonObject:
        first = _OLD or schema.get("mode") == "left_to_right"
        return super().union_schema(schema) | ({_FIRST: True} if first else {})


def _looked_at(entries: Any) -> JsonObject:
    """Two texts are never one to Python; of what else is in a set, or is the key of a dict, nobody knows."""
    return {} if entries is None or entries["type"] == "str" else {_LOOK: True}


@dataclass(frozen=True, slots=True)
class Exact:
    """
    A closed schema, compiled.

    `first_wins`: there are unions that take the first option, whatever it drops. `looks`: what is built has to be held
    to what was sent, since no schema says what becomes equal there.
    """

    compiled: CompiledSchema
    first_wins: bool
    looks: bool


def exactly(adapter: TypeAdapter[Any]) -> Exact:
    """
    Return the closed schema of a pydantic type.

    It holds values to fields and JSON types, and to how numbers and times are spelled. Bounds, lengths and the patterns
    of a model's author are pydantic's to check: a pattern that no portable engine takes must not refuse a whole tool.
    """
    described = adapter.json_schema(ref_template="#/$defs/{model}", schema_generator=_Exact)
    words = str(described)
    held: JsonObject = {"$defs": {name: _held(each) for name, each in described.pop("$defs", {}).items()}}
    held["allOf"] = [_held(described)]
    return Exact(compile_guarded(guard(held, limits=CAPS)), _FIRST in words, _FIRST in words or _LOOK in words)


def _held(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    held: JsonObject = {}
    for key, value in schema.items():
        if key in _PLAIN:
            held[key] = value
        elif key in _ONE:
            held[key] = _held(value)
        elif key in _LISTS:
            held[_LISTS[key]] = [_held(each) for each in value]
        elif key in _MAPS:
            held[key] = {name: _held(each) for name, each in value.items()}
        elif key == _SPELLED:
            held["pattern"] = value
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        held.setdefault("additionalProperties", False)
    return held
