"""Recorded calls as they read in the newest version of their tool, for a replay; nothing is recorded or changed."""

from __future__ import annotations

from dataclasses import dataclass

from ledger.calls import TERMINAL, Call
from ledger.catalog import Registry, ToolDefinition
from ledger.replay.shapes import Shaped
from ledger.store.port import Reader


@dataclass(frozen=True, slots=True)
class Newest:
    """
    Carries the intents of calls that ended by the catalog's proved steps, as far as these lead.

    Each is certified like a call that is to run: valid before, valid after, and back exactly as it was. What has not
    ended is told as it is: `migrate-schemas` says what becomes of it. No record makes it raise.
    """

    registry: Registry
    reader: Reader

    def __call__(self, call: Call) -> Shaped:
        """Return how the call reads; as it was, with the reason, where nothing is proved."""
        definition = self.registry.defined_now(call.tool)
        if call.executor == "provider":
            return _as_it_was(call, None, "ran_elsewhere", "the provider ran it: it is no tool of this catalog")
        if definition is None or call.intent_version is None:
            return _as_it_was(call, definition, "tool_unknown", "the catalog has no such tool")
        row = self.reader.call(call.call_id)
        if row is None or row.state not in TERMINAL:
            return _as_it_was(call, definition, "not_ended", "it has not ended")
        if call.redacted:
            return _as_it_was(call, definition, "redacted", "its sensitive arguments were redacted before disk")
        return self._carried(definition, call, call.intent_version)

    def _carried(self, definition: ToolDefinition, call: Call, version: int) -> Shaped:
        recorded = definition.versions.get(version)
        same = call.schema_version != version or (recorded is not None and recorded.shape_digest == call.schema_digest)
        if recorded is None or not same:
            return _as_it_was(call, definition, "version_unknown", f"the catalog does not hold v{version} as it was")
        if not isinstance(call.arguments, dict) and version != definition.current:
            return _as_it_was(call, definition, "no_arguments", "what the model sent are no arguments")
        journey = self.registry.upcasts.carry(definition.name, version, definition.current, call.arguments)
        return Shaped(
            recorded=version,
            version=journey.reached,
            latest=definition.current,
            arguments=journey.steps[-1].arguments if journey.steps else call.arguments,
            code=journey.stopped.code if journey.stopped else None,
            message=journey.stopped.message if journey.stopped else None,
        )


def _as_it_was(call: Call, definition: ToolDefinition | None, code: str, message: str) -> Shaped:
    return Shaped(
        recorded=call.intent_version,
        version=call.intent_version,
        latest=definition.current if definition is not None else None,
        arguments=call.arguments,
        code=code,
        message=message,
    )
