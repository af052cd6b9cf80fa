"""Eight processes write one file beside a long audit: each gets its share, and nobody is told "busy"."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ledger.store.maintenance import check
from tests.store.children import ROOT

SECONDS = 0.6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("processes")


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Any]:
    """What the benchmark counts in a short run, made by a process that forks the writers from itself."""
    code = "import json, sys; from pathlib import Path; from benchmarks.processes import beside_audits, compared"
    code += "; folder, seconds = Path(sys.argv[1]), float(sys.argv[2]); found = compared(folder, 1, seconds, 8, 0)"
    code += "; print(json.dumps(found | {'besideAudits': beside_audits(folder, seconds, 8)}))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    command = [sys.executable, "-c", code, str(folder), str(SECONDS)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def test_nobody_is_told_busy(found: dict[str, Any]) -> None:
    """8 writers, and 8 beside an audit that holds one snapshot after the other: every append succeeds."""
    # https://github.com/langchain-ai/langgraph/issues/8136, https://github.com/bytedance/deer-flow/issues/3353
    assert (found["ledger"]["busyErrors"], found["besideAudits"]["busyErrors"]) == (0, 0)
    assert found["besideAudits"]["audits"] >= 1


def test_each_writer_gets_its_share(found: dict[str, Any]) -> None:
    """The slowest writer makes at least half as many commits as the mean; with a plain busy timeout it starves."""
    assert found["ledger"]["slowestToMean"] >= 0.5
    assert found["ledger"]["slowestToMean"] > found["plain"]["slowestToMean"]


def test_an_audit_sees_no_gap(found: dict[str, Any]) -> None:
    """Whatever is written meanwhile, a snapshot holds every position up to its last."""
    assert found["besideAudits"]["gaps"] == 0


def test_a_copy_made_meanwhile_is_whole(found: dict[str, Any]) -> None:
    """Backups beside 8 writers and an audit: each copy is sound."""
    assert found["besideAudits"]["copies"] >= 1
    assert found["besideAudits"]["badCopies"] == 0


def test_what_was_acknowledged_is_there(found: dict[str, Any], folder: Path) -> None:
    """The chains of all 16 writers are whole, and hold what they were told was committed."""
    for name, writers in (("processes-0-0.db", "ledger"), ("processes-beside.db", "besideAudits")):
        health = check(str(folder / name))
        assert (health.sound, health.chains.sessions) == (True, 8)
        assert health.chains.events == found[writers]["commits"] + 8
