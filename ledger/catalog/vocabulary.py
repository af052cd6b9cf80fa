"""The keywords of JSON Schema: which hold schemas, what their values must be, in which dialect they mean something."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Final, Literal, TypeAlias

from ledger.strictjson import Json, JsonObject

Dialect: TypeAlias = Literal["2020-12", "draft-07"]
Path: TypeAlias = tuple[str | int, ...]

DIALECTS: Final[dict[str, Dialect]] = {
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
    "http://json-schema.org/draft-07/schema": "draft-07",
    "https://json-schema.org/draft-07/schema": "draft-07",
}
"""By `$schema`, without a trailing `#`."""

TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")

ONE: Final = frozenset(
    [
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
"""Keywords whose value is a schema (`items`, in draft-07, may be a list of them)."""
LIST: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
MAP: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
STORES: Final = frozenset({"$defs", "definitions"})
"""Schemas kept for references; nothing is checked against them where they stand."""
IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
"""Their schemas look at the same value again, as `$ref` does: a circle of these never ends."""

ONLY_IN: Final[dict[str, tuple[Dialect, str]]] = {
    "additionalItems": ("draft-07", "In 2020-12 write `prefixItems` and `items`."),
    "dependencies": ("draft-07", "In 2020-12 write `dependentRequired` or `dependentSchemas`."),
    "dependentRequired": ("2020-12", "In draft-07 write `dependencies`."),
    "dependentSchemas": ("2020-12", "In draft-07 write `dependencies`."),
    "maxContains": ("2020-12", "Name 2020-12 in `$schema`."),
    "minContains": ("2020-12", "Name 2020-12 in `$schema`."),
    "prefixItems": ("2020-12", "In draft-07 write `items` with a list."),
    "unevaluatedItems": ("2020-12", "Name 2020-12 in `$schema`."),
    "unevaluatedProperties": ("2020-12", "Name 2020-12 in `$schema`."),
}
"""Keywords that the other dialect would silently ignore."""

REFUSED: Final[dict[str, str]] = {
    "$anchor": "Refer by pointer: `#/$defs/…`.",
    "$dynamicAnchor": "Refer by pointer: `#/$defs/…`.",
    "$dynamicRef": "Refer by `$ref` and pointer: `#/$defs/…`.",
    "$recursiveAnchor": "Refer by pointer: `#/$defs/…`.",
    "$recursiveRef": 'Write `"$ref": "#"`.',
    "$vocabulary": "A tool's schema is no meta-schema.",
}

WORDS: Final = frozenset({"title", "description", "examples", "$comment"})
"""Annotations for people and models; no validator and no program reads them."""
OTHER_ANNOTATIONS: Final = frozenset({"deprecated", "example", "markdownDescription", "nullable", "readOnly"})
"""Known words that change nothing here; `nullable` is OpenAPI's, and JSON Schema ignores it."""


def _number(value: Json) -> bool:
    # An integer is finite; `isfinite` would make a float of it, and there is none so large.
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and isfinite(value))


def _count(value: Json) -> bool:
    return _number(value) and value >= 0 and value == int(value)


def _text(value: Json) -> bool:
    return isinstance(value, str)


def _flag(value: Json) -> bool:
    return isinstance(value, bool)


def _names(value: Json) -> bool:
    return isinstance(value, list) and all(map(_text, value)) and len(set(value)) == len(value)


def _names_each(value: Json) -> bool:
    return isinstance(value, dict) and all(map(_names, value.values()))


def _types(value: Json) -> bool:
    given = value if isinstance(value, list) else [value]
    return bool(given) and all(_text(name) and name in TYPES for name in given) and len(set(given)) == len(given)


def _schema(value: Json) -> bool:
    return isinstance(value, dict | bool)


def _schemas(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_schema, value))


def _schema_map(value: Json) -> bool:
    return isinstance(value, dict) and all(map(_schema, value.values()))


def _dependencies(value: Json) -> bool:
    return isinstance(value, dict) and all(_schema(each) or _names(each) for each in value.values())


Check: TypeAlias = tuple[Callable[[Json], bool], str]

_NUMBER: Final[Check] = (_number, "a finite number")
_COUNT: Final[Check] = (_count, "a whole number from 0")
_TEXT: Final[Check] = (_text, "a text")
_FLAG: Final[Check] = (_flag, "true or false")
_LIST: Final[Check] = (lambda value: isinstance(value, list), "a list")
_ANY: Final[Check] = (lambda _: True, "any value")

CHECKS: Final[dict[str, Check]] = {
    **dict.fromkeys(ONE, (_schema, "a schema (an object, true or false)")),
    **dict.fromkeys(LIST, (_schemas, "a list of at least one schema")),
    **dict.fromkeys(MAP, (_schema_map, "an object of schemas")),
    **dict.fromkeys(("$id", "$schema", "$ref", "contentEncoding", "contentMediaType", "format", "pattern"), _TEXT),
    **dict.fromkeys(("$comment", "description", "title"), _TEXT),
    **dict.fromkeys(("maxContains", "maxItems", "maxLength", "maxProperties"), _COUNT),
    **dict.fromkeys(("minContains", "minItems", "minLength", "minProperties"), _COUNT),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"), _NUMBER),
    **dict.fromkeys(("deprecated", "readOnly", "uniqueItems", "writeOnly", "x-sensitive"), _FLAG),
    **dict.fromkeys(("const", "default"), _ANY),
    "dependencies": (_dependencies, "an object of schemas or lists of names"),
    "dependentRequired": (_names_each, "an object of lists of different names"),
    "enum": (lambda value: isinstance(value, list) and bool(value), "a list of at least one value"),
    "examples": _LIST,
    "multipleOf": (lambda value: _number(value) and value > 0, "a number above 0"),
    "required": (_names, "a list of different names"),
    "type": (_types, f"one of {', '.join(TYPES)}, or a list of different ones"),
}
"""What each keyword's value must be: as strict as the meta-schemas, and stricter where those allow nonsense."""

HINTS: Final[dict[tuple[str, type], str]] = {
    ("exclusiveMaximum", bool): "That is draft-04. Write the bound itself: `exclusiveMaximum: 10`, without `maximum`.",
    ("exclusiveMinimum", bool): "That is draft-04. Write the bound itself: `exclusiveMinimum: 0`, without `minimum`.",
    ("required", bool): "That is draft-03. List the names in the parent: `required: [name]`.",
    ("items", list): "That is draft-07. In 2020-12 write `prefixItems`.",
    ("examples", dict): "Write a list of examples.",
    ("x-sensitive", str): "Write true, without quotes: any other value masks nothing.",
    ("x-sensitive", int): "Write true: any other value masks nothing.",
    ("writeOnly", str): "Write true, without quotes: any other value masks nothing.",
}
"""By keyword and the type of its wrong value: the old draft it comes from."""


_HOLDERS: Final = ONE | LIST | MAP | {"dependencies"}


def children(schema: JsonObject) -> Iterator[tuple[Path, Json]]:
    """Yield each schema that stands directly in *schema*, with its path from there, in a fixed order."""
    if _HOLDERS.isdisjoint(schema):  # as in most schemas
        return
    for keyword in sorted(schema):
        value = schema[keyword]
        if keyword in LIST or (keyword == "items" and isinstance(value, list)):
            yield from (((keyword, index), each) for index, each in enumerate(value))
        elif keyword in MAP or keyword == "dependencies":
            yield from (((keyword, name), value[name]) for name in sorted(value) if not isinstance(value[name], list))
        elif keyword in ONE:
            yield (keyword,), value
