"""Verdicts, codes and counterexamples of differences: the suite says what is right."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.catalog import CompiledSchema, compile_schema
from ledger.catalog.diff import (
    RULES,
    VERDICTS,
    Difference,
    Finding,
    Settings,
    Subject,
    difference,
    missing_tool,
    read_subjects,
    worst,
)
from ledger.errors import CatalogFault

SUITE = json.loads((Path(__file__).parents[2] / "suite/differences.json").read_text(encoding="utf-8"))
TRAPS = {
    "default changed",
    "description reversed",
    "unit annotation changed",
    "format added",
    "enum narrowed",
    "optional removed while open",
    "required added with default",
    "1 vs 1.0 vs true",
    '"05"',
    "null vs absent merged",
    "rename collision",
    "array of two unwrapped",
}

NOTHING: dict[str, Any] = {"verdict": "identical", "findings": [], "counterexample": None, "upcast": "none"}


def subject(document: Any) -> Subject:
    return read_subjects(document)[None]


def settings(case: dict[str, Any]) -> Settings:
    return Settings(significant=frozenset(case.get("significant", ())), formats=frozenset(case.get("formats", ())))


def found(case: dict[str, Any]) -> Difference:
    return difference(subject(case["old"]), subject(case["new"]), settings(case))


def compiled(document: Any, case: dict[str, Any]) -> CompiledSchema:
    schema = document.get("inputSchema", document)
    try:
        return compile_schema(schema, formats=settings(case).formats)
    except CatalogFault:
        return compile_schema(schema, dialect="draft-07")


@pytest.mark.parametrize("case", SUITE["pairs"], ids=lambda case: case["fact"])
def test_a_difference_has_the_right_verdict_and_codes(case: dict[str, Any]) -> None:
    """Verdict and codes are those of the suite; what a counterexample says of itself, the validator says too."""
    here = found(case)
    assert here.verdict == case["verdict"]
    assert sorted({finding.code for finding in here.findings}) == sorted(case["codes"])
    assert here.needs_person == (case["verdict"] in ("semantic", "incompatible"))
    shown = here.counterexample
    assert (shown.outcome if shown else None) == case.get("outcome")
    if shown is not None:
        assert compiled(case["old"], case).violations(shown.arguments) == ()
        assert bool(compiled(case["new"], case).violations(shown.arguments)) == (shown.outcome == "refused")
        assert shown.code in case["codes"]


def test_a_difference_is_the_same_every_time() -> None:
    """No clock and no chance: the wire form is equal, and says nothing of what was not looked for."""
    for case in SUITE["pairs"][::5]:
        one, two = found(case).to_wire(), found(case).to_wire()
        assert json.dumps(one) == json.dumps(two)
        assert list(one) == ["verdict", "findings", "counterexample", "upcast"]
        assert all(list(each) == ["code", "pointer", "old", "new", "message"] for each in one["findings"])
        assert all(each["message"] for each in one["findings"])


def test_a_counterexample_shows_what_the_finding_says() -> None:
    """A default shows where the property is left out; where it has to be there, or is an item, with a value."""
    numbers = [{"type": "integer", "default": default} for default in (1, 2)]

    def shown(one: Any, two: Any) -> Any:
        counterexample = difference(Subject(schema=one), Subject(schema=two)).counterexample
        return counterexample and (counterexample.arguments, counterexample.pointer)

    optional = [{"type": "object", "properties": {"a": number}} for number in numbers]
    assert shown(*optional) == ({}, "/a")
    assert shown(*({**each, "required": ["a"]} for each in optional)) == ({"a": 0}, "/a")
    assert shown(*({"type": "array", "minItems": 1, "items": number} for number in numbers)) == ([0], "/0")
    nested = [
        {"type": "object", "required": ["l"], "properties": {"l": {"type": "array", "items": each}}}
        for each in optional
    ]
    assert shown(*nested) == ({"l": [{}]}, "/l/0/a")


def test_nothing_differs_from_itself() -> None:
    """Each side of each pair is identical to itself."""
    for case in SUITE["pairs"]:
        for side in ("old", "new"):
            assert difference(subject(case[side]), subject(case[side]), settings(case)).to_wire() == NOTHING


def test_every_trap_is_in_the_suite() -> None:
    """The twelve traps have cases, and none of them is let pass."""
    cases = [case for case in SUITE["pairs"] if "trap" in case]
    assert {case["trap"] for case in cases} == TRAPS
    assert all(case["verdict"] in ("semantic", "incompatible") for case in cases)


def test_every_code_is_in_the_suite() -> None:
    """No rule without a case; two speak of lists of tools only."""
    codes = {code for case in SUITE["pairs"] for code in case["codes"]}
    assert codes | {"tool_added", "tool_removed"} == set(RULES)
    assert [missing_tool("a/b", gone=gone).code for gone in (True, False)] == ["tool_removed", "tool_added"]
    assert missing_tool("a/b", gone=True) == Finding("tool_removed", "/a~1b", "a/b", None, "a/b: the tool is gone")


def test_verdicts_are_ordered() -> None:
    """The worst one counts; nothing is identical."""
    assert worst([]) == "identical"
    assert worst(["semantic", "annotation", "embed"]) == "semantic"
    assert VERDICTS.index("widening") < VERDICTS.index("semantic")
