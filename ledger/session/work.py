"""One call while its turn is being worked on: the intent, what the gates made of it, what will run."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ledger.calls import Call
from ledger.catalog import Contract, Replacement, Tool, ToolDefinition, ToolVersion, compiled
from ledger.events import Body, CallProposed, CallRejected
from ledger.execution.context import Context
from ledger.gates import Situation, decode, fill, lookup, validate
from ledger.providers import texts
from ledger.session.core import Core, Item
from ledger.session.redaction import MASK, NO_TEXT, UNSHOWN, has_sensitive, hidden, quotes, sensitive
from ledger.session.secrets import Truth
from ledger.strictjson import Json, JsonObject, canonical, copied, digest


@dataclass(slots=True, kw_only=True)
class Work:
    """
    A call's way through the gates.

    `stub` holds its identity; `intent` the true arguments, `to_run` those that will run (defaults included): both may
    hold sensitive values and stay in this process; what is recorded is masked, `secrets` say that something is.
    `recorded_run` is of `to_run` what may be recorded. `refusal` ends it.
    """

    stub: Call
    tool: Tool | None
    version: ToolVersion | None
    intent: JsonObject | None = None
    to_run: JsonObject | None = None
    secrets: tuple[str, ...] = ()
    recorded: JsonObject | None = None
    recorded_run: JsonObject | None = None
    digest: str = ""
    refusal: CallRejected | None = None
    proposal: CallProposed | None = None
    bodies: list[Body] = field(default_factory=list)
    keys: frozenset[str] | None = None
    authorized: bool = False

    @property
    def call_id(self) -> str:
        """The call's id."""
        return self.stub.call_id

    @property
    def cancellable(self) -> bool:
        """Whether the tool may be interrupted."""
        return self.version is None or self.version.contract.cancellable

    def recorded_to_run(self) -> JsonObject | None:
        """Return the arguments that will run as they may be recorded."""
        if not self.secrets:
            return self.to_run
        return self.recorded if self.to_run == self.intent else self.recorded_run

    def items(self) -> list[Item]:
        """Return the gates' events for recording."""
        return [Item(body, self.stub) for body in self.bodies]


def definition_of(core: Core, call: Call) -> ToolDefinition | None:
    """Return how a recorded call's tool is defined now, whatever it is called."""
    return core.wiring.registry.defined_now(call.tool)


def intent_of(core: Core, work: Work, **said: Any) -> CallProposed:
    """Return a call's intent: what was `said`, and what the tool declares now (for later, the facts of then)."""
    version, tool = work.version, work.tool
    definition = definition_of(core, work.stub)
    contract = version.contract if version is not None else Contract()
    return CallProposed(
        description_digest=version.description_digest if version is not None else None,
        stage=definition.stage if definition is not None else None,
        effect=contract.effect,
        recovery=contract.recovery,
        supports_idempotency=contract.supports_idempotency,
        reconciles=tool is not None and tool.reconcile is not None,
        **said,
    )


def situation(core: Core, call: Call, *, known: bool) -> Situation:
    """Return what the lookup gate has to know of the call's tool; `known`: it has a function here."""
    definition = definition_of(core, call)
    return Situation(
        known=known,
        stage=definition.stage if definition else None,
        side_effecting=call.side_effecting,
        names=core.wiring.registry.names,
        replacements=tuple(_replacement(r) for r in definition.replacements) if definition else (),
        hint=definition.hint if definition else None,
    )


def proposed(core: Core, call: Call, *, known: bool) -> Situation:
    """Return the same for a new call: under a name that its tool gave up nothing runs, and the new one is told."""
    registry, seen = core.wiring.registry, situation(core, call, known=known)
    name = registry.home(call.tool)
    if name == call.tool:
        return seen
    if seen.stage in ("active", "hidden"):
        seen = replace(seen, replacements=({"tool": name},), hint=texts.RENAMED.format(old=call.tool, new=name))
    return replace(seen, stage="removed")


