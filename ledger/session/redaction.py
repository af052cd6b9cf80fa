"""Sensitive values never reach the disk: redacted by the schema's own words before anything is recorded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from ledger.catalog.patterns import PatternRefused, PatternTooCostly, compile_pattern
from ledger.events.fields import fields_of
from ledger.strictjson import JsonObject, canonical, resolve

T = TypeVar("T")

MASK: Final = "[redacted]"
_KEPT: Final = ("digest", "key", "_id", "_of", "_at", "worker", "owner", "validator", "deadline")
_SHORTEST: Final = 4
"""Shorter secrets are masked at their place only: replacing them everywhere would hide ordinary text."""


def sensitive(schema: Any, arguments: Any) -> tuple[Any, tuple[str, ...]]:
    """
    Return the arguments with every value masked whose schema says `x-sensitive` or `writeOnly`, and the secrets.

    Follows every keyword that applies a schema to a part of the arguments, whether its condition holds or not: a word
    too much hides a value, a word too little would write a secret to the disk. No secrets: the arguments themselves
    are returned.
    """
    if not has_sensitive(schema):
        return arguments, ()
    secrets: list[str] = []
    masked = _mask(schema, schema, arguments, secrets, set())
    return (masked, tuple(secrets)) if masked is not arguments else (arguments, ())


def _mask(root: Any, schema: Any, value: Any, secrets: list[str], seen: set[int]) -> Any:
    """Return a value masked; `seen` are the schemas that were applied to it already: references may go in circles."""
    if not isinstance(schema, dict) or value is MASK or id(schema) in seen:
        return value
    seen.add(id(schema))
    if schema.get("x-sensitive") is True or schema.get("writeOnly") is True:
        secrets.extend(_texts(value))
        return MASK
    for other in _branches(root, schema):
        value = _mask(root, other, value, secrets, seen)
    if isinstance(value, dict):
        found = {key: _each(root, _of_property(schema, key), item, secrets) for key, item in value.items()}
        return found if any(found[key] is not value[key] for key in value) else value
    if isinstance(value, list):
        items = [_each(root, _of_item(schema, at), item, secrets) for at, item in enumerate(value)]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def _each(root: Any, schemas: Iterator[Any], value: Any, secrets: list[str]) -> Any:
    seen: set[int] = set()
    for schema in schemas:
        value = _mask(root, schema, value, secrets, seen)
    return value


def _of_property(schema: JsonObject, key: str) -> Iterator[Any]:
    """Yield the schemas of an object's member."""
    named = key in schema.get("properties", ())
    if named:
        yield schema["properties"][key]
    for pattern, other in schema.get("patternProperties", {}).items():
        if _names(pattern, key):
            named = True
            yield other
    if not named:
        yield schema.get("additionalProperties", schema.get("unevaluatedProperties"))


def _names(pattern: str, key: str) -> bool:
    """Whether a pattern names this key; one that nobody can tell of does: a value too much is hidden then."""
    try:
        return compile_pattern(pattern).search(key)
    except (PatternRefused, PatternTooCostly):
        return True


def _of_item(schema: JsonObject, at: int) -> Iterator[Any]:
    """Yield the schemas of a list's item; `items` may be a list of them (draft 7)."""
    yield schema.get("contains")
    first, rest = schema.get("prefixItems", ()), schema.get("items", schema.get("unevaluatedItems"))
    if isinstance(rest, list):
        first, rest = rest, schema.get("additionalItems")
    yield first[at] if at < len(first) else rest


def _branches(root: Any, schema: JsonObject) -> Iterator[Any]:
    """Yield the schemas that apply at the same place."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        with suppress(LookupError, ValueError):
            yield resolve(root, unquote(reference[1:]))
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword, ())
    for keyword in ("if", "then", "else", "not"):
        yield schema.get(keyword)
    for keyword in ("dependentSchemas", "dependencies"):
        yield from schema.get(keyword, {}).values()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def has_sensitive(schema: Any) -> bool:
    """Return whether a schema calls any place sensitive: then a text that cannot be decoded may hold a secret."""
    known = _LOOKED_AT.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_LOOKED_AT) >= _MOST:
            _LOOKED_AT.clear()
        text = canonical(schema)
        known = _LOOKED_AT[id(schema)] = schema, b'"x-sensitive":true' in text or b'"writeOnly":true' in text
    return known[1]


_LOOKED_AT: Final[dict[int, tuple[Any, bool]]] = {}
"""Schemas that were looked at, kept so that their ids stay theirs: every call of a tool asks anew."""
_MOST: Final = 1024


def scrub_body(body: T, secrets: tuple[str, ...]) -> T:
    """Return an event's body with every secret masked in it; digests, ids, times and closed words stay."""
    changes = {
        field.name: scrub(getattr(body, field.name), secrets)
        for field in fields_of(type(body))
        if not field.choices and not field.name.endswith(_KEPT)
    }
    return dataclasses.replace(body, **changes)  # type: ignore[type-var]  # every body is a dataclass


def scrub(value: Any, secrets: tuple[str, ...]) -> Any:
    """Return the value with every secret masked in its texts and keys (a tool may repeat what it was given)."""
    found = sorted((s for s in secrets if len(s) >= _SHORTEST), key=len, reverse=True)
    return _scrub(value, found) if found else value


def _scrub(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, list | tuple):
        return type(value)(_scrub(item, secrets) for item in value)
    if isinstance(value, dict):
        return {_scrub(key, secrets): _scrub(item, secrets) for key, item in value.items()}
    if isinstance(value, int | float) and not isinstance(value, bool) and str(value) in secrets:
        return MASK
    return value
