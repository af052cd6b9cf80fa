"""The schema gate: the arguments have to fit the tool's schema, as they were sent and as they will run."""

from __future__ import annotations

from collections.abc import Callable

from ledger.catalog import GATE_ERROR, CompiledSchema, DefaultsWithoutEnd, ToolVersion, Violation, with_defaults
from ledger.events import CallRejected
from ledger.strictjson import JsonObject, copied


def validate(
    schema: CompiledSchema, arguments: JsonObject, hide: Callable[[Violation], Violation] | None = None
) -> CallRejected | None:
    """
    Return why the call stops here, with every violation by JSON pointer, or None.

    *hide* returns a violation without what may not be recorded.
    """
    found = schema.violations(arguments)
    if not found:
        return None
    if hide is not None:
        found = tuple(map(hide, found))
    wire = _wire(found)
    if any(v.keyword == GATE_ERROR for v in found):
        return _faulty("The arguments could not be checked; the call was not executed.", wire)
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return CallRejected(
        gate="schema",
        code="schema_validation",
        error_class="model",
        message=f"The arguments do not fit the schema: {first.pointer or '/'}: {first.message}{more}",
        violations=wire,
        model_can_repair=True,
    )


def fill(version: ToolVersion, schema: CompiledSchema, arguments: JsonObject) -> JsonObject | CallRejected:
    """
    Return a copy of valid arguments as they will run: with the defaults of the schema where the contract says so.

    What runs fits the schema too: defaults that do not fit it, or that make something else necessary, stop the call.
    That is a fault of the schema, which no model mends.
    """
    if not version.contract.apply_defaults:
        own: JsonObject = copied(arguments)
        return own
    try:
        filled = with_defaults(version.schema, arguments)
    except DefaultsWithoutEnd:
        return _faulty("The defaults of the tool's schema have no end; the call was not executed.", ())
    found = schema.violations(filled) if filled != arguments else ()
    if not found:
        return filled
    places = ", ".join(dict.fromkeys(v.pointer or "/" for v in found))
    message = f"The defaults that the tool's schema fills in do not fit it ({places}); the call was not executed."
    return _faulty(message, _wire(found))


def _wire(found: tuple[Violation, ...]) -> tuple[dict[str, str], ...]:
    return tuple({"pointer": v.pointer, "keyword": v.keyword, "message": v.message} for v in found)


def _faulty(message: str, violations: tuple[dict[str, str], ...]) -> CallRejected:
    return CallRejected(gate="schema", code=GATE_ERROR, error_class="tool", message=message, violations=violations)