def _replacement(found: Replacement) -> JsonObject:
    wire = {"tool": found.tool, "when": found.when, "example": found.example}
    return {key: value for key, value in wire.items() if value is not None}


def instead(core: Core, call: Call) -> dict[str, Any]:
    """Return what a start of a tool in stage compat, or the end of a removed one, says of its replacement."""
    definition = definition_of(core, call)
    if definition is None or definition.stage not in ("compat", "removed"):
        return {}
    return {
        "replacement": [_replacement(each) for each in definition.replacements] or None,
        "hint": definition.hint or (texts.RETIRING if definition.stage == "compat" else None),
    }


def examine(core: Core, work: Work, raw: str | None, given: object, situation: Situation) -> None:
    """
    Take a call through the pure gates: lookup, decode, schema; and work out the arguments that will run.

    The text is decoded even where lookup refuses the call, so that the intent is kept parsed as well.
    """
    refused = lookup(work.stub.tool, situation)
    needs = work.version is not None and bool(work.version.schema.get("required"))
    decoded = decode(raw, given, needs_arguments=needs)
    if isinstance(decoded, CallRejected):
        work.refusal = refused or _unquoted(decoded, work.version.schema if work.version else {})
        return
    work.intent = decoded
    _mask(core, work, decoded)
    if refused is not None:
        work.refusal = refused
    elif work.version is not None:
        _check(core, work, work.version)


def _unquoted(refused: CallRejected, schema: Json) -> CallRejected:
    """Return why a text is no JSON, without the key or number of it that may be a secret."""
    pointer = next((each["pointer"] for each in refused.violations), None)
    if not quotes(schema, refused.code, pointer):
        return refused
    return replace(refused, message=f"{UNSHOWN} Send the whole arguments again as one JSON object.", violations=())


def learn(core: Core, work: Work, raw: str | None, given: object) -> None:
    """Learn what of a new call is sensitive, before any call of its turn is looked at."""
    if not may_hold_secrets(core, work.stub, work.version):
        return
    decoded = decode(raw, given, needs_arguments=False)
    if isinstance(decoded, dict):
        core.secrets.learn(_by_schema(core, work, decoded)[1])


def may_hold_secrets(core: Core, call: Call, version: ToolVersion | None) -> bool:
    """Whether any version of the call's tool calls something sensitive: who asks may know another one than this."""
    definition = definition_of(core, call)
    versions = [*(definition.versions.values() if definition else ()), *([version] if version else ())]
    return any(has_sensitive(each.schema) for each in versions)


