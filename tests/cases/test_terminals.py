"""Reports of commands that broke on the pipe or the console that they wrote to."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from ledger.testing.contract.building import add
from tests.cases.scenes import SESSION, Desk
from tests.cli.running import ledger, process
from tests.session.agents import asked

pytestmark = pytest.mark.uncounted


def test_a_pipe_that_is_closed_early_gets_a_traceback(desk: Desk) -> None:
    """`| head -1` on ten thousand events is one line, nothing on stderr, no fault, and no half-written transaction."""
    # https://github.com/pallets/click/issues/712, https://github.com/Sherin-SEF-AI/CanLab/pull/24
    with desk.open(tools=False) as host:
        store: Any = host.reader
        add(store, SESSION, *(f"event-{number}" for number in range(10_000)))
    for command in (
        ["replay", "session", SESSION],
        ["replay", "session", SESSION, "--format", "jsonl"],
        ["replay", "session", SESSION, "--json"],
        ["audit", "events", "--format", "csv"],
    ):
        done = process(*command, module="ledger", env={"PYTHONUNBUFFERED": "1"}, shell="| head -1", cwd=desk.folder)
        assert done.stderr == b"", command
        assert done.stdout.count(b"\n") == 1, command
        assert done.returncode in (0, 141), command
    checked = ledger("db", "check")
    assert checked.exit_code == 0
    assert "10000 events" in checked.stdout.replace(",", "")


CONSOLES = {
    "cp1252": {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    "C": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.parametrize("console", CONSOLES)
def test_a_console_without_the_letters_crashes_the_command(desk: Desk, console: str) -> None:
    """What its encoding lacks is written as an escape: the output is complete in every form, and JSON is ASCII."""
    # https://github.com/agentrust-io/cmcp/issues/396, https://github.com/pallets/click/pull/3778
    host = desk.open(tools=False)
    host.tool("write", effect="write", schema={"type": "object"})(lambda **given: given)
    host.session(SESSION).dispatch(asked(("write", {"text": "café 中文 ✓"})))
    events = len(list(host.events(session=SESSION)))

    def shown(*form: str) -> bytes:
        command = ["audit", "events", "--session", SESSION, *form]
        done = process(*command, module="ledger", env=CONSOLES[console], cwd=desk.folder)
        assert (done.returncode, done.stderr) == (0, b""), form
        return done.stdout

    table = shown()
    assert table.count(b"\n") == events + 1
    assert (b"caf\xe9" if console == "cp1252" else b"caf\\xe9") + b" \\u4e2d\\u6587 \\u2713" in table
    rows = list(csv.DictReader(io.StringIO(shown("--format", "csv").decode("cp1252"))))
    assert len(rows) == events
    assert any("\\u4e2d\\u6587 \\u2713" in row["body"] for row in rows)
    data = json.loads(shown("--json").decode("ascii"))["data"]
    assert data == [json.loads(json.dumps(row)) for row in host.events(session=SESSION)]
