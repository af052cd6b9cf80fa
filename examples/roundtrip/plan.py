"""A plan as an answer: what it has to look like, and what no schema can say about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ledger import Invalid

PLAN: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["steps"],
    "properties": {
        "steps": {
            "type": "array",
            "minItems": 1,
            "maxItems": 50,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "kind", "start", "end", "needs"],
                "properties": {
                    "id": {"type": "string", "minLength": 1, "maxLength": 40},
                    "kind": {"enum": ["read", "write", "approval"]},
                    "start": {"type": "integer", "minimum": 0, "maximum": 10000},
                    "end": {"type": "integer", "minimum": 0, "maximum": 10000},
                    "needs": {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 40}},
                },
            },
        }
    },
}


def is_sound(plan: Mapping[str, Any]) -> list[Invalid]:
    """Return what is wrong: ids that do not exist, steps that end before they start, writes that nobody approves."""
    steps = {step["id"]: step for step in plan["steps"]}
    found = [] if len(steps) == len(plan["steps"]) else [Invalid("repeated_id", "Each step has an id of its own.")]
    for number, step in enumerate(plan["steps"]):
        found += _faults(step, steps, f"/steps/{number}")
    return found


def _faults(step: Mapping[str, Any], steps: Mapping[str, Mapping[str, Any]], pointer: str) -> Iterator[Invalid]:
    if step["start"] >= step["end"]:
        yield Invalid("ends_too_early", "A step ends after its start.", f"{pointer}/end")
    for place, name in enumerate(step["needs"]):
        if name not in steps:
            yield Invalid("unknown_step", f"There is no step {name!r}.", f"{pointer}/needs/{place}")
    approvals = [steps[name] for name in step["needs"] if name in steps and steps[name]["kind"] == "approval"]
    if step["kind"] == "write" and not any(approval["end"] <= step["start"] for approval in approvals):
        yield Invalid("not_approved", "A write needs an approval step that ends before it.", f"{pointer}/needs")
