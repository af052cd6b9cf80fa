"""Stories of one call, told by the short names of its events."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from ledger.calls import Call, evolve
from ledger.events import BODIES, Event
from ledger.events.fields import from_wire
from tests.events.samples import event

SUITE = Path(__file__).resolve().parents[1] / "suite" / "call_life.json"


@cache
def suite() -> dict[str, Any]:
    """Return the stories with the defaults of their bodies."""
    found: dict[str, Any] = json.loads(SUITE.read_text(encoding="utf-8"))
    return found


def said(name: str, body: dict[str, Any] | None = None, envelope: dict[str, Any] | None = None) -> Event:
    """Return an event of the call by its short name, its body completed by the defaults."""
    wire = suite()["defaults"].get(name, {}) | (body or {})
    found: Any = from_wire(BODIES[f"call.{name}"], wire)
    return event(found, **envelope or {})


def tell(*story: str | list[Any], call: Call | None = None) -> Call:
    """Return the call after these events, each a short name or [name, body, envelope]; numbered from 1."""
    after = call or Call()
    for place, part in enumerate(story, after.sequence + 1):
        after = evolve(after, said(part) if isinstance(part, str) else said(*part), place)
    return after
