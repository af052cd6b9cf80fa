"""The table of fault reports says what is there."""

import json
import re
from pathlib import Path

from tests.quality.tree import functions, syntax, text

TABLE = Path("tests/cases/README.md")
FAULTS = Path("tests/suite/agent_faults.json")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in text(TABLE).splitlines()
    if re.match(r"\| (\d+|F\d\d) \|", line)
]


def test_every_report_names_tests_that_exist() -> None:
    """Each row names a function of a file, or a case of the table that is played; one that does not says why."""
    faults = {case["id"]: case for case in json.loads(text(FAULTS))}
    missing = []
    for report, _, tests, _ in ROWS:
        named = re.findall(r"`([^`]+)`", tests)
        for path, name in (each.split("#" if "#" in each else "::") for each in named):
            there = {each.name for each in functions(syntax(Path(path)))} if path.endswith(".py") else faults.keys()
            missing += [] if name in there else [f"{report}: {path} {name}"]
        if not named:
            assert tests == f"later: needs {faults[report]['later']}"
    assert missing == []


def test_every_test_of_a_report_carries_its_address() -> None:
    """The addresses of a row stand in one of the files that it names."""
    for report, _, tests, addresses in ROWS:
        named = re.findall(r"`([^`]+)`", tests) or [str(FAULTS)]
        files = [text(Path(re.split("::|#", each)[0])) for each in named]
        for address in re.findall(r"<([^>]+)>", addresses):
            assert any(address in found for found in files), (report, address)


def test_every_fault_that_is_played_has_its_row() -> None:
    """Row for row the kinds of the played table, each once; and no report is named twice."""
    kinds = {report: kind for report, kind, _, _ in ROWS if report.startswith("F")}
    assert kinds == {case["id"]: case["kind"] for case in json.loads(text(FAULTS))}
    assert len(ROWS) == len({row[0] for row in ROWS})
