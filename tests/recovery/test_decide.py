"""The decision table of a resume, row by row, as data."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.calls import Approval, Call
from ledger.events import CallOutcomeArrivedLate
from ledger.recovery import Decision, Here, decide

ROWS = json.loads((Path(__file__).parents[1] / "suite/recovery.json").read_text())


def snake(wire: dict[str, Any]) -> dict[str, Any]:
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in wire.items()}


def call(wire: dict[str, Any]) -> Call:
    fields = snake(wire)
    if "approval" in fields:
        fields["approval"] = Approval(**snake(fields["approval"]))
    if fields.pop("late", False):
        fields["late"] = CallOutcomeArrivedLate(ended="succeeded", token=1, settles=False)
    return Call(call_id="c1", tool="tool", **fields)


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_a_resume_decides_by_the_table(row: dict[str, Any]) -> None:
    """State, effect and what was declared then decide what becomes of an open call, and why is said in words."""
    found = decide(call(row["call"]), Here(**snake(row["here"])))
    assert found == Decision(why=found.why, **row["decision"])
    assert found.why


def test_every_row_is_another_one() -> None:
    """No two rows of the table ask the same question."""
    asked = [json.dumps([row["call"], row["here"]], sort_keys=True) for row in ROWS]
    assert len(set(asked)) == len(asked)
