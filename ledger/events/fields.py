"""Python names to wire names and back: one place, driven by the dataclasses themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_PLAIN: Final = (str, bool, int, float)


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
    taken: frozenset[type]  # types whose every value is taken as it is

    @property
    def required(self) -> bool:
        """Whether the field has no default."""
        return self.default is dataclasses.MISSING


@dataclass(frozen=True, slots=True)
class Plan:
    """What reading and writing one class needs, worked out once: a session is thousands of events."""

    by_key: Mapping[str, Field]
    required: frozenset[str]
    fields: tuple[Field, ...]
    values: Callable[[Any], tuple[Any, ...]]


_PLANS: Final[dict[type, Plan]] = {}


def camel(name: str) -> str:
    """Return `schemaVersion` for `schema_version`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def fields_of(cls: type) -> tuple[Field, ...]:
    """Return the wire fields of a body class, in the order of the class."""
    hints = get_type_hints(cls)
    return tuple(_field(f, hints[f.name]) for f in dataclasses.fields(cls))


def _field(field: dataclasses.Field[Any], hint: Any) -> Field:
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    nullable = NoneType in options
    (core,) = (option for option in options if option is not NoneType)
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
    nullable = nullable or not kinds
    taken = frozenset() if choices or list in kinds else frozenset(kinds)
    return Field(field.name, camel(field.name), field.default, kinds, choices, nullable, items, taken)


def plan_of(cls: type) -> Plan:
    """Return the plan of a body class."""
    return _PLANS.get(cls) or _planned(cls)


def _planned(cls: type) -> Plan:
    fields = fields_of(cls)
    _PLANS[cls] = plan = Plan(
        by_key={field.key: field for field in fields},
        required=frozenset(field.key for field in fields if field.required),
        fields=fields,
        values=values_of([field.name for field in fields]),
    )
    return plan


def values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that reads these attributes of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    read = attrgetter(*names)  # of one name it gives the bare value
    return lambda body: (read(body),)


def to_wire(body: Any) -> dict[str, Any]:
    """
    Return the body as a JSON object; what equals the class default is left out.

    Equal as JSON is: 1, 1.0 and true differ. So one body has one form, however its values came to be. Raises
    `WireError` where `from_wire` would: what could not be read again is never written.
    """
    plan = plan_of(type(body))
    return {
        field.key: value if type(value) in field.taken else _value(field, value)
        for field, value in zip(plan.fields, plan.values(body), strict=True)
        if value is not field.default and (value != field.default or type(value) is not type(field.default))
    }


def fits(body: Any) -> bool:
    """Return whether every value of a body is of the kind that its field takes."""
    try:
        to_wire(body)
    except WireError:
        return False
    return True


def from_wire(cls: type[T], wire: Mapping[str, Any]) -> T:
    """
    Build a body from its JSON object; absent keys read as the class defaults, unknown keys are passed over.

    Raises `WireError` naming the key where a required one is missing or a value has another type.
    """
    plan = plan_of(cls)
    values: dict[str, Any] = {}
    for key, value in wire.items():
        if field := plan.by_key.get(key):
            values[field.name] = value if type(value) in field.taken else _value(field, value)
    if not plan.required <= wire.keys():
        raise WireError(f"{min(plan.required - wire.keys())} is missing")
    body = object.__new__(cls)  # three times faster than the constructor; the class itself holds its defaults
    object.__setattr__(body, "__dict__", values)
    return body


def _value(field: Field, value: Any) -> Any:
    kinds = field.kinds
    if not kinds or (value is None and field.nullable):
        return value
    if type(value) not in kinds:  # exactly: true is no number
        raise WireError(f"{field.key} has the type {type(value).__name__}")
    if field.choices and value not in field.choices:
        raise WireError(f"{field.key} has the unknown value {value[:40]!r}")
    if list not in kinds:
        return value
    if field.items is not None and not all(type(item) is field.items for item in value):
        raise WireError(f"{field.key} has an item of another type")
    return tuple(value)
