"""Makes a tool of a function: its schema found or derived, everything checked, both places named where they clash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from ledger.catalog.binder import Binder
from ledger.catalog.contract import Contract
from ledger.catalog.definition import ToolDefinition, ToolVersion
from ledger.catalog.documents import version_of
from ledger.catalog.fit import check_called, check_contract, check_fit, check_model_fit
from ledger.catalog.function import Function, read_function
from ledger.catalog.guard import guard_input
from ledger.catalog.hints import Hint
from ledger.catalog.names import check_name
from ledger.catalog.output import root_schema
from ledger.catalog.resources import check_reach
from ledger.catalog.tool import Tool
from ledger.catalog.words import listed, shown
from ledger.errors import ToolMisfit
from ledger.strictjson import JsonObject

WORDS: Final = {
    "title": "title",
    "description": "description",
    "use_when": "useWhen",
    "not_when": "notWhen",
    "runbook": "runbook",
}
"""Options that are words for the model or the reviewer, with their names in `tool.json`."""


@dataclass(frozen=True, slots=True)
class _Model:
    """A pydantic model given as schema; `whole` names the one parameter that takes it as it is."""

    kind: type
    hint: Hint
    schema: JsonObject
    whole: str | None


def build_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    version: int | None = None,
    definition: ToolDefinition | None = None,
    schema: JsonObject | type | None = None,
    **options: Any,
) -> Tool:
    """
    Return the tool that *function* is; raises ToolMisfit or CatalogFault, naming function and schema.

    The schema comes from *definition* (catalog files), or *schema* (a dict or a pydantic model), or the type hints.
    *version*: the definition's current one, else 1. Options: the contract's words in snake_case, `resource_keys` also
    as a function, `reconcile`, and `title`, `description`, `use_when`, `not_when`, `runbook`.
    """
    signature = read_function(function)
    reconcile = options.pop("reconcile", None)
    keys_function = _keys_function(options)
    model = _model(schema, signature) if isinstance(schema, type) else None
    if definition is not None:
        chosen = _published(definition, version, signature, options, schema)
    else:
        described = model.schema if model else schema if isinstance(schema, dict) else signature.schema()
        chosen = _derived(name or _name_of(function), version or 1, signature, described, options)
    if model is None:
        check_fit(chosen, signature)
    elif model.whole is None:
        check_model_fit(model.kind, signature)
    check_contract(chosen, signature, reconcile)
    return Tool(
        definition=definition or _definition(chosen),
        version=chosen,
        function=function,
        signature=signature,
        binder=Binder(signature, model.hint, model.whole) if model else Binder(signature),
        reconcile=reconcile,
        resource_keys_fn=keys_function,
        derived=definition is None,
    )


def _keys_function(options: dict[str, Any]) -> Callable[..., Any] | None:
    """Take `resource_keys` out of the options where it is a function."""
    if not callable(options.get("resource_keys")):
        return None
    function: Callable[..., Any] = options.pop("resource_keys")
    check_called(function, "resource_keys=", "arguments")
    return function


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _model(kind: type, signature: Function) -> _Model:
    hint, schema = root_schema(kind)
    takers = [each.name for each in signature.parameters.values() if each.annotation is kind]
    return _Model(kind, hint, schema, takers[0] if len(takers) == len(signature.parameters) == 1 else None)


def _published(
    definition: ToolDefinition, number: int | None, signature: Function, options: dict[str, Any], schema: Any
) -> ToolVersion:
    """Return the catalog's version; what the decorator says besides must say the same."""
    number = definition.current if number is None else number
    place = definition.path or definition.name
    if number not in definition.versions:
        message = f"{signature.place} is version {number} of {definition.name}, which {place} does not have."
        raise ToolMisfit(message, hint=f"There are {listed(sorted(definition.versions))}.")
    version = definition.versions[number]
    for option in (*options, *(("schema",) if schema is not None else ())):
        if option == "schema" or option in WORDS:
            message = f"{signature.place} gives {option}=, which {place} already says."
            raise ToolMisfit(message, hint="Leave it out, or use another name.")
    declared = Contract.from_options(options, path=signature.place)
    for option in options:
        ours, theirs = getattr(declared, option), getattr(version.contract, option)
        if ours != theirs:
            said = f"{place}#/versions/{number}/contract says {_said(theirs)}"
            message = f"{signature.place} says {option} is {_said(ours)}, {said}."
            raise ToolMisfit(message, hint="Leave the option out: the catalog decides.")
    return version


def _said(value: Any) -> str:
    return listed(map(str, value)) if isinstance(value, tuple) else shown(value)


def _derived(name: str, number: int, signature: Function, schema: JsonObject, options: dict[str, Any]) -> ToolVersion:
    words = {wire: options.pop(option, None) for option, wire in WORDS.items()}
    words["description"] = words["description"] or signature.description
    guarded = guard_input(schema, path=signature.place)
    contract = Contract.from_options(options, path=signature.place)
    check_reach(contract.resource_keys, guarded, path=signature.place, pointer="/resource_keys")
    return version_of(
        guarded,
        words=words,
        tool=check_name(name, path=signature.place),
        version=number,
        contract=contract,
        path=signature.place,
    )


def _definition(version: ToolVersion) -> ToolDefinition:
    return ToolDefinition(
        name=version.tool,
        current=version.version,
        versions=MappingProxyType({version.version: version}),
        path=version.path,
    )
