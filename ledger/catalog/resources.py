"""
Which resources a call touches, so that conflicting calls of one turn are not run at the same time.

Three spellings in a contract: `workspace` is a constant; `/path` is a pointer into the arguments and makes
`path:VALUE`; `file:{path}` is a template, filled with arguments (`{target/id}` reaches into an object). A list of
scalars makes one key for each entry. Keys are compared as texts, 7.0 as 7: two spellings of one path are two keys, so a
tool on files gives a function instead (`resource_keys=`) that resolves its paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, Final, TypeAlias

from ledger.catalog.equality import whole
from ledger.catalog.guard import Guarded
from ledger.catalog.references import in_place
from ledger.catalog.words import listed, meant, shown
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, canonical, check, from_pointer, resolve, to_pointer

KeysFunction: TypeAlias = Callable[[JsonObject], Any]

MAX_KEYS: Final = 1_000
_PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")


class _Unknown(Exception):
    """The arguments do not say which resource."""


def keys_of(
    templates: tuple[str, ...] | None, function: KeysFunction | None, arguments: JsonObject
) -> frozenset[str] | None:
    """
    Return the keys of a call with these arguments, or None: unknown, which conflicts with everything.

    *function* wins over *templates* and gets a copy; whatever it raises or returns that is no list of texts is unknown.
    """
    try:
        if function is not None:
            return checked_keys(function(check(arguments)))
        if templates is None:
            return None
        return checked_keys(key for template in templates for key in _filled(template, arguments))
    except Exception:  # noqa: BLE001 - user code, or arguments that lack the field: the cautious answer is "unknown"
        return None


def check_template(template: str, *, path: str = "", pointer: str = "") -> None:
    """Raise CatalogFault if *template* has a brace that is no placeholder."""
    if not template.startswith("/") and set("{}") & set(_PLACEHOLDER.sub("", template)):
        hint = "Write a constant, `/pointer`, or a template such as `file:{path}`."
        raise CatalogFault(
            f"the resource key {shown(template)} has a stray brace", path=path, pointer=pointer, hint=hint
        )


def check_reach(templates: Iterable[str] | None, guarded: Guarded, *, path: str = "", pointer: str = "") -> None:
    """Raise CatalogFault if a template names a place that this schema does not know, where it knows others."""
    for template in templates or ():
        pointers = [template] if template.startswith("/") else [f"/{each}" for each in _PLACEHOLDER.findall(template)]
        for each in pointers:
            try:
                steps = from_pointer(each)
            except LookupError as error:
                raise CatalogFault(f"the resource key {shown(template)}: {error}", path=path, pointer=pointer) from None
            _follow(template, steps, guarded, (path, pointer))


def _follow(template: str, steps: tuple[str, ...], guarded: Guarded, place: tuple[str, str]) -> None:
    here = {""}
    for step in steps:
        here = _in_place(guarded, here)
        declared = {name for each in here for name in _fields(guarded.nodes[each])}
        if step in declared:
            here = {f"{at}{to_pointer(['properties', step])}" for at in here if step in _fields(guarded.nodes[at])}
        elif any(
            step in _required(guarded.nodes[each]) or _may_have_more(guarded.nodes[each], declared=bool(declared))
            for each in here
        ):
            return
        else:
            message = f"the resource key {shown(template)} names no property of the schema{meant(step, declared)}"
            there = f"There is {listed(sorted(declared))}. " if declared else ""
            hint = f"{there}A constant has no slash in front and no braces."
            raise CatalogFault(message, path=place[0], pointer=place[1], hint=hint)


def _in_place(guarded: Guarded, start: set[str]) -> set[str]:
    """Return the schemas that look at the same value as these."""
    seen, waiting = set(start), list(start)
    while waiting:
        pointer = waiting.pop()
        node = guarded.nodes[pointer]
        after = set(in_place(pointer, node, guarded.dialect)) - seen if isinstance(node, dict) else set()
        seen |= after
        waiting.extend(after)
    return seen


def _fields(node: Json) -> JsonObject:
    return node.get("properties", {}) if isinstance(node, dict) else {}


def _required(node: Json) -> Json:
    return node.get("required", ()) if isinstance(node, dict) else ()


def _may_have_more(node: Json, *, declared: bool) -> bool:
    """Whether a schema lets an undeclared member be: it says so, or nothing at all of what it takes."""
    if not isinstance(node, dict):
        return node is True and not declared
    rest = node.get("additionalProperties", node.get("unevaluatedProperties"))
    if rest not in (None, False) or any(keyword in node for keyword in ("patternProperties", "items", "prefixItems")):
        return True
    types = node.get("type", "object")
    return not declared and rest is None and ("object" in types or "array" in types)


def checked_keys(keys: Any) -> frozenset[str] | None:
    """Return what a keys function answered as a set: one text is one key; what is no list of texts is unknown."""
    if isinstance(keys, str):
        keys = [keys]
    if not isinstance(keys, Iterable):
        return None
    known: set[str] = set()
    for key in keys:
        if not isinstance(key, str) or len(known) >= MAX_KEYS:
            return None
        known.add(key)
    return frozenset(known)


def _filled(template: str, arguments: JsonObject) -> Iterator[str]:
    if template.startswith("/"):
        yield from (f"{template[1:]}:{value}" for value in _values(template, arguments))
        return
    names = _PLACEHOLDER.findall(template)
    for values in product(*(_values(f"/{name}", arguments) for name in names)):
        remaining = iter(values)
        yield _PLACEHOLDER.sub(lambda _: next(remaining), template)  # noqa: B023 - used up before the next round


def _values(pointer: str, arguments: JsonObject) -> list[str]:
    try:
        value = resolve(arguments, pointer)
    except LookupError:
        raise _Unknown from None
    entries = value if isinstance(value, list) else [value]
    return [_text(entry) for entry in entries]


def _text(value: Json) -> str:
    if value is None:
        raise _Unknown
    return value if isinstance(value, str) else canonical(whole(value)).decode()
