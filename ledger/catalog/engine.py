"""
The one door to jsonschema: its traversal and vocabulary, with keywords that are exact, bounded and quick.

Its own keywords put the whole instance into each message, compare every pair for `uniqueItems`, run patterns on
Python's backtracking `re` and multiply floats inexactly; these don't. Loaded only when a schema is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from importlib.metadata import version
from math import isfinite
from typing import Any, Final, TypeAlias

from jsonschema import Draft7Validator, Draft202012Validator, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from ledger.catalog.equality import all_differ, key_of
from ledger.catalog.formats import FORMATS
from ledger.catalog.patterns import compile_pattern
from ledger.catalog.prepared import Node, Reference, Schema
from ledger.catalog.vocabulary import Dialect
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, to_pointer

Errors: TypeAlias = Iterator[ValidationError]
Keyword: TypeAlias = Callable[[Any, Any, Json, Any], Errors]

MAX_REFERENCES: Final = 20_000
"""References followed in one validation: a schema that refers to itself twice doubles its work at each level."""
MANY: Final = "many"
"""The message of a `oneOf` that more than one schema matched."""

_left: ContextVar[int] = ContextVar("references left")


class ReferencesExhausted(RuntimeError):
    """The value makes this schema follow too many references."""


def errors_of(validator: Any, node: Schema, value: Json) -> Errors:
    """Yield what is wrong with *value* under *node*; its validator is made once and kept at the node."""
    if isinstance(node, bool):
        if not node:
            yield ValidationError("", validator="false", instance=value)
        return
    if node.bound is None:
        node.bound = validator.evolve(schema=node)
    yield from node.bound.iter_errors(value)


def holds(validator: Any, node: Schema, value: Json) -> bool:
    """Whether nothing is wrong with *value* under *node*."""
    return next(errors_of(validator, node, value), None) is None


def _below(validator: Any, node: Schema, value: Json, step: str | int) -> Errors:
    for error in errors_of(validator, node, value):
        error.path.appendleft(step)
        yield error


def is_number(value: Json) -> bool:
    """Whether *value* is a finite number; true and false are none."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and isfinite(value))


def is_integer(value: Json) -> bool:
    """Whether *value* is a whole number; 1.0 is (JSON Schema looks at the value, not at its spelling)."""
    return is_number(value) and (isinstance(value, int) or value.is_integer())


_TYPES: Final[dict[str, Callable[[Json], bool]]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": is_integer,
    "null": lambda value: value is None,
    "number": is_number,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


def _rule(applies: Callable[[Json], bool], met: Callable[[Any, Any], bool]) -> Keyword:
    """Return a keyword that asks *met* of those values it applies to."""

    def keyword(_validator: Any, given: Any, value: Json, _schema: Any) -> Errors:
        if applies(value) and not met(given, value):
            yield ValidationError("")

    return keyword


def _multiple(of: Json, value: Json) -> bool:
    """Exact as the decimals are written: 19.99 is a multiple of 0.01, which floats deny."""
    return (Fraction(repr(value)) / Fraction(repr(of))).denominator == 1


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_list(value: Json) -> bool:
    return isinstance(value, list)


def _is_object(value: Json) -> bool:
    return isinstance(value, dict)


def _always(_value: Json) -> bool:
    return True


def _any_type(types: Any, value: Json) -> bool:
    return _TYPES[types](value) if isinstance(types, str) else any(_TYPES[name](value) for name in types)


_RULES: Final[dict[str, Keyword]] = {
    "const": _rule(_always, lambda choice, value: key_of(value) in choice.keys),
    "enum": _rule(_always, lambda choice, value: key_of(value) in choice.keys),
    "exclusiveMaximum": _rule(is_number, lambda limit, value: value < limit),
    "exclusiveMinimum": _rule(is_number, lambda limit, value: value > limit),
    "format": _rule(_is_text, lambda name, value: FORMATS[name](value)),
    "maxItems": _rule(_is_list, lambda limit, value: len(value) <= limit),
    "maxLength": _rule(_is_text, lambda limit, value: len(value) <= limit),
    "maxProperties": _rule(_is_object, lambda limit, value: len(value) <= limit),
    "maximum": _rule(is_number, lambda limit, value: value <= limit),
    "minItems": _rule(_is_list, lambda limit, value: len(value) >= limit),
    "minLength": _rule(_is_text, lambda limit, value: len(value) >= limit),
    "minProperties": _rule(_is_object, lambda limit, value: len(value) >= limit),
    "minimum": _rule(is_number, lambda limit, value: value >= limit),
    "multipleOf": _rule(is_number, _multiple),
    "pattern": _rule(_is_text, lambda pattern, value: pattern.search(value)),
    "type": _rule(_always, _any_type),
}


def _unique_items(_validator: Any, on: Any, value: Json, schema: JsonObject) -> Errors:
    """A list that is too long for the schema's own `maxItems` is not compared: that one has the better words for it."""
    if on and isinstance(value, list) and len(value) <= schema.get("maxItems", len(value)) and not all_differ(value):
        yield ValidationError("")


def _properties(validator: Any, fields: JsonObject, value: Json, _schema: Any) -> Errors:
    if isinstance(value, dict):
        for name, node in fields.items():
            if name in value:
                yield from _below(validator, node, value[name], name)


def _pattern_properties(validator: Any, patterns: JsonObject, value: Json, _schema: Any) -> Errors:
    if isinstance(value, dict):
        for pattern, node in patterns.items():
            matches = compile_pattern(pattern).search
            for name in value:
                if matches(name):
                    yield from _below(validator, node, value[name], name)


def _additional_properties(validator: Any, node: Schema, value: Json, schema: JsonObject) -> Errors:
    if isinstance(value, dict):
        declared = schema.get("properties", {})
        matchers = [compile_pattern(pattern).search for pattern in schema.get("patternProperties", ())]
        for name in value:
            if name in declared or any(matches(name) for matches in matchers):
                continue
            if node is False:
                yield ValidationError("", path=(name,))
            else:
                yield from _below(validator, node, value[name], name)


def _property_names(validator: Any, node: Schema, value: Json, _schema: Any) -> Errors:
    if isinstance(value, dict):
        for name in value:
            if not holds(validator, node, name):
                yield ValidationError("", path=(name,))


def _required(_validator: Any, names: list[str], value: Json, _schema: Any) -> Errors:
    if isinstance(value, dict):
        for name in names:
            if name not in value:
                yield ValidationError("", path=(name,))


def _dependent_required(validator: Any, dependent: JsonObject, value: Json, schema: Any) -> Errors:
    if isinstance(value, dict):
        for name, names in dependent.items():
            if name in value:
                yield from _required(validator, names, value, schema)


def _dependencies(validator: Any, dependent: JsonObject, value: Json, schema: Any) -> Errors:
    """Draft-07's two keywords in one."""
    if isinstance(value, dict):
        for name, needed in dependent.items():
            if name in value and isinstance(needed, list):
                yield from _required(validator, needed, value, schema)
            elif name in value:
                yield from errors_of(validator, needed, value)


def _items(validator: Any, node: Schema, value: Json, schema: JsonObject) -> Errors:
    if isinstance(value, list):
        for index in range(len(schema.get("prefixItems", ())), len(value)):
            yield from _below(validator, node, value[index], index)


def _prefix_items(validator: Any, nodes: list[Schema], value: Json, _schema: Any) -> Errors:
    if isinstance(value, list):
        for index, (node, each) in enumerate(zip(nodes, value, strict=False)):
            yield from _below(validator, node, each, index)


def _items_07(validator: Any, node: Any, value: Json, schema: JsonObject) -> Errors:
    keyword = _prefix_items if isinstance(node, list) else _items
    return keyword(validator, node, value, schema)


def _additional_items(validator: Any, node: Schema, value: Json, schema: JsonObject) -> Errors:
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, list):
        for index in range(len(items), len(value)):
            yield from _below(validator, node, value[index], index)


