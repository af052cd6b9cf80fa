"""Hints that stand for a JSON object with known fields: dataclasses and TypedDicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NotRequired, Required, get_origin, get_type_hints

from ledger.catalog.hints.base import (
    NO_JSON,
    ArgumentsUnfit,
    Hint,
    NoSchema,
    Path,
    Reader,
    default_as_json,
    expected,
    object_schema,
)
from ledger.catalog.words import meant, shown
from ledger.strictjson import Json


def dataclass_hint(kind: Any, reader: Reader) -> Hint:
    """Return the hint of a dataclass; its instances are built with its constructor."""
    hints = get_type_hints(kind, include_extras=True)
    entries = [each for each in dataclasses.fields(kind) if each.init]
    fields = {each.name: reader.hint(hints[each.name]) for each in entries}
    schemas = {name: hint.schema for name, hint in fields.items()}
    required = []
    for each in entries:
        if each.default is not dataclasses.MISSING:
            default = default_as_json(each.default)
            schemas[each.name] = {**schemas[each.name], **({} if default is NO_JSON else {"default": default})}
        elif each.default_factory is dataclasses.MISSING:
            required.append(each.name)
    if hasattr(kind, "__post_init__") or not kind.__dataclass_params__.init:
        reader.runs_user_code = True

    def make(values: dict[str, Any], path: Path) -> Any:
        try:
            return kind(**values)
        except (TypeError, ValueError) as error:
            raise ArgumentsUnfit(path, f"{kind.__name__} refuses these values ({type(error).__name__})") from error

    return Hint(object_schema(schemas, required), _builder(fields, required, make))


def typed_dict_hint(kind: Any, reader: Reader) -> Hint:
    """Return the hint of a TypedDict; it stays a dict."""
    hints = get_type_hints(kind, include_extras=True)
    fields = {name: reader.hint(hint) for name, hint in hints.items()}
    # With hints that are texts, __required_keys__ knows of no NotRequired.
    marks = {name: get_origin(hint) for name, hint in hints.items()}
    required = [
        name
        for name, mark in marks.items()
        if mark is Required or (name in kind.__required_keys__ and mark is not NotRequired)
    ]
    schemas = {name: hint.schema for name, hint in fields.items()}
    return Hint(object_schema(schemas, required), _builder(fields, required, lambda values, _path: values))


def _builder(
    fields: Mapping[str, Hint], required: list[str], make: Callable[[dict[str, Any], Path], Any]
) -> Callable[[Json, Path], Any]:
    def build(value: Json, path: Path) -> Any:
        if not isinstance(value, dict):
            raise expected(value, path, "an object")
        for name in value:
            if name not in fields:
                raise ArgumentsUnfit((*path, name), f"unknown field {shown(name)}{meant(name, fields)}")
        for name in required:
            if name not in value:
                raise ArgumentsUnfit((*path, name), "required field is missing")
        return make({name: fields[name].build(each, (*path, name)) for name, each in value.items()}, path)

    return build


def once(kind: Any, reader: Reader, read: Callable[[Any, Reader], Hint], active: dict[Any, list[Hint]]) -> Hint:
    """
    Read *kind*, which may contain itself: then its schema stands in `$defs`, and its builder calls itself.

    *active* holds the kinds that are being read now, each with a list for its finished hint.
    """
    name = kind.__name__
    if kind in active:
        reader.definitions.setdefault(name, {})
        finished = active[kind]
        return Hint({"$ref": f"#/$defs/{name}"}, lambda value, path: finished[0].build(value, path))  # noqa: PLW0108 - filled in later
    if name in reader.definitions:
        raise NoSchema(f"there are two types named {name}")
    active[kind] = []
    hint = read(kind, reader)
    active.pop(kind).append(hint)
    if name not in reader.definitions:
        return hint
    reader.definitions[name] = hint.schema
    return Hint({"$ref": f"#/$defs/{name}"}, hint.build)
