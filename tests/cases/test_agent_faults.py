"""Reports of agents that went wrong, one case each, on every back end: see `tests/suite/agent_faults.json`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases.plays import Play
from tests.cases.scenes import MEMORY, SERVER, Desk

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "suite" / "agent_faults.json").read_text(encoding="utf-8")
)
LATER = {"framework"}


@pytest.mark.parametrize("desk", ["", MEMORY, SERVER], ids=["sqlite", "memory", "postgres"], indirect=True)
@pytest.mark.parametrize(
    "case", [case for case in CASES if "steps" in case], ids=lambda case: f"{case['id']} {case['kind']}"
)
def test_an_agent_goes_wrong(desk: Desk, case: dict[str, Any]) -> None:
    """What the case's `fact` says holds, and at each look every provider's format takes the conversation."""
    assert any("expect" in step for step in case["steps"][-1:])
    Play(case, desk).run()


def test_every_report_is_accounted_for() -> None:
    """Each has an address, a fact and its steps, or says what it needs that is not there yet; no id is left out."""
    assert [case["id"] for case in CASES] == sorted({case["id"] for case in CASES})
    assert len(CASES) == 23
    for case in CASES:
        assert case["fact"].endswith(".")
        assert all(re.match(r"https://github\.com/|measured", address) for address in case["address"])
        assert len({"steps", "test", "later"} & case.keys()) == 1
        assert {case[key] for key in ("later", "rest") if key in case} <= LATER
