"""What a function says about itself: its parameters, their hints, its docstring, and where it stands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from ledger.catalog.hints import NO_JSON, Hint, HintReader, NoSchema, default_as_json, object_schema
from ledger.errors import ToolMisfit
from ledger.strictjson import JsonObject

CONTEXT: Final = "context"
IDEMPOTENCY_KEY: Final = "idempotency_key"
FILLED: Final = frozenset({CONTEXT, IDEMPOTENCY_KEY})
"""Parameters that the ledger fills; the model never sees them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter that the model fills; `hint` is None where it has none, or one without a form in JSON."""

    name: str
    hint: Hint | None
    annotation: Any
    required: bool
    default: Any = None
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """
    A function as the catalog sees it.

    `takes_any`: it has `**kwargs`. `is_async`: calling it gives a coroutine. `definitions`: the `$defs` of its hints.
    `runs_user_code`: building its arguments may run the host's code (pydantic models, `__post_init__`).
    """

    place: str
    description: str
    parameters: Mapping[str, Parameter]
    takes_any: bool
    wants_context: bool
    wants_idempotency_key: bool
    is_async: bool
    definitions: JsonObject
    runs_user_code: bool

    def schema(self) -> JsonObject:
        """Return the closed schema of the parameters; raises ToolMisfit if one has no usable hint."""
        fields = {name: self._field(each) for name, each in self.parameters.items()}
        if self.takes_any:
            raise ToolMisfit(
                f"{self.place} takes **kwargs, which no schema describes.", hint="Name them, or give schema=."
            )
        schema = object_schema(fields, [name for name, each in self.parameters.items() if each.required])
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def _field(self, parameter: Parameter) -> JsonObject:
        if parameter.hint is None:
            hint = "Add a type hint, or give schema= (a dict or a pydantic model)."
            raise ToolMisfit(f"The parameter {parameter.name} of {self.place} {parameter.trouble}.", hint=hint)
        default = NO_JSON if parameter.required else default_as_json(parameter.default)
        says_nothing = default is None and not _takes_null(parameter.hint.schema)
        return (
            parameter.hint.schema
            if default is NO_JSON or says_nothing
            else {**parameter.hint.schema, "default": default}
        )


def _takes_null(schema: JsonObject) -> bool:
    return not schema or schema.get("type") == "null" or any(map(_takes_null, schema.get("anyOf", ())))


def read_function(function: Callable[..., Any]) -> Function:
    """Read a function, method, partial or callable object; raises ToolMisfit where it cannot be a tool."""
    inner = _plain(function)
    place = place_of(function)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise ToolMisfit(f"{place} is a generator; a tool returns one result.", hint="Return a list.")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise ToolMisfit(f"{place} does not say what it takes.", hint="Wrap it in a function of your own.") from None
    hints, unresolved = _hints(inner)
    reader = HintReader()
    parameters: dict[str, Parameter] = {}
    for each in signature.parameters.values():
        if each.kind in (each.POSITIONAL_ONLY, each.VAR_POSITIONAL):
            hint = "Arguments are given by name: take it as a keyword."
            raise ToolMisfit(f"The parameter {each.name} of {place} is positional-only.", hint=hint)
        if each.kind is not each.VAR_KEYWORD and each.name not in FILLED:
            parameters[each.name] = _parameter(each, hints, reader, unresolved)
    kinds = {each.kind for each in signature.parameters.values()}
    return Function(
        place=place,
        description=_first_paragraph(function),
        parameters=parameters,
        takes_any=inspect.Parameter.VAR_KEYWORD in kinds,
        wants_context=CONTEXT in signature.parameters,
        wants_idempotency_key=IDEMPOTENCY_KEY in signature.parameters,
        is_async=inspect.iscoroutinefunction(inner),
        definitions=reader.definitions,
        runs_user_code=reader.runs_user_code,
    )


def _parameter(each: inspect.Parameter, hints: Mapping[str, Any], reader: HintReader, unresolved: str) -> Parameter:
    hint, trouble = None, unresolved or "has no type hint"
    if each.name in hints:
        try:
            hint = reader.hint(hints[each.name])
        except NoSchema as error:
            trouble = f"has a type hint that makes no schema: {error}"
    required = each.default is each.empty
    return Parameter(
        name=each.name,
        hint=hint,
        annotation=hints.get(each.name),
        required=required,
        default=None if required else each.default,
        trouble=trouble,
    )


def _hints(function: Callable[..., Any]) -> tuple[Mapping[str, Any], str]:
    try:
        return get_type_hints(function, include_extras=True), ""
    except Exception as error:  # noqa: BLE001 - a hint given as text is an expression, and may raise anything
        return {}, f"cannot be resolved ({type(error).__name__}: {error}); define its type at the module's top level"


def _plain(function: Any) -> Any:
    """Return the function behind partials, methods and callable objects."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isroutine(function) or isinstance(function, type):
        return function
    return type(function).__call__


def place_of(function: Any) -> str:
    """Return `name (file:line)` for messages."""
    plain = inspect.unwrap(_plain(function))
    code = getattr(plain, "__code__", None)
    name = getattr(plain, "__qualname__", type(function).__name__)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


def _first_paragraph(function: Any) -> str:
    text = inspect.getdoc(_plain(function))
    return " ".join((text or "").strip().split("\n\n")[0].split())