def _all_of(validator: Any, nodes: list[Schema], value: Json, _schema: Any) -> Errors:
    for node in nodes:
        yield from errors_of(validator, node, value)


def _any_of(validator: Any, nodes: list[Schema], value: Json, _schema: Any) -> Errors:
    if not any(holds(validator, node, value) for node in nodes):
        yield ValidationError("")


def _one_of(validator: Any, nodes: list[Schema], value: Json, _schema: Any) -> Errors:
    count = sum(holds(validator, node, value) for node in nodes)
    if count != 1:
        yield ValidationError(MANY if count else "")


def _ref(validator: Any, reference: Reference, value: Json, _schema: Any) -> Errors:
    left = _left.get()
    if not left:
        raise ReferencesExhausted
    _left.set(left - 1)
    yield from errors_of(validator, reference.node, value)


_SHARED: Final[dict[str, Keyword]] = {
    **_RULES,
    "$ref": _ref,
    "additionalProperties": _additional_properties,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "patternProperties": _pattern_properties,
    "properties": _properties,
    "propertyNames": _property_names,
    "required": _required,
    "uniqueItems": _unique_items,
}
_OWN: Final[dict[Dialect, dict[str, Keyword]]] = {
    "2020-12": {"dependentRequired": _dependent_required, "items": _items, "prefixItems": _prefix_items},
    "draft-07": {"additionalItems": _additional_items, "dependencies": _dependencies, "items": _items_07},
}
_STOCK: Final[dict[Dialect, Any]] = {"2020-12": Draft202012Validator, "draft-07": Draft7Validator}


@lru_cache
def _validator_class(dialect: Dialect) -> Any:
    stock = _STOCK[dialect]
    checker = stock.TYPE_CHECKER.redefine_many(
        {name: lambda _, value, is_type=is_type: is_type(value) for name, is_type in _TYPES.items()}
    )
    return extend(  # type: ignore[no-untyped-call]  # the stubs leave its types out
        stock, {**_SHARED, **_OWN[dialect]}, type_checker=checker
    )


def validator_of(root: Node, dialect: Dialect) -> Validator:
    """Return the validator of a prepared schema."""
    validator: Validator = _validator_class(dialect)(root)
    root.bound = validator
    return validator


def check_meta_schema(schema: JsonObject, dialect: Dialect) -> None:
    """Raise CatalogFault if *schema* is invalid under the published meta-schema of its dialect."""
    try:
        _STOCK[dialect].check_schema(schema)
    except SchemaError as error:
        pointer = to_pointer(error.absolute_path)
        raise CatalogFault("invalid under its meta-schema", pointer=pointer) from None


def fill_budget() -> None:
    """Give the validation that starts now its full number of references."""
    _left.set(MAX_REFERENCES)


@lru_cache
def validator_name() -> str:
    """Return name and version of the validator, as events record it."""
    return f"jsonschema {version('jsonschema')}"
