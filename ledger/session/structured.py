"""An answer that must fit a schema: validated, asked for again at most three times, and kept whatever it is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from ledger.catalog import GATE_ERROR, ArgumentsUnfit, Violation
from ledger.catalog.output import OutputSchema, output_schema
from ledger.errors import DivergentTurn, JsonRejected, UsageError
from ledger.events import MessageRecorded, TurnRecorded
from ledger.execution.requests import Steps, user_code
from ledger.gates import business
from ledger.history import History, Turn
from ledger.providers.conversation import turn_messages
from ledger.providers.port import Reply, WireFormat
from ledger.providers.texts import NOTE
from ledger.session.border import wire
from ledger.session.core import Core, Item
from ledger.session.hosted import hosted_items
from ledger.session.intake import Terms, turn_body
from ledger.session.loop import Loop
from ledger.session.redaction import MASK, UNSHOWN, has_sensitive, hidden, quotes, sensitive
from ledger.session.scrubbing import scrub
from ledger.strictjson import ARGUMENTS, JsonObject, canonical, decode, digest

REGENERATIONS: Final = 3
"""How often a model is asked to send an answer again before its text is kept as it is."""

Status: TypeAlias = Literal["valid", "invalid", "unstructured"]
AnswerCheck: TypeAlias = Callable[[Any], Any]
Wanted: TypeAlias = tuple[object, AnswerCheck | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Structured:
    """
    A model's answer and what became of it; `value` only where it is `valid` (built, where a type was given).

    `invalid`: ask the model again, `messages` end with what to tell it. `unstructured`: that was its last try (or no
    other try would help), and the text is kept as the answer. `attempt` counts from 1.
    """

    turn: int
    status: Status
    attempt: int
    text: str | None
    value: Any = None
    violations: tuple[Violation, ...] = ()
    messages: list[JsonObject] = field(default_factory=list)

    @property
    def valid(self) -> bool:
        """Whether the value may be used."""
        return self.status == "valid"

    @property
    def again(self) -> bool:
        """Whether the model is to be asked again."""
        return self.status == "invalid"

    @property
    def repair(self) -> JsonObject | None:
        """The message that asks the model to repair its answer; None where it is not asked again."""
        return self.messages[-1] if self.again else None


@dataclass(slots=True)
class Judge:
    """
    Decides about one reply: strict JSON, then the schema, then the host's check. It fails closed.

    `told` is what was decided, as the model may read it; None: the reply was recorded before.
    """

    output: OutputSchema
    check: AnswerCheck | None
    told: JsonObject | None = None
    value: Any = None
    decoded: Any = None
    hopeless: bool = False

    def violations(self, reply: Reply) -> Steps[tuple[Violation, ...]]:
        """Return what is wrong; none: `value` holds the answer. `hopeless`: the model cannot repair it."""
        if reply.kind == "incomplete":  # half a number is a number
            return (Violation("", "incomplete", "the answer was cut off or refused before it was complete"),)
        try:
            self.decoded = decode(reply.text or "", ARGUMENTS)
        except JsonRejected as error:
            quoted = quotes(self.output.schema, error.code, error.pointer)
            return (Violation("" if quoted else error.pointer or "", error.code, UNSHOWN if quoted else str(error)),)
        found = self.output.compiled.violations(self.decoded)
        masked, secrets = sensitive(self.output.schema, self.decoded)
        if secrets:
            found = tuple(hidden(each, masked) for each in found)
        self.hopeless = any(violation.keyword == GATE_ERROR for violation in found)
        return found or (yield from self._own_code())

    def _own_code(self) -> Steps[tuple[Violation, ...]]:
        try:
            value = self.output.build(self.decoded)
            answer = None if self.check is None else (yield from user_code(self.check, copy.deepcopy(value)))
        except ArgumentsUnfit as error:
            return (Violation(error.pointer, "schema_validation", str(error)),)
        except Exception as error:  # noqa: BLE001 - the host's code may raise anything: nothing unchecked is used
            self.hopeless = True
            return (Violation("", GATE_ERROR, f"the answer could not be checked: {type(error).__name__}"),)
        self.value = value
        return self._refused(answer)

    def _refused(self, answer: Any) -> tuple[Violation, ...]:
        answers = answer if isinstance(answer, list | tuple) else [answer]
        refusals = [refused for each in answers if (refused := business(each)) is not None]
        self.hopeless = not all(refused.model_can_repair for refused in refusals)
        places = [(refused.violations[0]["pointer"] if refused.violations else "") for refused in refusals]
        return tuple(Violation(at, each.code, each.message) for at, each in zip(places, refusals, strict=True))


def structured(
    loop: Loop, format_name: str, reply: object, wanted: Wanted, terms: Terms, turn: int | None
) -> Steps[Structured]:
    """
    Judge and record a reply that must fit a schema; the same one again is answered from the record.

    `wanted` is the schema and the host's check. Raises `UsageError` for a reply with tool calls, `CatalogFault` for a
    bad schema, and what `Loop.turn` raises.
    """
    form = wire(format_name)
    parsed = form.parse(reply)
    if parsed.calls:
        raise UsageError("the reply asks for tools: it is no answer yet", hint="Give it to dispatch.")
    judge = Judge(output_schema(wanted[0]), wanted[1])
    parsed = replace(parsed, model=parsed.model or loop.core.opening.model)
    number = yield from loop.turn(parsed, terms, turn, partial(_record, judge, form), _shown(parsed, judge.output))
    found = loop.core.history.turn(number)
    if found is None or found.body.structured is None:
        raise UsageError(f"turn {number} was recorded by dispatch, not as an answer under a schema")
    return _told(loop.core, found, judge, (parsed, form))


def _told(core: Core, turn: Turn, judge: Judge, what: tuple[Reply, WireFormat]) -> Structured:
    reply, form = what
    told = judge.told or turn.body.structured or {}
    violations = tuple(Violation(v["pointer"], v["keyword"], v.get("message", "")) for v in told["violations"])
    value = judge.value
    if told["status"] == "valid" and judge.told is None:  # what was found then counts, also under another check now
        value = _built_again(judge.output, turn.number, reply.text or "")
    messages = turn_messages(core.history, turn, form)
    if told["status"] == "invalid":
        messages.append(form.user(_asking(told)))
    return Structured(
        turn=turn.number,
        status=told["status"],
        attempt=told["attempt"],
        text=reply.text,
        value=value if told["status"] == "valid" else None,
        violations=violations,
        messages=messages,
    )


def _record(judge: Judge, form: WireFormat, core: Core, reply: Reply, terms: Terms) -> Steps[int]:
    """Record the turn with what was found, and the message that asks for another try, in one commit."""
    number = core.history.turns[-1].number + 1 if core.history.turns else 1
    violations = yield from judge.violations(reply)
    body = turn_body(core, reply, terms)
    if has_sensitive(judge.output.schema):
        body = replace(body, text=None if body.text is None else _shown(reply, judge.output), items=None)
    schema = digest(judge.output.schema)
    attempt = _attempt(core.history, schema)
    again = bool(violations) and attempt <= REGENERATIONS and not judge.hopeless and _affordable(core, body)
    status: Status = "invalid" if again else "unstructured" if violations else "valid"
    secrets = sensitive(judge.output.schema, judge.decoded)[1]
    found = [scrub(violation.to_wire(), secrets, keys=False) for violation in violations]
    told: JsonObject = {"schemaDigest": schema, "attempt": attempt, "status": status, "violations": found}
    recorded = told
    texts = (core.history.opened or core.opening).transcript == "full"
    if not texts:  # the words quote the answer
        recorded = told | {"violations": [{"pointer": v["pointer"], "keyword": v["keyword"]} for v in found]}
    items = [Item(replace(body, kind="structured", structured=recorded), turn=number, actor="model")]
    items += hosted_items(core, reply, number)
    if again and texts:
        message = form.user(_asking(told))
        items.append(Item(MessageRecorded(role=message["role"], provider=form.name, message=message)))
    yield from core.commit(items, release=True)
    judge.told = told
    return number


def _affordable(core: Core, body: TurnRecorded) -> bool:
    """Whether the session's limits leave room for another try; else it is closed."""
    core.budget.over = core.budget.reached(core.history, core.wiring.clock.now(), replace(body, kind="incomplete"))
    return core.budget.over is None


