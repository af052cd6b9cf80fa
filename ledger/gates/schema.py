"""The schema gate: the arguments have to fit the tool's schema."""

from __future__ import annotations

from collections.abc import Callable

from ledger.catalog import GATE_ERROR, CompiledSchema, Violation
from ledger.events import CallRejected
from ledger.strictjson import JsonObject


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
    wire = tuple({"pointer": v.pointer, "keyword": v.keyword, "message": v.message} for v in found)
    if any(v.keyword == GATE_ERROR for v in found):
        return CallRejected(
            gate="schema",
            code=GATE_ERROR,
            error_class="tool",
            message="The arguments could not be checked; the call was not executed.",
            violations=wire,
        )
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
