"""What went wrong, as the command line tells it: the code, the words, what to do, and the exit status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import click

from ledger.cli.masking import mask
from ledger.errors import LedgerError, SessionOwned

DONE: Final = 0
FAILED: Final = 1
"""A ledger error, a refused verdict, findings."""
USAGE: Final = 2
WAITS: Final = 3
"""Something waits for a person, or for user code that this process lacks."""
INTEGRITY: Final = 4
"""The record was tampered with or damaged; it wins over every other status."""
INTERRUPTED: Final = 130
"""128 + SIGINT, as a shell shows it."""

_OWNED: Final = "Wait for it (--wait SECONDS), or stop that process."
_EXIT_OF_CODE: Final = {"usage": USAGE, "integrity": INTEGRITY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """
    One failure: `code` for programs, `message` and `hint` for people, `usage` the line to compare one's own with.

    `said` is the message as people read it, where `message` holds names that only programs want.
    """

    code: str
    message: str
    hint: str | None = None
    exit_code: int = FAILED
    usage: str | None = None
    said: str | None = None

    @property
    def words(self) -> str:
        """Return the message for people."""
        return self.said or self.message

    def to_wire(self) -> dict[str, Any]:
        """Return the `error` object of the `--json` envelope."""
        return {"code": self.code, "message": mask(self.message), "hint": mask(self.hint) if self.hint else None}


def fault_of(error: Exception) -> Fault:
    """Return how to tell an exception: ledger errors as they are, wrong usage with its usage line, others as a bug."""
    match error:
        case SessionOwned():
            return _owned(error)
        case LedgerError():
            exit_code = _EXIT_OF_CODE.get(error.code, FAILED)
            return Fault(code=error.code, message=error.message, hint=error.hint, exit_code=exit_code)
        case click.ClickException():
            return _from_click(error)
        case OSError(strerror=str(reason)):
            place = f": {error.filename}" if error.filename else ""
            return Fault(code="os_error", message=f"{reason}{place}")
        case _:
            return Fault(
                code="unexpected",
                message=f"unexpected {type(error).__name__}: {error}",
                hint="This is a bug in ledger. Please report it with what LEDGER_DEBUG=1 prints.",
            )


def _owned(error: SessionOwned) -> Fault:
    """Return the fault: a program gets the owner's id and the time as they are recorded, a person both in words."""
    recorded = f"session {error.session_id} is owned by {error.owner} until {error.until}"
    return Fault(code=error.code, message=recorded, hint=_OWNED, said=error.message)


def worst(*exit_codes: int) -> int:
    """Return the status of several results together: integrity, then a failure, then what waits."""
    return max(exit_codes, key=(DONE, WAITS, FAILED, USAGE, INTEGRITY).index, default=DONE)


def _from_click(error: click.ClickException) -> Fault:
    # click spreads some messages over lines and tabs.
    message = " ".join(error.format_message().split())
    context = error.ctx if isinstance(error, click.UsageError) else None
    return Fault(
        code="usage" if error.exit_code == USAGE else "failed",
        message=message,
        hint=f"Try: {context.command_path} --help" if context else None,
        exit_code=error.exit_code,
        usage=" ".join(context.get_usage().split()) if context else None,
    )
