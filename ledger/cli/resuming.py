"""Resumes for the command line: one session, all of them, or on and on; tells of each what was decided."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import click

from ledger.calls import Call, kind_of
from ledger.cli.answering import answering
from ledger.cli.app import aside, each_aside, load_app
from ledger.cli.commands import argued, copyable
from ledger.cli.draining import Drain, draining
from ledger.cli.faults import DONE, WAITS, fault_of, worst
from ledger.cli.looks import tone_of
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.table import tail
from ledger.cli.text import Ink, Line
from ledger.errors import LedgerError, SessionOwned, StoreUnavailable
from ledger.session.ledger import Ledger
from ledger.session.worker import Interrupted, Report, follow, resume_one, sweep
from ledger.store.maintenance import place

_APP: Final = "MODULE:LEDGER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the command line asks for; the options are checked."""

    session: str | None
    every: bool
    app: str | None
    follow: bool
    dry_run: bool
    wait: float
    grace: float


def resume(shell: Shell, wanted: Wanted) -> int:
    """Do what is wanted, print it as it happens, and return the exit status."""
    with _opened(shell, wanted) as ledger:
        told = _Told(shell, ledger, wanted)
        with draining(ledger, wanted.grace) as drain:
            if wanted.follow:
                _follow(told, drain)
            elif wanted.session is not None:
                for report in _until(drain, _one(ledger, wanted, wanted.session)):
                    told.one(report)
            else:
                told.all(_until(drain, sweep(ledger, execute=wanted.app is not None, dry_run=wanted.dry_run)))
        if wanted.follow:
            return DONE
        return told.status if drain.signal is None else 128 + drain.signal


@contextmanager
def _opened(shell: Shell, wanted: Wanted) -> Iterator[Ledger]:
    if wanted.app is None:
        with answering(shell, read_only=wanted.dry_run) as ledger:
            yield ledger
        return
    ledger = load_app(wanted.app)
    try:
        _adopt(shell, ledger.url)
        _check_open(ledger, wanted.app)
        yield ledger
    finally:
        with aside():
            ledger.close()


def _check_open(ledger: Ledger, app: str) -> None:
    """Raise StoreUnavailable, with what to do, where the program closed its ledger while it was imported."""
    if not ledger.closed:
        return
    module, _, name = app.partition(":")
    hint = f"Importing {module} closes it: put `with {name}:` or `{name}.close()` under `if __name__ == '__main__':`."
    raise StoreUnavailable(f"the ledger {app} is closed already", hint=hint)


def _adopt(shell: Shell, url: str) -> None:
    """Go on with the program's own ledger; raises UsageError where the line itself names another."""
    if place(url) == _place(shell.db):
        return
    if "db" in shell.given:
        message = f"--app brings its own ledger, {url}, and --db names another: leave --db out."
        raise click.UsageError(message, click.get_current_context(silent=True))
    if os.environ.get("LEDGER_DB"):
        shell.out.note(f"--app brings its own ledger, {url}; LEDGER_DB names another, which is left alone.")
    shell.db = url
    shell.given.add("db")


def _place(url: str) -> str:
    try:
        return place(url)
    except LedgerError:  # it is no ledger's URL: another place, whatever it was meant to be
        return url


def _one(ledger: Ledger, wanted: Wanted, session_id: str) -> Iterator[Report]:
    yield resume_one(ledger, session_id, execute=wanted.app is not None, dry_run=wanted.dry_run, wait=wanted.wait)


def _until(drain: Drain, reports: Iterable[Report]) -> Iterator[Report]:
    """Yield reports until a signal comes: no other session is begun then; one that was cut short is told too."""
    try:
        for report in each_aside(reports):
            yield report
            if drain.signal is not None:
                return
    except KeyboardInterrupt as left:
        if drain.signal is None:
            raise
        if isinstance(left, Interrupted):
            yield left.report


def _follow(told: _Told, drain: Drain) -> None:
    told.begun()
    for report in _until(drain, follow(told.ledger, drain.wait)):
        told.line(report)


