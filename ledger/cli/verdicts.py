"""A person's word on its way into the record: values from the command line, evidence, and what happens next."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from ledger.audit.repeating import Repeated, held_back, repeated_by
from ledger.calls import TERMINAL, Call
from ledger.cli.commands import argued, copyable
from ledger.cli.looks import tone_of
from ledger.cli.shell import Shell
from ledger.cli.table import tail
from ledger.cli.text import Ink, Line
from ledger.errors import JsonRejected, UsageError, owner_name
from ledger.ids import iso
from ledger.session.lease import is_alive
from ledger.session.ledger import Ledger
from ledger.session.reviewing import Verdicts, os_user
from ledger.strictjson import RESULT, Json, decode, to_a_person

UNKNOWN: Final = ""
"""What `--happened` holds where no result was given; no JSON text is empty."""

_SHORTEST_DIGEST: Final = 8


def json_value(option: str, text: str) -> Json:
    """Return the JSON of an option: the text itself, a file's (`@FILE`) or that of stdin (`-`); raises BadParameter."""
    try:
        if text == "-":
            return decode(sys.stdin.buffer.read(), RESULT)
        return decode(Path(text[1:]).read_bytes() if text.startswith("@") else text, RESULT)
    except JsonRejected as error:
        what, hint = to_a_person(error)
        hint += " To name a call, put it in front of the options." if error.line == 1 else ""
        message = f"this is no strict JSON: {what}. {hint}"
        raise click.BadParameter(message, param_hint=option) from None
    except OSError as error:
        raise click.BadParameter(f"{text[1:]}: {error.strerror}", param_hint=option) from None


def evidence_of(named: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Return what is recorded of the evidence: a URL as it is, a file by its name, size and SHA-256."""
    return tuple({"url": name} if "://" in name else _file(name) for name in named)


def _file(name: str) -> dict[str, Any]:
    try:
        with Path(name).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
            return {"file": name, "sha256": found, "size": stream.tell()}
    except OSError as error:
        message = f"{name}: {error.strerror}. Evidence is a file, or a URL; words go into --note."
        raise click.BadParameter(message, param_hint="--evidence") from None


def check_shown(shell: Shell, ledger: Ledger, call: Call, digest: str | None) -> None:
    """Raise UsageError where a person allows by word alone what no page can show them whole."""
    from ledger.audit.torun import is_known, to_run

    if digest is None and not is_known(call, to_run(ledger.reader, call)):
        raise UsageError(
            f"no page shows all arguments with which call {call.call_id} would run",
            hint=f"Look at it with `{copyable(shell, 'review', 'show', call.call_id)}`; who knows what they are gives "
            "--digest with it.",
        )


def whole_digest(call: Call, given: str | None) -> str | None:
    """Return the digest that a head of it (8 or more characters) stands for; another one as it was given."""
    known = call.arguments_digest or ""
    return known if given and len(given) >= _SHORTEST_DIGEST and known.startswith(given) else given


def answered(
    shell: Shell, ledger: Ledger, said: Verdicts, verb: str, by: str | None, *, asked: Call | None = None
) -> None:
    """Print what was recorded and what follows; *asked*: the call asked about, where another may have its place."""
    call = said.call
    owner = _Owner(ledger, call) if call.state == "authorized" else None
    follows = said.next if owner is None else owner.next_step(shell)
    decided = verb != "noted"
    held = held_back(ledger.reader, call) if decided and call.state in TERMINAL else []
    data: Mapping[str, Any] = {
        "callId": call.call_id,
        "sessionId": call.session_id,
        "tool": call.tool,
        "state": call.state,
        "verdict": verb,
        "by": by or os_user(),
        "owner": owner.to_wire() if owner else None,
        "next": follows,
        "heldBack": held,
    }
    which = f"{call.tool}, call {tail(call.call_id)} of session {call.session_id}"
    what = f"{verb}: {which}; it is "
    if asked is not None and asked.call_id != call.call_id:
        what = f"{verb}: call {tail(asked.call_id)}; {which} takes its place and is "
    line: Line = (what, Ink(call.state, tone_of(call.state)), " now.")
    shell.out.show(data, [line, follows, *(_still_waits(shell, call, each) for each in held)])
    if decided and call.state == "authorized":
        _warn_of_a_repeat(shell, ledger, asked or call, call)


def _still_waits(shell: Shell, call: Call, held: str) -> str:
    look = copyable(shell, "review", "show", tail(held))
    return f"Call {tail(held)} still waits: it may repeat this one, which {Repeated(call).standing}: {look}"


def _warn_of_a_repeat(shell: Shell, ledger: Ledger, asked: Call, now: Call) -> None:
    """Say that what a person let run may repeat what happened: it is their word, and they may not have seen that."""
    other = repeated_by(ledger.reader, asked)
    if other is not None and other.happened:
        replaced = asked.call_id != now.call_id
        words = f"call {tail(other.call.call_id)}, which {'the old one' if replaced else 'this one'} may repeat, "
        more = "the new one runs beside it" if replaced else "running this one would do it once more"
        shell.out.warn(f"{words}{other.standing}: {more}")


class _Owner:
    """Who works on a call's session, and whether it can run what was allowed."""

    def __init__(self, ledger: Ledger, call: Call) -> None:
        head = ledger.reader.head(call.session_id)
        self._session_id = call.session_id
        self._name = head.owner if head is not None else None
        self._holds = head is not None and head.expires_at > iso(datetime.now(UTC))
        self._alive = is_alive(self._name) if self._name is not None else False

    def to_wire(self) -> dict[str, Any]:
        return {"name": self._name, "alive": self._alive, "working": self._holds and self._alive is not False}

    def next_step(self, shell: Shell) -> str:
        resume = copyable(shell, "resume", *argued(self._session_id, "--app", "MODULE:LEDGER"))
        if self._name is None or self._alive is False:  # a worker holds a lease only while it works on a session
            return f"No process holds this session now: a worker that follows takes it; without one: {resume}"
        who = f"The session's owner ({owner_name(self._name)})"
        if self._holds:
            return f"{who} works on it now: it starts in its loop."
        if self._alive:
            return f"{who} is alive: it starts in its loop, or at a resume: {resume}"
        return f"{who} cannot be seen from here: it starts in its loop, or at a resume: {resume}"
