"""What a model reads about one fault: short, bounded, no control characters, and what would be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ledger.catalog.prepared import Choice
from ledger.catalog.words import listed, meant, nearest, shown
from ledger.strictjson import Json

TYPE_NAMES: Final = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def type_of(value: Json) -> str:
    """Return JSON Schema's name for the type of *value*."""
    return TYPE_NAMES.get(type(value), "null")


def wanted_type(types: list[str], value: Json) -> str:
    """Say which types would be right; the value is shown where it is short."""
    got = type_of(value)
    echo = f" {shown(value)}" if got in ("boolean", "integer", "number", "string") else ""
    return f"expected {' or '.join(types)}, got {got}{echo}"


def explain(keyword: str, given: Any, value: Json, schema: Mapping[str, Any], name: str) -> str:
    """
    Return the message for a violated *keyword*.

    *given* is the keyword's value in *schema*, *value* what was checked, *name* the last step of the fault's place.
    """
    if keyword == "additionalProperties":
        return f"unknown field {shown(name)}{meant(name, schema.get('properties', {}))}"
    return _MESSAGES[keyword](given, value) if keyword in _MESSAGES else f"is not valid under `{keyword}`"


def _plural(count: Json, noun: str) -> str:
    return f"{shown(count)} {noun}" if count == 1 else f"{shown(count)} {noun}s"


def _sized(limit: str, noun: str) -> Callable[[Any, Json], str]:
    return lambda given, value: f"must have {limit} {_plural(given, noun)}, has {len(value)}"


def _bounded(relation: str) -> Callable[[Any, Json], str]:
    return lambda given, value: f"must be {relation} {shown(given)}, got {shown(value)}"


def _choice(choice: Choice, value: Json) -> str:
    texts = [each for each in choice.values if isinstance(each, str)]
    near = nearest(value, texts) if isinstance(value, str) else None
    hint = f"; did you mean {shown(near)}?" if near is not None else ""
    must = f"one of {listed(choice.values)}" if len(choice.values) > 1 else shown(choice.values[0])
    return f"must be {must}, got {shown(value)}{hint}"


_MESSAGES: Final[dict[str, Callable[[Any, Json], str]]] = {
    "additionalItems": lambda _given, _value: "too many items",
    "anyOf": lambda given, _value: f"matches none of the {len(given)} alternatives",
    "const": _choice,
    "contains": lambda _given, _value: "does not contain the items it must",
    "dependencies": lambda _given, _value: "required field is missing",
    "dependentRequired": lambda _given, _value: "required field is missing",
    "enum": _choice,
    "exclusiveMaximum": _bounded("less than"),
    "exclusiveMinimum": _bounded("greater than"),
    "false": lambda _given, _value: "is not allowed here",
    "format": lambda given, value: f"is no {given}: {shown(value)}",
    "maxItems": _sized("at most", "item"),
    "maxLength": _sized("at most", "character"),
    "maxProperties": _sized("at most", "field"),
    "maximum": _bounded("at most"),
    "minItems": _sized("at least", "item"),
    "minLength": _sized("at least", "character"),
    "minProperties": _sized("at least", "field"),
    "minimum": _bounded("at least"),
    "multipleOf": _bounded("a multiple of"),
    "not": lambda _given, _value: "must not match the schema under `not`",
    "oneOf": lambda given, _value: f"matches none of the {len(given)} alternatives",
    "pattern": lambda given, value: f"does not match the pattern {shown(given.pattern)}: {shown(value)}",
    "propertyNames": lambda _given, _value: "this name of a field is not allowed",
    "required": lambda _given, _value: "required field is missing",
    "type": lambda given, value: wanted_type([given] if isinstance(given, str) else given, value),
    "unevaluatedItems": lambda _given, _value: "items that no part of the schema describes",
    "unevaluatedProperties": lambda _given, _value: "fields that no part of the schema describes",
    "uniqueItems": lambda _given, _value: "has equal items",
}
