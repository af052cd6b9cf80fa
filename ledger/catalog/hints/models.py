"""Hints that pydantic understands; it is imported only here, and only if a function uses it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any, Final

from ledger.catalog.hints.base import ArgumentsUnfit, Hint, NoSchema, Path, Reader
from ledger.catalog.hints.kept import check_kept
from ledger.catalog.violation import Violation
from ledger.strictjson import Json, JsonObject, from_pointer, printable

_PACKAGES: Final = ("pydantic", "pydantic_core", "annotated_types")

_SPELLING: Final = "is spelled as no number (1000.50), date or time (2026-11-30T10:00:00Z) is here"


def is_pydantic(kind: Any) -> bool:
    """Whether *kind* (a class, or an object in `Annotated`) is pydantic's business; does not import it."""
    bases = kind.__mro__ if isinstance(kind, type) else type(kind).__mro__
    return hasattr(kind, "__pydantic_validator__") or any(_package(base) in _PACKAGES for base in bases)


def _package(kind: Any) -> str:
    return str(kind.__module__).partition(".")[0]


def model_hint(annotation: Any, reader: Reader) -> Hint:
    """
    Return the hint of a model, or of `Annotated[…, Field(…)]`.

    Objects are closed unless the model says `extra="allow"`: what a model would silently ignore is refused here, also
    where a written schema lets it pass, or where another option of a union would take it. A value is held to the
    model's own JSON types before the model sees it: nothing runs with what pydantic would make of another type.
    Validators are user code, so are models: which of them run is not looked into.
    """
    from pydantic import TypeAdapter, ValidationError
    from pydantic.errors import PydanticUserError

    from ledger.catalog.hints.exact import Described, exactly

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        schema = adapter.json_schema(ref_template="#/$defs/{model}", schema_generator=Described)
    except PydanticUserError as error:
        raise NoSchema(f"pydantic cannot describe it: {printable(error.message.splitlines()[0])}") from None
    _define(schema.pop("$defs", {}), reader)
    reader.runs_user_code = True
    exact = cache(partial(exactly, adapter))  # made for the first value: a tool that is never called costs nothing

    def build(value: Json, path: Path) -> Any:
        held = exact()
        if wrong := held.compiled.violations(value):
            raise _unfit(wrong, path)
        try:
            built = adapter.validate_python(value)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_context=False, include_input=False)
            place, message = max((_told(value, each) for each in errors), key=lambda told: len(told[0]))
            raise ArgumentsUnfit((*path, *place), message) from None
        if held.looks:
            check_kept(value, built, path, first_wins=held.first_wins)
        return built

    return Hint(_tidy(schema), build)


def _define(definitions: JsonObject, reader: Reader) -> None:
    for name, definition in definitions.items():
        closed = _tidy(definition)
        if reader.definitions.setdefault(name, closed) != closed:
            raise NoSchema(f"there are two types named {name}")


def _unfit(wrong: tuple[Violation, ...], path: Path) -> ArgumentsUnfit:
    """Return the error for the deepest fault; the value itself is not shown, nobody looked here whether it may be."""
    deepest = max(wrong, key=lambda each: each.pointer.count("/"))
    message = _SPELLING if deepest.keyword == "pattern" else deepest.message.partition(", got ")[0]
    return ArgumentsUnfit((*path, *from_pointer(deepest.pointer)), message, len(wrong))


def _told(value: Json, error: Any) -> tuple[Path, str]:
    """Return place and words of one of pydantic's errors; of a union's the one that got deepest was meant."""
    place = tuple(_known_steps(value, error["loc"]))
    missing = (error["loc"][-1],) if error["type"] == "missing" else ()
    return place + missing, printable(error["msg"])


def _known_steps(value: Json, steps: tuple[str | int, ...]) -> Iterator[str | int]:
    """Yield those steps that lead through the value: pydantic puts names of types and functions between them."""
    for step in steps:
        if isinstance(value, dict) and isinstance(step, str):
            if step in value:
                yield step
                value = value[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            yield step
            value = value[step]


def _tidy(schema: Any) -> Any:
    """Close objects, and leave out pydantic's own pattern for decimals, which has a look-ahead: it checks itself."""
    if isinstance(schema, list):
        return [_tidy(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    tidy: JsonObject = {key: _tidy(value) for key, value in schema.items() if not _own_pattern(key, value)}
    if tidy.get("type") == "object" and isinstance(tidy.get("properties"), dict):
        tidy.setdefault("additionalProperties", False)
    return tidy


def _own_pattern(key: str, value: Any) -> bool:
    return key == "pattern" and isinstance(value, str) and value.startswith("^(?!^[-+.]*$)")