def shown(core: Core, work: Work, arguments: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """
    Return the arguments as they may be recorded, and what of them is secret; no secrets: nothing was masked.

    What another call of the session calls sensitive is none the less one here, where no schema says so.
    """
    masked, secrets = _by_schema(core, work, arguments)
    core.secrets.learn(secrets)
    found: JsonObject = core.secrets.scrubbed(masked)
    return found, secrets or (NO_TEXT if found is not masked else ())


def _mask(core: Core, work: Work, intent: JsonObject) -> None:
    """
    Work out what of the intent may be recorded.

    What is recorded already stays as it is: of what stands there in clear nothing can be taken back, and masked later
    it would be another call than the one that was judged, allowed and answered.
    """
    work.recorded, work.secrets = shown(core, work, intent)
    if work.stub.state != "unknown":
        work.recorded = work.stub.arguments if work.stub.redacted else intent
        work.secrets = work.secrets or NO_TEXT if work.stub.redacted else ()


def _by_schema(core: Core, work: Work, arguments: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """
    Return the arguments masked as the tool's schema says, or that of another version of it.

    Who asks may know that version only: where this one does not know the name, a secret is none the less one under the
    name that it had then.
    """
    schema: Json = work.version.schema if work.version else {}
    found: JsonObject
    found, secrets = sensitive(schema, arguments)
    known, definition = schema.get("properties", ()), definition_of(core, work.stub)
    if definition is None or all(name in known for name in found):
        return found, secrets
    for other in definition.versions.values():
        unknown = {name: value for name, value in found.items() if name not in known}
        masked, more = sensitive(other.schema, unknown)
        if more:  # all of them where the whole is sensitive
            found = found | (masked if masked.keys() == unknown.keys() else dict.fromkeys(unknown, MASK))
            secrets = tuple(dict.fromkeys((*secrets, *more)))
    return found, secrets


def _check(core: Core, work: Work, version: ToolVersion) -> None:
    """A tool without a function here is checked as well: its arguments may be judged, though they cannot run."""
    intent = work.intent or {}
    validator = work.tool.validator if work.tool else compiled(version)
    work.refusal = validate(validator, intent, partial(hidden, masked=work.recorded) if work.secrets else None)
    if work.refusal is not None:
        return
    filled = fill(version, validator, intent)
    if isinstance(filled, CallRejected):
        work.refusal = filled
        return
    work.to_run = filled
    work.digest = digest_of(core, work.to_run, masked=bool(work.secrets))
    if work.secrets:
        work.recorded_run = shown(core, work, work.to_run)[0]
        core.secrets.truths[work.call_id] = Truth(intent, work.to_run)
        core.wiring.masked.add(work.call_id)


def digest_of(core: Core, arguments: Json, *, masked: bool) -> str:
    """
    Return the digest of arguments that will run.

    Where sensitive values are masked it is an HMAC under a key of this process: it tells two secrets apart and cannot
    be guessed from the record.
    """
    if not masked:
        return digest(arguments)
    return hmac.new(core.wiring.mask_key, canonical(arguments), "sha256").hexdigest()


def truly_same(core: Core, call: Call, version: int | None, intent: Json, to_run: Json) -> bool | None:
    """
    Whether a call that was recorded masked is this one; None: its true arguments were those of another process.

    What is recorded cannot tell: masked, the arguments of one call may look like those of another.
    """
    if not call.redacted:
        return None
    true = core.secrets.truths.get(call.call_id)
    if true is not None and true.asks_for(intent):
        return True
    if version != call.schema_version:
        return None
    if true is not None:
        return true.asks_for(to_run)
    if call.call_id in core.wiring.masked and call.arguments_digest is not None:
        return call.arguments_digest == digest_of(core, to_run, masked=True)
    return None


def context_of(core: Core, work: Work, attempt: int | None = None, key: str | None = None) -> Context:
    """Return what user code is told of the call; `attempt` and `key` as recorded, unless they are given."""
    call = core.history.calls.get(work.call_id) or work.stub
    return Context(
        session_id=core.session_id,
        call_id=work.call_id,
        tool=core.wiring.registry.home(work.stub.tool),
        schema_version=work.stub.schema_version or 0,
        attempt=call.attempt if attempt is None else attempt,
        idempotency_key=key or call.idempotency_key or call.host_key or work.call_id,
        principal=actor_of(core, call),
        tenant=core.tenant,
        read_results=lambda: results_of(core),
        read_call=core.history.calls.get,
    )


def actor_of(core: Core, call: Call) -> Any:
    """
    Return who acts in a call, for the host's own code.

    As the host gave it, where that is who the call is recorded for; else (a worker, a verdict, a session that somebody
    else opened after a crash) what is recorded: nobody's call runs with another one's rights.
    """
    same = core.actor is not None and core.principal == call.principal
    return core.actor if same else call.principal


def results_of(core: Core) -> list[Any]:
    """Return copies of the session's recorded results, oldest first."""
    return [
        copied({"tool": call.tool, "callId": call.call_id, "arguments": call.to_run, "result": call.result})
        for call in list(core.history.calls.values())  # a tool that nobody waits for may ask while a turn is recorded
        if call.state == "succeeded"
    ]
