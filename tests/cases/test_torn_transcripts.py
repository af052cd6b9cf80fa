"""Reports of transcripts that a crash left torn, and of importers that then stopped, or lost more than was torn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.providers.check import check
from tests.cases.scenes import Desk
from tests.cli.running import data, ledger
from tests.providers.odd import FORMATS


def said(number: int) -> dict[str, Any]:
    """Return a user's message."""
    return {"role": "user", "content": f"message {number}"}


def entry(number: int) -> dict[str, Any]:
    """Return the same as a line of Claude Code's log: a chain of entries."""
    before = f"u{number - 1}" if number > 1 else None
    about = {"type": "user", "uuid": f"u{number}", "parentUuid": before, "sessionId": "torn", "isSidechain": False}
    return about | {"timestamp": f"2026-05-01T12:00:{number % 60:02}.000Z", "message": said(number)}


@pytest.mark.parametrize("line", [said, entry], ids=["openai", "claude-code"])
def test_a_bad_line_ends_an_import_without_a_word(desk: Desk, line: Any) -> None:
    """A run of NUL and half a line among a hundred: 98 are taken in, both are named by line and byte, and it fails."""
    # https://github.com/anthropics/claude-code/issues/49876, https://github.com/anthropics/claude-code/issues/50347
    lines = [json.dumps(line(number)).encode() for number in range(1, 101)]
    lines[39] = b"\0" * 300
    lines[69] = lines[69][: len(lines[69]) // 2]
    path = desk.folder / "torn.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    told = ledger("session", "import", "torn.jsonl", "--session", "torn", "--json")
    report = json.loads(told.stdout)["data"]
    assert (told.exit_code, report["problemCount"]) == (1, 2)
    bad = [(problem["line"], problem["offset"], problem["code"]) for problem in report["problems"]]
    offsets = [sum(len(each) + 1 for each in lines[:number]) for number in (39, 69)]
    assert bad == [(40, offsets[0], "nul"), (70, offsets[1], "torn")]
    rows = data("audit", "events", "--session", "torn", "--type", "message.recorded")
    said_now = [row["body"]["message"]["content"] for row in rows]
    assert said_now == [f"message {number}" for number in range(1, 101) if number not in (40, 70)]
    shown = ledger("session", "import", "torn.jsonl", "--session", "torn")
    assert shown.exit_code == 1
    assert all(f"line {number}, byte {offset}" in shown.output for number, offset, _ in bad)
    again = ledger("session", "import", "torn.jsonl", "--session", "torn", "--skip-bad", "--json")
    assert (again.exit_code, json.loads(again.stdout)["data"]["added"]) == (0, 0)


CALLS = [{"id": name, "type": "function", "function": {"name": "sh", "arguments": "{}"}} for name in "abc"]
ASKED = json.dumps({"role": "assistant", "content": None, "tool_calls": CALLS})


def result(name: str, content: str) -> str:
    """Return a tool's message as a line."""
    return json.dumps({"role": "tool", "tool_call_id": name, "content": content})


def imported(path: Path, *lines: str) -> dict[str, Any]:
    """Import a file of these lines; return the report."""
    path.write_text("\n".join(lines) + "\n")
    report: dict[str, Any] = data("session", "import", path.name, "--session", "glued")
    return report


@pytest.mark.parametrize("torn", ['"content": "hal', ""], ids=["in a text", "before a key"])
def test_a_record_is_lost_that_is_glued_to_a_torn_one(desk: Desk, torn: str) -> None:
    """The whole one behind a torn one is found, two whole ones are two, the torn one is named; nothing is twice."""
    # https://github.com/PrimeIntellect-ai/prime-agent/pull/1785, https://github.com/github/copilot-cli/issues/4098,
    # https://github.com/QwenLM/qwen-code/pull/3656
    torn = '{"role": "tool", "tool_call_id": "a", ' + torn
    user = '{"role": "user", "content": "Go."}'
    lines = [user, ASKED, torn + result("a", "whole a"), result("b", "whole b") + result("c", "whole c"), user]
    report = imported(desk.folder / "glued.jsonl", *lines)
    assert [(each["line"], each["code"]) for each in report["problems"]] == [(3, "torn"), (4, "glued")]
    assert [each["offset"] for each in report["problems"]] == [
        len("\n".join(lines[:2])) + 1,
        len("\n".join(lines[:3])) + 1 + len(result("b", "whole b")),
    ]
    (session,) = report["sessions"]
    assert (session["calls"], session["open"], session["turns"]) == (3, 0, 1)
    host = desk.open(tools=False)
    rows = list(host.events(session="glued", type="call.succeeded"))
    assert [row["body"]["result"] for row in rows] == ["whole a", "whole b", "whole c"]
    assert len(list(host.events(session="glued", type="message.recorded"))) == 2
    for name in FORMATS:
        assert check(name, host.session("glued").messages(name)) == []
    assert imported(desk.folder / "glued.jsonl", *lines)["added"] == 0
