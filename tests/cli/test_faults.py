"""Failures and their status."""

import click
import pytest

from ledger.cli.faults import DONE, FAILED, INTEGRITY, USAGE, WAITS, Fault, fault_of, worst
from ledger.errors import LedgerError, SessionOwned, UsageError, VerdictRefused


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (VerdictRefused("settled", hint="Note it."), Fault(code="verdict_refused", message="settled", hint="Note it.")),
        (UsageError("no"), Fault(code="usage", message="no", exit_code=USAGE)),
        (LedgerError("cut", code="integrity"), Fault(code="integrity", message="cut", exit_code=INTEGRITY)),
        (click.ClickException("no\n\tway"), Fault(code="failed", message="no way")),
        (click.UsageError("what?"), Fault(code="usage", message="what?", exit_code=USAGE)),
        (FileNotFoundError(2, "No such file", "x"), Fault(code="os_error", message="No such file: x")),
        (OSError(28, "Disk full"), Fault(code="os_error", message="Disk full")),
    ],
)
def test_failures_are_told(error: Exception, fault: Fault) -> None:
    """Every kind of failure has its code, its words and its status."""
    assert fault_of(error) == fault


@pytest.mark.parametrize("error", [KeyError("x"), OSError("without a number")])
def test_a_bug_is_told_as_one(error: Exception) -> None:
    """What nobody foresaw says what it was and how to report it."""
    fault = fault_of(error)
    assert fault.code == "unexpected"
    assert fault.message == f"unexpected {type(error).__name__}: {error}"
    assert "LEDGER_DEBUG=1" in str(fault.hint)


@pytest.mark.parametrize(
    ("owner", "until", "words"),
    [
        (
            "vm:81e5:pid-[1]:1234:99:ab",
            "2026-11-29T20:20:20.000000Z",
            "process 1234 on host vm until 2026-11-29 20:20:20 UTC",
        ),
        ("another thread of this process", "it is done", "another thread of this process until it is done"),
    ],
)
def test_people_read_an_owner_in_words(owner: str, until: str, words: str) -> None:
    """Programs get the owner's name as it is recorded, people the process and its host, and the option that waits."""
    fault = fault_of(SessionOwned("s", owner=owner, until=until))
    assert fault.words == f"session s is owned by {words}"
    assert owner in fault.to_wire()["message"]
    assert "--wait SECONDS" in fault.to_wire()["hint"]
    assert Fault(code="x", message="m").words == "m"


def test_wrong_usage_shows_the_right_one() -> None:
    """The usage line and the help command of the very command that was mistyped are named."""
    context = click.Context(click.Command("x"), info_name="ledger")
    fault = fault_of(click.UsageError("what?", context))
    assert fault.usage == "Usage: ledger [OPTIONS]"
    assert fault.hint == "Try: ledger --help"


def test_the_wire_form_is_masked() -> None:
    """The error object has code, message and hint, without passwords."""
    wire = Fault(code="c", message="at x://u:p@h", hint="password=p").to_wire()
    assert wire == {"code": "c", "message": "at x://u:***@h", "hint": "password=***"}
    assert Fault(code="c", message="m").to_wire()["hint"] is None


def test_integrity_wins() -> None:
    """Of several results the worst is the status: integrity over failure over waiting."""
    assert worst() == DONE
    assert worst(DONE, WAITS) == WAITS
    assert worst(WAITS, FAILED, DONE) == FAILED
    assert worst(FAILED, INTEGRITY, WAITS) == INTEGRITY
