"""Checks at registration: does a function fit its schema, does it contradict its contract? Both places are named."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from ledger.catalog.contract import Contract
from ledger.catalog.definition import ToolVersion
from ledger.catalog.function import CONTEXT, FILLED, IDEMPOTENCY_KEY, Function, Parameter, place_of
from ledger.catalog.words import listed, meant
from ledger.errors import ToolMisfit
from ledger.strictjson import Json, JsonObject

_NUMBERS: Final = frozenset({"integer", "number"})


def check_fit(version: ToolVersion, function: Function) -> None:
    """Raise ToolMisfit if a call that the schema allows could not be given to the function."""
    schema = version.schema
    fields: JsonObject = schema.get("properties", {})
    place = f"{version.path or version.tool}#/properties"
    for name in fields:
        if name in FILLED and not (function.takes_any and name not in _filled(function)):
            message = (
                f"{place}/{name} is a field of the schema, but the ledger fills this parameter of {function.place}."
            )
            raise ToolMisfit(message, hint="Give the field another name.")
        if name not in function.parameters and not function.takes_any:
            near = meant(name, function.parameters)
            message = (
                f"{place}/{name} is a field of the schema, but {function.place} has no such parameter{near or '.'}"
            )
            raise ToolMisfit(message, hint="Add the parameter, or take the field out of the schema.")
    for parameter in function.parameters.values():
        _check_parameter(version, parameter, fields.get(parameter.name), f"{parameter.name} of {function.place}")


def check_model_fit(model: type, function: Function) -> None:
    """Do the same for a pydantic model whose fields are given one by one."""
    fields: Mapping[str, Any] = getattr(model, "model_fields")  # noqa: B009 - pydantic's; only its users import it
    for name in fields:
        if name in FILLED or (name not in function.parameters and not function.takes_any):
            message = (
                f"{model.__name__}.{name} is no parameter of {function.place}{meant(name, function.parameters) or '.'}"
            )
            raise ToolMisfit(message, hint=f"Add it, or take one parameter of the type {model.__name__}.")
    for parameter in function.parameters.values():
        if parameter.required and parameter.name not in fields:
            near = meant(parameter.name, fields)
            message = f"The parameter {parameter.name} of {function.place} is no field of {model.__name__}{near or '.'}"
            raise ToolMisfit(message, hint="Add the field, or give the parameter a default.")


def _filled(function: Function) -> set[str]:
    wanted = ((CONTEXT, function.wants_context), (IDEMPOTENCY_KEY, function.wants_idempotency_key))
    return {name for name, wants in wanted if wants}


def _check_parameter(version: ToolVersion, parameter: Parameter, field: Json | None, who: str) -> None:
    schema, place = version.schema, f"{version.path or version.tool}#"
    if field is None:
        if parameter.required and "$ref" not in schema and "allOf" not in schema:
            near = meant(parameter.name, schema.get("properties", {}))
            message = f"The parameter {who} is no field of the schema ({place}/properties){near or '.'}"
            raise ToolMisfit(message, hint="Add the field, or give the parameter a default.")
        return
    has_default = version.contract.apply_defaults and isinstance(field, dict) and "default" in field
    if parameter.required and parameter.name not in schema.get("required", ()) and not has_default:
        message = f"The parameter {who} is needed, but the schema lets it be left out ({place}/required)."
        raise ToolMisfit(message, hint="Require the field, or give the parameter a default.")
    given, taken = _types(field), _types(parameter.hint.schema) if parameter.hint else None
    if given and taken and not given & taken:
        message = f"The parameter {who} takes {listed(sorted(taken))}, "
        message += f"the schema gives {listed(sorted(given))} ({place}/properties/{parameter.name}/type)."
        raise ToolMisfit(message, hint="Change the type hint or the schema.")


def _types(schema: Json) -> frozenset[str] | None:
    """Return the JSON types that a schema allows, where it says so plainly; None: it may be any."""
    if not isinstance(schema, dict) or "$ref" in schema:
        return None
    if "type" in schema:
        named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return frozenset(named) | (_NUMBERS if _NUMBERS & set(named) else frozenset())
    options = [_types(each) for each in schema.get("anyOf", ())]
    if not options or None in options:
        return None
    return frozenset(name for each in options if each for name in each)


def check_contract(version: ToolVersion, function: Function, reconcile: Callable[..., Any] | None) -> None:
    """Raise ToolMisfit if function and contract cannot both be true."""
    contract, place = version.contract, f"the contract of {version.path or version.tool}"
    if contract.effect == "read":
        _check_read(contract, place, function, reconcile)
        return
    if function.wants_idempotency_key and not contract.supports_idempotency:
        message = f"{function.place} takes idempotency_key, but {place} does not say supportsIdempotency."
        raise ToolMisfit(message, hint="Say supports_idempotency=True, or take the parameter out.")
    if contract.supports_idempotency and not _can_get_key(version, function):
        message = f"{place} says supportsIdempotency, but {function.place} has no way to get the key."
        raise ToolMisfit(message[0].upper() + message[1:], hint="Take a parameter idempotency_key or context.")
    if reconcile is not None:
        check_called(reconcile, "reconcile=", "arguments", "context")


def _check_read(contract: Contract, place: str, function: Function, reconcile: Callable[..., Any] | None) -> None:
    if contract.supports_idempotency:
        message = f"{place} says effect read and supportsIdempotency ({function.place}): a read is simply run again."
        raise ToolMisfit(message[0].upper() + message[1:], hint="Say effect write or external if it changes something.")
    if reconcile is not None:
        message = f"{function.place} has reconcile= ({place_of(reconcile)}), but {place} says effect read."
        raise ToolMisfit(message, hint="Say effect write or external if it changes something.")


def _can_get_key(version: ToolVersion, function: Function) -> bool:
    """By its parameter, from the context, or (an older habit) as an argument that the model makes up."""
    names = {name.replace("_", "").casefold() for name in version.schema.get("properties", {})}
    return function.wants_idempotency_key or function.wants_context or "idempotencykey" in names


def check_called(function: Any, what: str, *names: str) -> None:
    """
    Raise ToolMisfit if the host's *function* is none, or cannot be called with as many arguments as *names*.

    *what* says where it was given. One that does not say what it takes is taken at its word.
    """
    hint = f"Write `def {getattr(function, '__name__', 'function')}({', '.join(names)})`."
    if not callable(function):
        raise ToolMisfit(f"{what} takes a function, not {type(function).__name__}.", hint=hint)
    try:
        inspect.signature(function).bind(*names)
    except TypeError:
        count = f"{len(names)} argument{'s' if len(names) > 1 else ''}"
        message = f"{what} calls {place_of(function)} with {count}, and it takes others."
        raise ToolMisfit(message, hint=hint) from None
    except ValueError:  # some functions written in C
        return
