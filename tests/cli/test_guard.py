"""What happens when a command fails."""

import errno
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.cli import main
from ledger.cli.guard import guarded
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.streams import OutputFailed
from ledger.cli.table import Column
from ledger.errors import LedgerError
from tests.cli.running import Broken, ask, shared
from tests.cli.sample import root


@pytest.mark.parametrize(
    ("kind", "status", "code", "message"),
    [
        ("ledger", 1, "unlucky", "no luck with postgresql://ada:***@host/db"),
        ("integrity", 4, "integrity", "the chain is broken"),
        ("known", 1, "not_known", "no call x"),
        ("bug", 1, "unexpected", "unexpected KeyError: 'postgresql://ada:***@host/db'"),
        ("file", 1, "os_error", "No such file or directory: a\\x1bb.json"),
        ("disk", 1, "os_error", "No space left on device"),
        ("click", 1, "failed", "no way"),
    ],
)
def test_failures_have_words_and_status(kind: str, status: int, code: str, message: str) -> None:
    """People read masked, harmless words on stderr, programs one object; each kind has its status."""
    told = ask("thing", "fail", kind)
    assert (told.exit_code, told.stdout) == (status, "")
    assert f"Error: {message} ({code})\n" in told.stderr
    assert "Traceback" not in told.stderr
    asked = ask("thing", "fail", kind, "--json")
    error = json.loads(asked.stdout)["error"]
    assert asked.exit_code == status
    assert list(error) == ["code", "message", "hint"]
    assert error["code"] == code
    assert "s3cr3t" not in told.output + asked.output


def test_a_hint_follows_the_error() -> None:
    """What to do stands on its own line."""
    assert ask("thing", "fail", "ledger").stderr.endswith("(unlucky)\nTry again.\n")


@pytest.mark.parametrize("kind", ["interrupt", "abort"])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_an_interrupt_is_quiet(kind: str, more: list[str]) -> None:
    """Ctrl-C ends with 130 and without a word."""
    result = ask("thing", "fail", kind, *more)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert "Error" not in result.stderr


@pytest.mark.parametrize("kind", ["bug", "ledger"])
def test_a_traceback_is_shown_on_demand(kind: str) -> None:
    """LEDGER_DEBUG=1 shows the traceback, line by line, masked, and the library's debug messages."""
    told = ask("thing", "fail", kind, env={"LEDGER_DEBUG": "1"}).stderr
    assert "\nTraceback (most recent call last):\n" in told
    assert "s3cr3t" not in told


def test_a_missing_ledger_names_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the database does not exist, those nearby are offered."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.db").write_bytes(b"\0" * 512)
    result = ask("thing", "fail", "database", "--json")
    assert json.loads(result.stdout)["error"]["hint"] == "Lying nearby: --db sqlite:///agent.db"


@pytest.mark.parametrize(
    "arguments",
    [["thing", "show", "--json", "x"], ["thing", "list", "--bogus", "--json"], ["--json"], ["--json", "nope"]],
)
def test_wrong_usage_is_told_in_json_too(arguments: list[str]) -> None:
    """Even a line that could not be read to its end is answered by one object if --json stands on it."""
    result = ask(*arguments, command=root if "thing" in arguments else main)
    error = json.loads(result.stdout)["error"]
    assert (result.exit_code, error["code"]) == (2, "usage")
    assert error["hint"].startswith("Try: ledger")


def test_json_after_a_double_dash_is_an_argument() -> None:
    """What stands behind `--` is no option."""
    result = ask("thing", "show", "--", "--json")
    assert (result.exit_code, result.stdout) == (2, "")


def test_log_messages_are_harmless() -> None:
    """The library's warnings reach a person through the same door, its debug messages only on demand."""
    told = ask("thing", "fail", "known").stderr
    assert "Warning: about to fail: \\x1b[2J\n" in told
    assert "quiet" not in told
    assert logging.getLogger("ledger").handlers == []


def run_with(monkeypatch: pytest.MonkeyPatch, out: object, *, json: bool) -> int:
    """Run a command that prints to `out` at the end only."""
    monkeypatch.setattr(sys, "stdout", out)
    return guarded(lambda: None, Shell(json=json), [])


@pytest.mark.parametrize("json", [False, True])
def test_a_full_disk_is_told_on_stderr(
    *, json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What could not be written is told to a person, because stdout takes nothing."""
    assert run_with(monkeypatch, Broken(errno.ENOSPC), json=json) == 1
    assert (
        "Error: the output could not be written: No space left on device (output_failed)\n" in capsys.readouterr().err
    )


def test_an_error_that_stdout_does_not_take_is_told_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error object itself may not fit on the disk: then the words go to stderr."""
    monkeypatch.setattr(sys, "stdout", Broken(errno.ENOSPC))

    def fail() -> None:
        raise KeyError("x")

    assert guarded(fail, Shell(json=True), []) == 1
    assert "unexpected KeyError" in capsys.readouterr().err


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_list_to_a_full_disk_is_told(
    at: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list that can't be written is a failed output, wherever it broke, and no list that broke off."""
    out = Broken(errno.ENOSPC, only_at=at)
    monkeypatch.setattr(sys, "stdout", out)
    shell = Shell(json=True)
    assert guarded(lambda: shell.out.rows([{"a": 1}, {"a": 2}], []), shell, []) == 1
    assert OutputFailed.default_code in capsys.readouterr().err
    assert "error" not in out.getvalue()


def test_an_error_comes_after_what_was_printed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows before a failure stand before its words."""
    place = shared(monkeypatch)
    assert guarded(lambda: Shell().out.rows(broken(), [Column(key="n")], format="csv"), Shell(), []) == 1
    assert place.getvalue().decode() == "n\r\n1\r\nError: broken (ledger_error)\n"


def broken() -> Iterator[Row]:
    yield {"n": 1}
    raise LedgerError("broken")
