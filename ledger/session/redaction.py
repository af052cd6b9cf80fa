"""Sensitive values never reach the disk: redacted by the schema's own words before anything is recorded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, TypeVar

from ledger.events.fields import fields_of
from ledger.strictjson import JsonObject, canonical

T = TypeVar("T")

MASK: Final = "[redacted]"
_KEPT: Final = ("digest", "key", "_id", "_of", "_at", "worker", "owner", "validator", "deadline")
_SHORTEST: Final = 4
"""Shorter secrets are masked at their place only: replacing them everywhere would hide ordinary text."""


def sensitive(schema: Any, arguments: Any) -> tuple[Any, tuple[str, ...]]:
    """
    Return the arguments with every value masked whose schema says `x-sensitive` or `writeOnly`, and the secrets.

    Follows properties, items, local references and combinators; no secrets: the arguments themselves are returned.
    """
    secrets: list[str] = []
    masked = _mask(schema, schema, arguments, secrets, 0)
    return (masked, tuple(secrets)) if masked is not arguments else (arguments, ())


def _mask(root: Any, schema: Any, value: Any, secrets: list[str], depth: int) -> Any:
    if not isinstance(schema, dict) or depth > 64:  # noqa: PLR2004 - the border's own limit
        return value
    if schema.get("x-sensitive") is True or schema.get("writeOnly") is True:
        secrets.extend(_texts(value))
        return MASK
    for other in _branches(root, schema):
        value = _mask(root, other, value, secrets, depth + 1)
    if isinstance(value, dict):
        return _mask_object(root, schema, value, secrets, depth)
    if isinstance(value, list) and "items" in schema:
        items = [_mask(root, schema["items"], item, secrets, depth + 1) for item in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def _mask_object(root: Any, schema: Any, value: JsonObject, secrets: list[str], depth: int) -> JsonObject:
    properties = schema.get("properties") or {}
    rest = schema.get("additionalProperties")
    found = {key: _mask(root, properties.get(key, rest), item, secrets, depth + 1) for key, item in value.items()}
    return found if any(found[key] is not value[key] for key in value) else value


def _branches(root: Any, schema: JsonObject) -> Iterator[Any]:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target = root
        for part in reference[2:].split("/"):
            target = target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        yield target
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword, ())
    for keyword in ("if", "then", "else"):
        if keyword in schema:
            yield schema[keyword]


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


@cache
def _names_secrets(schema: bytes) -> bool:
    return b'"x-sensitive":true' in schema or b'"writeOnly":true' in schema


def has_sensitive(schema: Any) -> bool:
    """Return whether a schema calls any place sensitive: then a text that cannot be decoded may hold a secret."""
    return _names_secrets(canonical(schema))


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
