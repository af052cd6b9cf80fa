"""Type hints as schemas: what the model sends is described by the function's own parameters."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections import abc
from enum import Enum
from typing import Annotated, Any, Final, Literal, NotRequired, Required, Union, get_args, get_origin, is_typeddict

from ledger.catalog.hints.base import (
    NO_JSON,
    ArgumentsUnfit,
    Hint,
    NoSchema,
    Path,
    Shared,
    default_as_json,
    expected,
    object_schema,
)
from ledger.catalog.hints.kept import MERGED
from ledger.catalog.hints.models import is_pydantic, model_hint
from ledger.catalog.hints.objects import dataclass_hint, once, typed_dict_hint
from ledger.catalog.hints.scalars import SCALARS, choice_hint, enum_hint
from ledger.strictjson import Json, JsonObject

__all__ = ["NO_JSON", "ArgumentsUnfit", "Hint", "HintReader", "NoSchema", "default_as_json", "object_schema"]

_LISTS: Final = (list, abc.Sequence, abc.Iterable, abc.Collection, abc.MutableSequence)
_SETS: Final = (set, frozenset, abc.Set, abc.MutableSet)
_MAPPINGS: Final = (dict, abc.Mapping, abc.MutableMapping)
_WRAPPERS: Final = (Required, NotRequired, getattr(typing, "ReadOnly", Required))


class HintReader(Shared):
    """Reads the hints of one function; `definitions` become the schema's `$defs`."""

    def __init__(self) -> None:
        super().__init__()
        self._active: dict[Any, list[Hint]] = {}

    def hint(self, annotation: Any) -> Hint:
        """Return schema and builder of a resolved hint; raises NoSchema."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is None and isinstance(annotation, abc.Hashable) and annotation in SCALARS:
            return Hint(*SCALARS[annotation])
        if origin is Annotated:
            return self._annotated(annotation, arguments[0], arguments[1:])
        if origin is Literal:
            pairs = [(each, each.value if isinstance(each, Enum) else each) for each in arguments]
            return choice_hint(pairs, "the Literal")
        if origin in (Union, types.UnionType):
            return self._union(arguments)
        if origin in _WRAPPERS:
            return self.hint(arguments[0])
        container = origin or annotation
        if container in _LISTS:
            return self._list(arguments or (Any,), list)
        if container in _SETS:
            return self._list(arguments or (Any,), frozenset if container is frozenset else set)
        if container is tuple:
            return self._tuple(arguments or (Any, ...))
        if container in _MAPPINGS:
            return self._mapping(arguments or (str, Any))
        return self._named(annotation)

    def _named(self, annotation: Any) -> Hint:
        if hasattr(annotation, "__value__"):  # type Name = …  (Python 3.12)
            return self.hint(annotation.__value__)
        if hasattr(annotation, "__supertype__"):  # NewType
            return self.hint(annotation.__supertype__)
        if is_typeddict(annotation):
            return once(annotation, self, typed_dict_hint, self._active)
        if isinstance(annotation, type):
            if issubclass(annotation, Enum):
                return enum_hint(annotation)
            if is_pydantic(annotation):
                return model_hint(annotation, self)
            if dataclasses.is_dataclass(annotation):
                return once(annotation, self, dataclass_hint, self._active)
        name = getattr(annotation, "__name__", None) or str(annotation)
        raise NoSchema(f"{name} has no form in JSON that is known here")

    def _annotated(self, annotation: Any, inner: Any, extras: tuple[Any, ...]) -> Hint:
        for_pydantic = any(is_pydantic(extra) for extra in extras)
        hint = model_hint(annotation, self) if for_pydantic else self.hint(inner)
        words = [extra for extra in extras if isinstance(extra, str)]
        words += [extra.documentation for extra in extras if hasattr(extra, "documentation")]
        return Hint({**hint.schema, "description": words[0]}, hint.build) if words else hint

    def _union(self, arguments: tuple[Any, ...]) -> Hint:
        options = [self.hint(each) for each in arguments]

        def build(value: Json, path: Path) -> Any:
            # Each option refuses what its own closed schema does: the first that builds keeps all that was sent.
            errors = []
            for option in options:
                try:
                    return option.build(value, path)
                except ArgumentsUnfit as error:
                    errors.append(error)
            # The alternative that got deepest is the one that was meant; of some, the one with the fewest faults.
            raise max(errors, key=lambda error: (error.pointer.count("/"), -error.faults))

        return Hint({"anyOf": [option.schema for option in options]}, build)

    def _list(self, arguments: tuple[Any, ...], make: type) -> Hint:
        item = self.hint(arguments[0])
        unique: JsonObject = {"uniqueItems": True} if make in (set, frozenset) else {}

        def build(value: Json, path: Path) -> Any:
            if not isinstance(value, list):
                raise expected(value, path, "an array")
            items = [item.build(each, (*path, index)) for index, each in enumerate(value)]
            try:
                made = make(items)
            except TypeError:
                raise ArgumentsUnfit(path, "its items cannot stand in a set") from None
            if len(made) < len(items):
                raise ArgumentsUnfit(path, MERGED)
            return made

        return Hint({"type": "array", "items": item.schema, **unique}, build)

    def _tuple(self, arguments: tuple[Any, ...]) -> Hint:
        if len(arguments) == 2 and arguments[1] is Ellipsis:  # noqa: PLR2004 - tuple[T, ...]
            return self._list(arguments[:1], tuple)
        items = [self.hint(each) for each in arguments if each != ()]

        def build(value: Json, path: Path) -> Any:
            if not isinstance(value, list) or len(value) != len(items):
                raise expected(value, path, f"an array of {len(items)}")
            return tuple(item.build(each, (*path, n)) for n, (item, each) in enumerate(zip(items, value, strict=True)))

        size: JsonObject = {"minItems": len(items), "maxItems": len(items)}
        prefix: JsonObject = {"prefixItems": [item.schema for item in items]} if items else {}
        return Hint({"type": "array", **prefix, **size}, build)

    def _mapping(self, arguments: tuple[Any, ...]) -> Hint:
        if arguments[0] is not str:
            raise NoSchema("the keys of a JSON object are texts: write dict[str, …]")
        entry = self.hint(arguments[1])

        def build(value: Json, path: Path) -> Any:
            if not isinstance(value, dict):
                raise expected(value, path, "an object")
            return {name: entry.build(each, (*path, name)) for name, each in value.items()}

        return Hint({"type": "object", "additionalProperties": entry.schema}, build)
