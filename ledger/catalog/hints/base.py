"""What a type hint gives: a schema for the model, and a builder from the validated JSON to the Python value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import Any, Final, Protocol, TypeAlias
from uuid import UUID

from ledger.errors import LedgerError
from ledger.strictjson import Json, JsonObject, canonical, to_pointer

Path: TypeAlias = tuple[str | int, ...]
Build: TypeAlias = Callable[[Json, Path], Any]


class ArgumentsUnfit(LedgerError):
    """
    Arguments fit the schema, but a type of the function does not take them; `pointer` names the argument.

    `faults`: how many there are, of which this is one.
    """

    default_code = "schema_validation"

    def __init__(self, path: Path, message: str, faults: int = 1) -> None:
        self.pointer = to_pointer(path)
        self.faults = faults
        super().__init__(f"{self.pointer or '/'}: {message}")


class NoSchema(TypeError):
    """A type hint that says nothing about JSON; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Hint:
    """The schema of a type (references into the root's `$defs`), and how its values are built."""

    schema: JsonObject
    build: Build


class Reader(Protocol):
    """Reads hints inside hints; collects what belongs to the whole schema."""

    definitions: JsonObject
    runs_user_code: bool

    def hint(self, annotation: Any) -> Hint:
        """Return schema and builder of a resolved hint; raises NoSchema."""
        ...


@dataclass(slots=True)
class Shared:
    """What one reading of a function's hints collects."""

    definitions: JsonObject = field(default_factory=dict)
    runs_user_code: bool = False


def as_is(value: Json, _path: Path) -> Any:
    """Build nothing: the JSON value is the Python value."""
    return value


def expected(value: Json, path: Path, wanted: str) -> ArgumentsUnfit:
    """Return the error for a value of another type."""
    return ArgumentsUnfit(path, f"expected {wanted}, got {type(value).__name__}")


NO_JSON: Final = object()
"""Stands for: this default cannot be shown to a model."""


def default_as_json(value: Any) -> Json:
    """Return a Python default as the JSON a model would send for it, or NO_JSON."""
    if isinstance(value, Enum):
        return default_as_json(value.value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else NO_JSON
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, UUID | Decimal | PurePath):
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        entries = [default_as_json(each) for each in value]
        return NO_JSON if NO_JSON in entries else in_order(value, entries)
    return _object_as_json(value)


def _object_as_json(value: Any) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    elif hasattr(value, "model_dump"):
        return in_order(value, value.model_dump(mode="json"))
    if not isinstance(value, Mapping):
        return NO_JSON
    entries = {name: default_as_json(each) for name, each in value.items()}
    return NO_JSON if any(each is NO_JSON for each in entries.values()) else entries


def in_order(value: Any, sent: Json) -> Json:
    """
    Return *sent*, the JSON of *value*, with the entries of sets in one order: numbers by size, then all else.

    Python's own order of a set of texts is another one in each process; so would be the schema.
    """
    if isinstance(value, set | frozenset) and isinstance(sent, list):
        return sorted(sent, key=_place)
    if hasattr(value, "model_dump"):
        value = value.model_dump()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, list | tuple) and isinstance(sent, list):
        return [in_order(each, below) for each, below in zip(value, sent, strict=False)]
    if isinstance(value, Mapping) and isinstance(sent, dict):
        return {name: in_order(value.get(name), below) for name, below in sent.items()}
    return sent


def _place(sent: Json) -> tuple[bool, float, bytes]:
    number = isinstance(sent, int | float)
    return not number, sent if number else 0, canonical(sent)


def object_schema(fields: Mapping[str, JsonObject], required: list[str]) -> JsonObject:
    """Return the closed schema of an object."""
    schema: JsonObject = {"type": "object", "properties": dict(fields), "additionalProperties": False}
    return {**schema, "required": required} if required else schema
