"""
Which resources a call touches, so that conflicting calls of one turn are not run at the same time.

Three spellings in a contract: `workspace` is a constant; `/path` is a pointer into the arguments and makes
`path:VALUE`; `file:{path}` is a template, filled with arguments (`{target/id}` reaches into an object). A list of
scalars makes one key for each entry. Keys are compared as texts: two spellings of one path are two keys, so a tool on
files gives a function instead (`resource_keys=`) that resolves its paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, Final, TypeAlias

from ledger.catalog.words import shown
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, canonical, check, resolve

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
    return value if isinstance(value, str) else canonical(value).decode()
