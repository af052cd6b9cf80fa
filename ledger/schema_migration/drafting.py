"""What a person finds prepared where a change of meaning stopped a call: the new arguments as far as they follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger.calls import Call
from ledger.catalog import ToolDefinition
from ledger.catalog.steps import Question, Steps, Upcast
from ledger.catalog.upcast.stops import Stop
from ledger.catalog.upcast.values import forth
from ledger.strictjson import Json, JsonObject, copied
from ledger.strictjson.pointer import from_pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """
    A proposal for a new call in the place of an old one, of the version `to_version`.

    `reached`: the version up to which proved steps carried the old one. `draft`: the arguments that follow from it by
    the file's operations, None where no file says it; `ask`: what a person has to add, and where.
    """

    reached: int | None
    to_version: int | None = None
    why: str | None = None
    draft: Json = None
    ask: tuple[Question, ...] = ()

    @property
    def to_fill_in(self) -> Json:
        """The draft with null for each answer: no schema that asks for one takes it as it is."""
        if not isinstance(self.draft, dict):
            return None
        filled: JsonObject = copied(self.draft)
        for question in self.ask:
            _put(filled, from_pointer(question.pointer), None)
        return filled

    def to_wire(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "reached": self.reached,
            "to": self.to_version,
            "why": self.why,
            "draft": self.draft,
            "ask": [{"pointer": each.pointer, "question": each.question} for each in self.ask],
        }


def draft_of(definition: ToolDefinition | None, call: Call) -> Draft:
    """Return the draft for a call that a newer version of its tool stopped; it is a proposal and is never applied."""
    step = definition.upcasts.get(call.schema_version or 0) if definition is not None else None
    if step is None:
        return Draft(reached=call.schema_version)
    return Draft(
        reached=call.schema_version,
        to_version=step.to_version,
        why=step.semantic,
        draft=None if call.redacted else _carried(step, call.to_run),  # a mask is no argument
        ask=step.ask,
    )


def _carried(step: Upcast, arguments: Json) -> Json:
    """Return what the step's operations make of the arguments; of that only what the file carries, where it says it."""
    if not isinstance(arguments, dict) or not (step.ops or step.carry):
        return {} if step.semantic else None
    try:
        image = forth(step.ops, arguments)
    except Stop:
        return None
    if not step.carry or "" in step.carry:
        return image
    draft: JsonObject = {}
    for pointer in step.carry:
        steps = from_pointer(pointer)
        found, value = _get(image, steps)
        if found:
            _put(draft, steps, value)
    return draft


def _get(value: Json, steps: Steps) -> tuple[bool, Json]:
    for step in steps:
        if not isinstance(value, dict) or step not in value:
            return False, None
        value = value[step]
    return True, value


def _put(target: JsonObject, steps: Steps, value: Json) -> None:
    for step in steps[:-1]:
        inner = target.setdefault(step, {})
        if not isinstance(inner, dict):  # an answer within an item of a list: the person writes it there
            return
        target = inner
    target[steps[-1]] = value
