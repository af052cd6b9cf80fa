"""How long certified upcasts take beside bare validation of the same arguments, with the extra `fast` and without."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from ledger.catalog import Contract, ToolVersion, compile_schema
from ledger.catalog.upcast.certificate import Step
from ledger.catalog.upcast_files import read_upcast

TEXT = {"type": "string", "minLength": 1}
OLD = {
    "type": "object",
    "properties": {"to": TEXT, "subject": TEXT, "priority": {"enum": ["low", "high"]}},
    "required": ["to", "subject"],
    "additionalProperties": False,
}
NEW = {
    "type": "object",
    "properties": {
        "recipients": {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 1},
        "subject": TEXT,
        "priority": {"enum": ["LOW", "HIGH"]},
    },
    "required": ["recipients", "subject"],
    "additionalProperties": False,
}
FILE = {
    "tool": "send",
    "from": 1,
    "to": 2,
    "assertedBy": "bench@example.org",
    "ops": [
        {"op": "rename", "from": "/to", "to": "/recipients"},
        {"op": "wrap_array", "path": "/recipients"},
        {"op": "map_values", "path": "/priority", "values": {"low": "LOW", "high": "HIGH"}},
    ],
}
SMALL = {"to": "ada@example.org", "subject": "Hello", "priority": "low"}
COUNT = 5_000


def a_second(work: Callable[[Any], Any], rounds: int) -> float:
    """Return how often a second of the processor *work* is done on the small arguments: the median of the rounds."""
    found = []
    for _ in range(rounds):
        begun = time.process_time()  # others may be busy on this machine
        for _ in range(COUNT):
            work(SMALL)
        found.append(COUNT / (time.process_time() - begun))
    return round(median(found))


def step() -> Step:
    """The step, with validators compiled in this moment."""
    old, new = (
        ToolVersion(
            tool="send",
            version=number,
            schema=schema,
            contract=Contract(effect="external"),
            description="Send.",
            shape_digest="",
            description_digest="",
        )
        for number, schema in ((1, OLD), (2, NEW))
    )
    made = Step(read_upcast(FILE, "v1-v2.upcast.json", "send", (1, 2)), old, new)
    assert made.proof.grade == "iso"
    return made


def measured(rounds: int) -> dict[str, Any]:
    """Measure both in one run: certificates, and the bare validation of the same arguments."""
    made, bare = step(), compile_schema(OLD)
    certified, validated = a_second(made.carry, rounds), a_second(bare.violations, rounds)
    return {
        "validator": bare.name_for(SMALL),
        "certifiedPerSecond": certified,
        "validationsPerSecond": validated,
        "ratio": round(certified / validated, 3),
    }


def upcasts(rounds: int = 10) -> dict[str, Any]:
    """Measure with what is installed, and with jsonschema alone."""
    found = {"installed": measured(rounds)}
    there = sys.modules.get("jsonschema_rs")
    sys.modules["jsonschema_rs"] = None  # type: ignore[assignment]  # so that an import of it fails
    try:
        return found | {"jsonschema": measured(rounds)}
    finally:
        del sys.modules["jsonschema_rs"]
        if there is not None:
            sys.modules["jsonschema_rs"] = there


if __name__ == "__main__":
    print(upcasts())
