"""
Checks a schema before any validator sees it: schemas are input too.

Sizes, depth, dialect, every keyword's value, patterns, references. Pure, and without a validator library: a whole
catalog is checked when it is opened, and one bad tool is known with the pointer of its fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledger.catalog.equality import MAX_UNIQUE
from ledger.catalog.marks import MARKS, check_marks
from ledger.catalog.patterns import PatternRefused, compile_pattern
from ledger.catalog.references import check_references, target_of
from ledger.catalog.vocabulary import (
    CHECKS,
    DIALECTS,
    HINTS,
    ONLY_IN,
    OTHER_ANNOTATIONS,
    REFUSED,
    WORDS,
    Dialect,
    Path,
    children,
)
from ledger.catalog.words import nearest, shown
from ledger.errors import CatalogFault, JsonRejected
from ledger.strictjson import Json, JsonObject, Limits, check, printable, to_a_person, to_pointer

DRAFT_07: Final = "http://json-schema.org/draft-07/schema#"
UNEVALUATED: Final = ("unevaluatedItems", "unevaluatedProperties")
MAX_UNEVALUATED: Final = 8
"""Each one may evaluate its part of the schema again: they multiply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLimits:
    """
    How large one schema may be.

    `max_depth` counts nested objects and arrays of the file, `max_subschemas` schemas in it, `max_items` entries of one
    list or object, `max_text` characters of one text, `max_bytes` its canonical JSON.
    """

    max_depth: int = 64
    max_subschemas: int = 2_000
    max_items: int = 2_000
    max_text: int = 32_768
    max_bytes: int = 2**20


LIMITS: Final = SchemaLimits()
CAPS: Final = SchemaLimits(max_subschemas=20_000, max_items=100_000, max_text=2**20, max_bytes=2**24)
"""As far as a catalog may raise its limits."""


_SIMPLE: Final = {
    keyword: check
    for keyword, (check, _) in CHECKS.items()
    if keyword not in {"$schema", "$id", "items", "pattern", "patternProperties", *ONLY_IN}
}
"""Of keywords that are allowed wherever a schema stands, and of which nothing but the value is looked at."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A schema that passed: its own copy, its dialect, and each schema in it by its pointer."""

    schema: JsonObject
    dialect: Dialect
    nodes: Mapping[str, Json]


def guard(schema: Json, *, limits: SchemaLimits = LIMITS, dialect: Dialect = "2020-12", path: str = "") -> Guarded:
    """
    Return a checked copy of *schema*; raises CatalogFault with the pointer of the first fault.

    *dialect* is what a schema means that names none. *path* names the file in messages.
    """
    try:
        copy = _copy(schema, limits)
        named = _dialect(copy, dialect)
        nodes = _nodes(copy, named, limits)
        check_references(nodes, named)
    except CatalogFault as fault:
        raise CatalogFault(fault.fault, path=path, pointer=fault.pointer, hint=fault.hint) from None
    if named != "2020-12":
        copy["$schema"] = DRAFT_07  # so that it means the same wherever it goes
    return Guarded(copy, named, nodes)


def guard_input(
    schema: Json, *, limits: SchemaLimits = LIMITS, dialect: Dialect = "2020-12", path: str = ""
) -> Guarded:
    """Do the same for a tool's arguments, which are always an object and say so."""
    guarded = guard(schema, limits=limits, dialect=dialect, path=path)
    root = guarded.schema
    while isinstance(root, dict) and "type" not in root and "$ref" in root:
        root = guarded.nodes[target_of(root["$ref"])]
    if not isinstance(root, dict) or root.get("type") != "object":
        raise CatalogFault(
            "a tool's arguments are an object, and the schema must say so",
            path=path,
            pointer="/type",
            hint='Write `"type": "object"` at its root.',
        )
    check_marks(guarded.nodes, path)
    return guarded


def _copy(schema: Json, limits: SchemaLimits) -> JsonObject:
    if not isinstance(schema, dict) or not schema:
        what = "empty" if schema == {} else f"{shown(schema)}, not an object"
        hint = 'A tool without arguments says {"type": "object", "additionalProperties": false}.'
        raise CatalogFault(f"the schema is {what}", hint=hint)
    bounds = Limits(max_bytes=limits.max_bytes, max_depth=limits.max_depth, max_items=50 * limits.max_subschemas)
    try:
        copy: JsonObject = check(schema, bounds)
    except JsonRejected as rejected:
        pointer = rejected.pointer or ""
        message, hint = to_a_person(rejected)
        raise CatalogFault(message.removeprefix(f"{printable(pointer)}: "), pointer=pointer, hint=hint) from None
    _check_sizes(copy, limits)
    return copy


