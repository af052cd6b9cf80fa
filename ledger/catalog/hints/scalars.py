"""Hints that stand for one JSON scalar: plain types, dates, ids, enums, literals."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import Path as FilePath
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

from ledger.catalog.equality import key_of
from ledger.catalog.hints.base import Build, Hint, NoSchema, Path, as_is, expected
from ledger.catalog.words import listed
from ledger.strictjson import Json, JsonObject


def _exactly(kind: type, name: str) -> Build:
    def build(value: Json, path: Path) -> Any:
        if type(value) is kind:
            return value
        raise expected(value, path, name)

    return build


_EXACT: Final = 2.0**53


def _integer(value: Json, path: Path) -> int:
    """A whole float is an integer to JSON Schema; a function that asks for int gets an int."""
    if type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        if abs(value) >= _EXACT and Decimal(repr(value)) != int(value):  # 1e23 is the double 99999999999999991611392
            raise expected(value, path, "an integer without an exponent")
        return int(value)
    raise expected(value, path, "an integer")


def _number(value: Json, path: Path) -> float:
    """An int stays an int: as a float it would lose digits above 2^53, and Python takes it for a float anyway."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise expected(value, path, "a number")


def _parsed(parse: Callable[[str], Any], name: str, spelled: str = "") -> Build:
    """Python reads more spellings than a schema means (`1_000`, `20260131`); in a union another option has them."""
    fits = re.compile(spelled).match

    def build(value: Json, path: Path) -> Any:
        if isinstance(value, str) and fits(value):
            try:
                return parse(value)
            except ValueError:
                pass
        raise expected(value, path, name)

    return build


_DECIMAL: Final = r"^-?[0-9]{1,400}(\.[0-9]{1,400})?$"
_DAY: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"

SCALARS: Final[dict[Any, tuple[JsonObject, Build]]] = {
    str: ({"type": "string"}, _exactly(str, "a string")),
    bool: ({"type": "boolean"}, _exactly(bool, "true or false")),
    int: ({"type": "integer"}, _integer),
    float: ({"type": "number"}, _number),
    None: ({"type": "null"}, _exactly(type(None), "null")),
    type(None): ({"type": "null"}, _exactly(type(None), "null")),
    datetime: (
        {"type": "string", "format": "date-time"},
        _parsed(datetime.fromisoformat, "a date and time (ISO 8601)", _DAY),
    ),
    date: ({"type": "string", "format": "date"}, _parsed(date.fromisoformat, "a date (YYYY-MM-DD)", _DAY)),
    time: ({"type": "string", "format": "time"}, _parsed(time.fromisoformat, "a time (HH:MM:SS)", "[0-9]{2}:[0-9]{2}")),
    UUID: ({"type": "string", "format": "uuid"}, _parsed(UUID, "a UUID")),
    Decimal: (
        {"type": "string", "pattern": _DECIMAL},
        _parsed(Decimal, 'a decimal number as a string ("19.99")', _DECIMAL.replace("$", r"\Z")),
    ),
    FilePath: ({"type": "string"}, _parsed(FilePath, "a path")),
    PurePath: ({"type": "string"}, _parsed(PurePath, "a path")),
    Any: ({}, as_is),
    object: ({}, as_is),
}
"""By hint: the schema and the builder."""

_JSON_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def choice_hint(pairs: list[tuple[Any, Json]], what: str) -> Hint:
    """Return the hint of a closed set: each Python value with the JSON it is sent as."""
    for _, sent in pairs:
        if type(sent) not in _JSON_TYPES:
            raise NoSchema(f"{what} has a value that is no JSON scalar")
    by_key = {key_of(sent): value for value, sent in pairs}
    choices = [sent for _, sent in pairs]
    types = list(dict.fromkeys(_JSON_TYPES[type(sent)] for sent in choices))
    schema: JsonObject = {"type": types[0]} if len(types) == 1 else {}

    def build(value: Json, path: Path) -> Any:
        try:
            return by_key[key_of(value)]
        except (KeyError, TypeError, ValueError):
            raise expected(value, path, f"one of {listed(choices)}") from None

    return Hint({**schema, "enum": choices}, build)


def enum_hint(kind: type[Enum]) -> Hint:
    """Return the hint of an Enum: the model sends the value, the function gets the member."""
    return choice_hint([(member, member.value) for member in kind], f"the enum {kind.__name__}")
