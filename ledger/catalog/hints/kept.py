"""Whether all that was sent arrived: pydantic may drop a field, and Python holds some different values for equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from ledger.catalog.hints.base import ArgumentsUnfit, Path
from ledger.strictjson import Json

MERGED: Final = "has entries that are one and the same to the type that it is built as; send one of them"
_EXACT: Final = 2**53
"""Beyond it a float does not hold every integer."""
_KINDS: Final = {str: "string", bool: "boolean", int: "number", float: "number"}


def check_kept(value: Json, built: Any, path: Path, *, first_wins: bool) -> None:
    """
    Raise ArgumentsUnfit where *built*, made of *value* by pydantic, merged two entries or rounded a number.

    *first_wins*: a union in there takes the first option that pydantic can bring the value into; then also where that
    option does not know a field, or made another kind of scalar. Else another class is the host's validators' work.
    """
    made = type(built)
    if made in _KINDS:
        _check_scalar(value, built, path, first_wins=first_wins)
    elif getattr(made, "__pydantic_root_model__", False):
        check_kept(value, built.root, path, first_wins=first_wins)
    elif isinstance(value, dict):
        check = _check_mapping if isinstance(built, dict) else _check_model
        check(value, built, path, first_wins=first_wins)
    elif isinstance(value, list):
        _check_items(value, built, path, first_wins=first_wins)


def _check_scalar(value: Json, built: Any, path: Path, *, first_wins: bool) -> None:
    sent, made = type(value), type(built)
    if sent is int and made is float and abs(value) > _EXACT and built != value:
        raise ArgumentsUnfit(path, "is an integer that a float cannot hold; its last digits would change")
    if first_wins and sent in _KINDS and _KINDS[sent] != _KINDS[made]:
        raise ArgumentsUnfit(path, f"would be taken as a {_KINDS[made]}")


def _check_model(value: dict[str, Json], built: Any, path: Path, *, first_wins: bool) -> None:
    kind: Any = type(built)
    fields = _fields(kind)
    if fields is None:
        return
    for key, each in value.items():
        if key in fields:
            check_kept(each, getattr(built, fields[key]), (*path, key), first_wins=first_wins)
        elif first_wins and kind.model_config.get("extra") != "allow":
            raise ArgumentsUnfit((*path, key), f"{kind.__name__} has no such field, and would run without it")


@lru_cache(maxsize=256)
def _fields(kind: Any) -> dict[str, str] | None:
    """Return the fields of a model by the names under which they may be sent; None for a class that is no model."""
    if not hasattr(kind, "model_fields"):
        return None
    fields: Mapping[str, Any] = kind.model_fields
    return {key: name for name, field in fields.items() for key in _keys(name, field)}


def _keys(name: str, field: Any) -> Iterator[str]:
    """Yield the names of a field: its own, an alias, and the first steps of pydantic's choices and paths."""
    yield name
    for alias in (field.alias, *getattr(field.validation_alias, "choices", [field.validation_alias])):
        yield from getattr(alias, "path", [alias])[:1]


def _check_mapping(value: dict[str, Json], built: Any, path: Path, *, first_wins: bool) -> None:
    # Texts stay as they are: a dict that has fewer of them is the work of the host's validators.
    if len(built) < len(value) and not all(isinstance(each, str) for each in built):
        raise ArgumentsUnfit(path, MERGED)
    for name, each in value.items():
        if name in built:
            check_kept(each, built[name], (*path, name), first_wins=first_wins)


def _check_items(value: list[Json], built: Any, path: Path, *, first_wins: bool) -> None:
    if isinstance(built, set | frozenset):
        if len(built) < len(value) and not all(isinstance(each, str) for each in built):
            raise ArgumentsUnfit(path, MERGED)
    elif isinstance(built, list | tuple) and len(built) == len(value):
        for index, (each, made) in enumerate(zip(value, built, strict=True)):
            check_kept(each, made, (*path, index), first_wins=first_wins)