def _shown(reply: Reply, output: OutputSchema) -> str | None:
    """Return the text without what the schema calls sensitive; one that cannot be read may hold it anywhere."""
    if reply.text is None or not has_sensitive(output.schema):
        return reply.text
    try:
        decoded = None if reply.kind == "incomplete" else decode(reply.text, ARGUMENTS)
    except JsonRejected:
        decoded = None
    return MASK if decoded is None else canonical(scrub(*sensitive(output.schema, decoded))).decode()


def _built_again(output: OutputSchema, number: int, text: str) -> Any:
    """Return the value of a turn that was found valid; raises `DivergentTurn` for a text that cannot be that turn's."""
    try:
        decoded = decode(text, ARGUMENTS)
        if not output.compiled.violations(decoded):
            return output.build(decoded)
    except (ArgumentsUnfit, JsonRejected):
        pass
    raise DivergentTurn(number, expected="an answer that fits its schema", got="one that does not")


def _attempt(history: History, schema: str) -> int:
    """Return which try this is, counted from the record: a crash resets nothing, and another schema counts apart."""
    tries = (turn.body.structured for turn in reversed(history.turns) if turn.body.structured is not None)
    last = next((told for told in tries if told.get("schemaDigest") == schema), None)
    return last["attempt"] + 1 if last is not None and last["status"] == "invalid" else 1


def _asking(told: JsonObject) -> str:
    """Return what the model reads of a refused answer: deterministic, and data where it quotes the answer."""
    left = REGENERATIONS - told["attempt"] + 1
    facts = {"status": "rejected", "violations": told["violations"], "triesLeft": left, "next": "repair"}
    order = "Send the whole answer again: only the JSON, without a fence or a word around it."
    return f"{NOTE} Your answer does not fit what was asked for. {order} {canonical(facts).decode()}"