def _check_sizes(schema: JsonObject, limits: SchemaLimits) -> None:
    longest = limits.max_text
    waiting: list[tuple[Path, Json]] = [((), schema)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            hint = "Put long explanations where the reader is, not into the schema."
            raise CatalogFault(
                f"a text of {len(value):,} characters; {longest:,} are allowed", pointer=to_pointer(path), hint=hint
            )
        if len(value) > limits.max_items:
            message = f"{len(value):,} entries; {limits.max_items:,} are allowed"
            raise CatalogFault(message, pointer=to_pointer(path), hint="Look such a list up in a business check.")
        for place, each in value.items() if type(value) is dict else enumerate(value):
            kind = type(each)
            if kind is dict or kind is list or (kind is str and len(each) > longest):
                waiting.append(((*path, place), each))


def _dialect(schema: JsonObject, default: Dialect) -> Dialect:
    if "$schema" not in schema:
        return default
    named = schema["$schema"]
    if isinstance(named, str) and (dialect := DIALECTS.get(named.removesuffix("#"))):
        return dialect
    raise CatalogFault(
        f"the dialect {shown(named)} is not supported",
        pointer="/$schema",
        hint=f"Write {shown(next(iter(DIALECTS)))} or {shown(DRAFT_07)}.",
    )


def _nodes(schema: JsonObject, dialect: Dialect, limits: SchemaLimits) -> dict[str, Json]:
    """Check every schema in the schema, from the outside in, and return them by pointer."""
    nodes: dict[str, Json] = {}
    waiting: list[tuple[str, Json]] = [("", schema)]
    unevaluated = 0
    while waiting:
        pointer, node = waiting.pop()
        nodes[pointer] = node
        if len(nodes) > limits.max_subschemas:
            raise CatalogFault(f"more than {limits.max_subschemas:,} schemas in one", hint="Split the tool.")
        if isinstance(node, dict):
            _check_keywords(node, pointer, dialect)
            unevaluated += sum(keyword in node for keyword in UNEVALUATED)
            waiting += [(pointer + to_pointer(step), each) for step, each in reversed(list(children(node)))]
    _check_unevaluated(unevaluated, nodes)
    return nodes


def _check_unevaluated(count: int, nodes: Mapping[str, Json]) -> None:
    if count > MAX_UNEVALUATED:
        raise CatalogFault(
            f"{count} unevaluated keywords; {MAX_UNEVALUATED} are allowed", hint="Use `additionalProperties: false`."
        )
    for pointer, node in nodes.items() if count else ():
        if isinstance(node, dict) and "patternProperties" in node:
            raise CatalogFault(
                "`patternProperties` together with an unevaluated keyword is not supported",
                pointer=f"{pointer}/patternProperties",
                hint="Use `additionalProperties` beside `patternProperties`.",
            )


def _check_keywords(node: JsonObject, above: str, dialect: Dialect) -> None:
    for keyword, value in node.items():
        check = _SIMPLE.get(keyword)
        if check is None or not check(value):
            pointer = f"{above}/{keyword}" if keyword.isalnum() else above + to_pointer([keyword])
            _check_keyword(keyword, value, pointer, dialect)
    if node.get("uniqueItems"):
        _check_unique(node, above)


def _check_keyword(keyword: str, value: Json, pointer: str, dialect: Dialect) -> None:
    _check_known(keyword, value, pointer, dialect)
    if dialect == "draft-07" and keyword == "items" and isinstance(value, list):
        valid, wanted = all(isinstance(each, dict | bool) for each in value), "a schema or a list of schemas"
    else:
        check_value, wanted = CHECKS.get(keyword, (lambda _: True, ""))
        valid = check_value(value)
    if not valid:
        hint = HINTS.get((keyword, type(value)))
        raise CatalogFault(f"`{keyword}` is {wanted}, not {shown(value)}", pointer=pointer, hint=hint)
    _check_patterns(keyword, value, pointer)


def _check_known(keyword: str, value: Json, pointer: str, dialect: Dialect) -> None:
    if keyword in REFUSED:
        raise CatalogFault(f"`{keyword}` is not supported", pointer=pointer, hint=REFUSED[keyword])
    if keyword in ("$schema", "$id") and pointer.count("/") > 1:
        raise CatalogFault(f"`{keyword}` is allowed at the root only", pointer=pointer, hint="Leave it out.")
    only, hint = ONLY_IN.get(keyword, (dialect, ""))
    if only != dialect:
        raise CatalogFault(f"`{keyword}` means nothing in {dialect}", pointer=pointer, hint=hint)
    if keyword in CHECKS or keyword in OTHER_ANNOTATIONS or keyword in WORDS:
        return
    if keyword.startswith("x-"):
        _check_annotation(keyword, value, pointer)
        return
    if near := nearest(keyword, CHECKS):
        hint = f"Did you mean `{near}`? A validator ignores unknown keywords, so it would check nothing."
        raise CatalogFault(f"unknown keyword {shown(keyword)}", pointer=pointer, hint=hint)


def _check_annotation(keyword: str, value: Json, pointer: str) -> None:
    """An annotation of somebody else means what it likes, but a slip in the one that masks would mask nothing."""
    if isinstance(value, bool) and nearest(keyword, MARKS):
        hint = "Another word masks nothing."
        raise CatalogFault(
            f"unknown annotation {shown(keyword)}; did you mean `x-sensitive`?", pointer=pointer, hint=hint
        )


def _check_unique(node: JsonObject, above: str) -> None:
    """A schema promises no list that is never compared."""
    for keyword in ("minItems", "maxItems"):
        if node.get(keyword, 0) > MAX_UNIQUE:
            raise CatalogFault(
                f"`uniqueItems` compares at most {MAX_UNIQUE:,} items, and `{keyword}` says {shown(node[keyword])}",
                pointer=f"{above}/{keyword}",
                hint=f"Write at most {MAX_UNIQUE}, or leave `uniqueItems` out and compare in a business check.",
            )


def _check_patterns(keyword: str, value: Json, pointer: str) -> None:
    patterns = {"": value} if keyword == "pattern" else {}
    if keyword == "patternProperties":
        patterns = {to_pointer([each]): each for each in value}
    for place, pattern in patterns.items():
        try:
            compile_pattern(pattern)
        except PatternRefused as refused:
            raise CatalogFault(
                f"the pattern {shown(pattern)}: {refused.message} (character {refused.at + 1})",
                pointer=pointer + place,
                hint=refused.hint,
            ) from None
