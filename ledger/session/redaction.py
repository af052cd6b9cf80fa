"""Sensitive values never reach the disk: redacted by the schema's own words before anything is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final
from urllib.parse import unquote

from ledger.catalog import Violation
from ledger.catalog.patterns import PatternRefused, PatternTooCostly, compile_pattern
from ledger.strictjson import JsonObject, canonical, from_pointer, resolve, to_pointer

MASK: Final = "[redacted]"
NO_TEXT: Final = ("",)
"""The secrets of what was masked and has no text that could be found elsewhere: true, null, nothing at all."""
_WITHOUT_A_QUOTE: Final = (
    "invalid_json",
    "trailing_data",
    "too_deep",
    "too_large",
    "not_an_object",
    "missing_arguments",
)
"""What decoding refuses in words that quote nothing of the text."""
UNSHOWN: Final = "It is no strict JSON, and may hold sensitive values, so the place is not shown."
_NAMED_BY_THE_SCHEMA: Final = ("required", "dependentRequired", "dependencies")


def sensitive(schema: Any, arguments: Any) -> tuple[Any, tuple[str, ...]]:
    """
    Return the arguments with every value masked whose schema says `x-sensitive` or `writeOnly`, and the secrets.

    Follows every keyword that applies a schema to a part of the arguments, whether its condition holds or not: a word
    too much hides a value, a word too little would write a secret to the disk. An object whose names are sensitive
    (`propertyNames`) is masked whole. No secrets: the arguments themselves are returned; arguments that are masked as a
    whole stay an object.
    """
    if not has_sensitive(schema):
        return arguments, ()
    secrets: list[str] = []
    masked = _mask(schema, schema, arguments, secrets, set())
    if masked is arguments:
        return arguments, ()
    if masked is MASK and isinstance(arguments, dict):
        masked = {MASK: MASK}
    return masked, tuple(dict.fromkeys(secrets)) or NO_TEXT


def _mask(root: Any, schema: Any, value: Any, secrets: list[str], seen: set[int]) -> Any:
    """Return a value masked; `seen` are the schemas that were applied to it already: references may go in circles."""
    if not isinstance(schema, dict) or value is MASK or id(schema) in seen:
        return value
    seen.add(id(schema))
    masked = _inside(root, schema, value, secrets, seen)
    if schema.get("x-sensitive") is True or schema.get("writeOnly") is True:
        secrets.extend(texts_of(value))
        return MASK
    return masked


def _inside(root: Any, schema: JsonObject, value: Any, secrets: list[str], seen: set[int]) -> Any:
    """Return a value masked by what its schema says of its parts."""
    for other in _branches(root, schema):
        value = _mask(root, other, value, secrets, seen)
    if isinstance(value, dict):
        if names := _secret_names(root, schema, value):
            secrets.extend((*names, *texts_of(value)))
            return MASK
        found = {key: _each(root, _of_property(schema, key), item, secrets) for key, item in value.items()}
        return found if any(found[key] is not value[key] for key in value) else value
    if isinstance(value, list):
        items = [_each(root, _of_item(schema, at), item, secrets) for at, item in enumerate(value)]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def _secret_names(root: Any, schema: JsonObject, value: JsonObject) -> list[str]:
    """Return those names of an object that its schema calls sensitive; the declared ones are no secret."""
    names = schema.get("propertyNames")
    if not isinstance(names, dict):
        return []
    undeclared = [key for key in value if key not in schema.get("properties", ())]
    return [key for key in undeclared if _mask(root, names, key, [], set()) is MASK]


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
        yield schema.get("additionalProperties")
        yield schema.get("unevaluatedProperties")


def _names(pattern: str, key: str) -> bool:
    """Whether a pattern names this key; one that nobody can tell of does: a value too much is hidden then."""
    try:
        return compile_pattern(pattern).search(key)
    except (PatternRefused, PatternTooCostly):
        return True


def _of_item(schema: JsonObject, at: int) -> Iterator[Any]:
    """Yield the schemas of a list's item; `items` may be a list of them (draft 7)."""
    yield schema.get("contains")
    first, rest = schema.get("prefixItems", ()), schema.get("items")
    if isinstance(rest, list):
        first, rest = rest, None
    if at < len(first):
        yield first[at]
    else:
        yield from (rest, schema.get("additionalItems"), schema.get("unevaluatedItems"))


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


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts and numbers of a value, as texts: by these a secret is found elsewhere."""
    if isinstance(value, dict):
        for item in value.values():
            yield from texts_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
        if isinstance(value, float) and value.is_integer():
            yield str(int(value))


def hidden(violation: Violation, masked: Any) -> Violation:
    """
    Return a violation as it may be recorded: nothing of a sensitive value in its words, no sensitive name in its place.

    *masked* are the arguments as they are recorded, of which something is masked. A name that the schema itself
    requires may be told; the words about a place that was cut may not, since nobody knows whose they are.
    """
    path: list[str] = []
    steps = from_pointer(violation.pointer)
    if masked == {MASK: MASK}:
        masked = MASK
    for step in steps:
        if masked == MASK or not isinstance(masked, dict | list) or (isinstance(masked, dict) and step not in masked):
            break
        path.append(step)
        masked = masked[step] if isinstance(masked, dict) else masked[int(step)]
    if masked != MASK and not violation.cut:
        return violation
    if violation.keyword in _NAMED_BY_THE_SCHEMA and len(steps) == len(path) + 1:
        return violation
    message = f"does not fit `{violation.keyword}`; a sensitive value is not shown"
    return Violation(to_pointer(path), violation.keyword, message)


def alike(first: Any, second: Any) -> bool:
    """Whether two arguments may be the same, where what is masked in one of them may be any value."""
    masked = (MASK, {MASK: MASK})
    if first in masked or second in masked:
        return True
    if isinstance(first, dict) and isinstance(second, dict):
        return _alike_objects(first, second)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, str) and isinstance(second, str):
        return first == second or _fits(first, second) or _fits(second, first)
    return canonical(first) == canonical(second)


def _alike_objects(first: JsonObject, second: JsonObject) -> bool:
    """The same of two objects: names may be masked as well, and then nobody knows which member is which."""
    both = first.keys() & second.keys()
    if not all(alike(first[key], second[key]) for key in both):
        return False
    left, right = first.keys() - both, second.keys() - both
    pairs = ((left, right), (right, left))
    return all(any(_fits(key, name) or _fits(name, key) for name in others) for keys, others in pairs for key in keys)


def _fits(masked: str, text: str) -> bool:
    """Whether a text may be one in which secrets were masked: all that is left of it is there, in its order."""
    if MASK not in masked:
        return False
    head, *parts, tail = masked.split(MASK)
    at, end = len(head), len(text) - len(tail)
    if at > end or not text.startswith(head) or not text.endswith(tail):
        return False
    for part in parts:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


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


def quotes(schema: Any, code: str, pointer: str | None) -> bool:
    """
    Return whether what decoding says of a text may quote a secret: a key or a number of it.

    Nobody knows where the sensitive places of a text are that could not be decoded.
    """
    return has_sensitive(schema) and (code not in _WITHOUT_A_QUOTE or bool(pointer))
