"""Python names to wire names and back: one place, driven by the dataclasses themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_PLAIN = (str, bool, int, float)


class WireError(ValueError):
    """A recorded body does not fit its class; the message says where."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its two names, its default (`MISSING` = required) and what its value may be."""

    name: str
    key: str
    default: Any
    kinds: tuple[type, ...]  # allowed Python types on the wire; empty: any JSON
    choices: frozenset[str]
    nullable: bool
    items: type | None  # of a tuple: the type of its items (None: any JSON)

    @property
    def required(self) -> bool:
        return self.default is dataclasses.MISSING


def camel(name: str) -> str:
    """Return `schemaVersion` for `schema_version`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


@cache
def fields_of(cls: type) -> tuple[Field, ...]:
    """Return the wire fields of a body class, in the order of the class."""
    hints = get_type_hints(cls)
    return tuple(_field(f, hints[f.name]) for f in dataclasses.fields(cls))


def _field(field: dataclasses.Field[Any], hint: Any) -> Field:
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    nullable = NoneType in options
    (core,) = [option for option in options if option is not NoneType]
    kinds: tuple[type, ...] = ()
    choices: frozenset[str] = frozenset()
    items: type | None = None
    origin = get_origin(core)
    if origin is Literal:
        kinds, choices = (str,), frozenset(get_args(core))
    elif origin is tuple:
        kinds = (list, tuple)
        item = get_args(core)[0]
        items = item if item in _PLAIN else None
    elif origin is dict:
        kinds = (dict,)
    elif core is float:
        kinds = (float, int)
    elif core in _PLAIN:
        kinds = (core,)
    return Field(field.name, camel(field.name), field.default, kinds, choices, nullable or not kinds, items)


def to_wire(body: Any) -> dict[str, Any]:
    """Return the body as a JSON object; what equals the class default is left out."""
    wire = {}
    for field in fields_of(type(body)):
        value = getattr(body, field.name)
        if value is not field.default:
            wire[field.key] = value
    return wire


def from_wire(cls: type[T], wire: Mapping[str, Any]) -> T:
    """
    Build a body from its JSON object; absent keys read as the class defaults, unknown keys are passed over.

    Raises `WireError` naming the key where a required one is missing or a value has another type.
    """
    values: dict[str, Any] = {}
    for field in fields_of(cls):
        if field.key in wire:
            values[field.name] = _value(field, wire[field.key])
        elif field.required:
            raise WireError(f"{field.key} is missing")
    return cls(**values)


def _value(field: Field, value: Any) -> Any:
    if value is None and field.nullable:
        return None
    if field.kinds:
        if not isinstance(value, field.kinds) or (isinstance(value, bool) and bool not in field.kinds):
            raise WireError(f"{field.key} has the type {type(value).__name__}")
        if field.choices and value not in field.choices:
            raise WireError(f"{field.key} has the unknown value {value[:40]!r}")
    if list in field.kinds:
        if field.items is not None and not all(isinstance(item, field.items) for item in value):
            raise WireError(f"{field.key} has an item of another type")
        return tuple(value)
    return value