class _Told:
    """Prints reports, and knows the worst of them."""

    def __init__(self, shell: Shell, ledger: Ledger, wanted: Wanted) -> None:
        self._shell = shell
        self._wanted = wanted
        self.ledger = ledger
        self.status = DONE

    def one(self, report: Report) -> None:
        row = self._row(report)
        self._shell.out.show(row, _lines(row))
        self._hints([row])

    def all(self, reports: Iterator[Report]) -> None:
        rows = map(self._row, reports)
        if self._shell.json:
            self._shell.out.rows(rows, ())
            return
        found = []
        for row in rows:
            self._shell.out.progressed(row, _lines(row))
            found.append(row)
        if not found:
            self._shell.out.note("Nothing is open.")
        self._hints(found)

    def line(self, report: Report) -> None:
        row = self._row(report)
        self._shell.out.progressed(row, [_summary(row)])

    def begun(self) -> None:
        self._shell.out.note("Following; SIGTERM or Ctrl-C stops.")

    def _row(self, report: Report) -> Row:
        fault = None if report.error is None else fault_of(report.error)
        error = fault and (fault.to_wire() if self._shell.json else fault.to_wire() | {"message": fault.words})
        row = {
            "sessionId": report.session_id or None,
            "dryRun": self._wanted.dry_run,
            "decisions": [self._decision(decision) for decision in report.decisions],
            "waiting": [{**_call(call), "kind": kind_of(call.state, call.reason)} for call in report.waiting],
            "needsCode": [_call(call) for call in report.needs_code],
            "error": error,
        }
        open_still = report.waiting or report.needs_code
        flags = any(decision["action"] == "flag" for decision in report.decisions)  # in a dry run it does not wait yet
        self.status = worst(self.status, WAITS if open_still or flags else DONE)
        if fault is not None and not isinstance(report.error, SessionOwned):
            self.status = worst(self.status, fault.exit_code)
        return row

    def _decision(self, decision: dict[str, Any]) -> Row:
        row = self.ledger.reader.call(str(decision["callId"]))
        return {"flag": None, "code": None, **decision, "state": row.state if row is not None else None}

    def _hints(self, rows: list[Row]) -> None:
        if self._wanted.app is None and any(row["needsCode"] for row in rows):
            one = self._wanted.session
            words = ("--all", "--app", _APP) if one is None else argued(one, "--app", _APP)
            self._shell.out.note(f"What needs code runs with `{copyable(self._shell, 'resume', *words)}`.")
        if any(row["waiting"] for row in rows):
            self._shell.out.note(f"What waits for a person: `{copyable(self._shell, 'review')}`.")


def _call(call: Call) -> Row:
    return {"callId": call.call_id, "tool": call.tool, "state": call.state, "reason": call.reason}


def _summary(row: Row) -> Line:
    if row["error"] is not None:
        return (Ink(row["sessionId"] or "the ledger", "strong"), ": ", Ink(row["error"]["message"], "bad"))
    decided = ", ".join(f"{each['tool']} {tail(each['callId'])} {_became(row, each)}" for each in row["decisions"])
    counts = [(row["waiting"], "wait", "for a person"), (row["needsCode"], "need", "code")]
    rest = [f"{len(calls)} {verb if len(calls) > 1 else verb + 's'} {what}" for calls, verb, what in counts if calls]
    return (Ink(row["sessionId"], "strong"), ": ", "; ".join([decided or "nothing to decide", *rest]))


def _became(row: Row, decision: Row) -> str:
    return f"would be: {decision['action']}" if row["dryRun"] else str(decision["state"])


def _lines(row: Row) -> Iterator[Line]:
    if row["error"] is not None:
        yield _summary(row)
        return
    yield Ink(row["sessionId"], "strong")
    for each in row["decisions"]:
        state = () if row["dryRun"] else ("; it is ", Ink(str(each["state"]), tone_of(each["state"])), " now")
        action = " ".join(word for word in (each["action"], each["flag"] or each["code"]) if word)
        yield (f"  {tail(each['callId'])}  {each['tool']}: {action}, because {each['reason']}", *state)
    decided = {each["callId"] for each in row["decisions"]}
    for each in row["waiting"]:
        if each["callId"] in decided:
            continue  # its line says so already
        yield (f"  {tail(each['callId'])}  {each['tool']} waits for ", Ink(_why(each), "warn"))
    for each in row["needsCode"]:
        yield (
            f"  {tail(each['callId'])}  {each['tool']} needs code: it is ",
            Ink(each["state"], tone_of(each["state"])),
        )
    if not (row["decisions"] or row["waiting"] or row["needsCode"]):
        yield "  nothing is open"


def _why(each: Row) -> str:
    return f"a person: {each['reason']}" if each["state"] == "needs-review" else "a person's approval"
