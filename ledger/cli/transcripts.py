"""Imports and repairs transcripts, and tells what became of them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from ledger.cli.layout import bullets
from ledger.cli.masking import mask_url
from ledger.cli.rows import Row, dumps
from ledger.cli.shell import Shell
from ledger.cli.text import Line
from ledger.counting import counted
from ledger.importing import ImportReport, Problem, Repaired, SessionReport, Source, Wanted, imported, repaired
from ledger.importing.chunks import chunks_of, count_of, pieces_of
from ledger.importing.run import opening
from ledger.session.reading import lasting

_STDIN: Final = "-"
_MOST_LINES: Final = 20
"""Sessions and problems that a person is shown; `--json` names all sessions."""


def source_of(shell: Shell, file: str, format: str) -> Source:
    """Open a transcript; on a terminal a line on stderr says how far it is read. Raises `UsageError`, `OSError`."""
    if file == _STDIN:
        return Source(pieces_of(_stdin()), format)
    path = Path(file)
    return Source(shell.out.progress(chunks_of(path), "Reading", count_of(path)), format)


def _stdin() -> IO[bytes]:
    return sys.stdin.buffer


def take_in(shell: Shell, source: Source, wanted: Wanted) -> ImportReport:
    """Import into the ledger of the shell, which is made where there is none."""
    with opening(lasting(shell.db)) as stores:
        return ImportReport(format=source.format).take(imported(source, stores, wanted))


def report_row(shell: Shell, report: ImportReport) -> Row:
    """Return a report for programs."""
    return {
        "db": mask_url(shell.db),
        "format": report.format,
        "added": report.added,
        "sessions": [_session(session) for session in report.sessions],
        "problems": [_problem(problem) for problem in report.problems],
        "problemCount": report.problem_count,
    }


def _session(session: SessionReport) -> Row:
    error = session.error
    return {
        "sessionId": session.session_id,
        "state": session.state,
        "added": session.added,
        "turns": session.turns,
        "calls": session.calls,
        "open": session.open,
        "reserialized": session.reserialized,
        "error": None if error is None else {"code": error.code, "message": error.message, "hint": error.hint},
    }


def _problem(problem: Problem) -> Row:
    return {"line": problem.line, "offset": problem.offset, "code": problem.code, "message": problem.message}


def report_lines(report: ImportReport) -> Iterator[Line]:
    """Yield what was imported, for people."""
    calls, open_ = sum(each.calls for each in report.sessions), sum(each.open for each in report.sessions)
    states = ", ".join(f"{count} {state}" for state, count in Counter(each.state for each in report.sessions).items())
    yield f"Sessions: {len(report.sessions)} ({states or 'none'}), read as {report.format}."
    yield f"Calls: {calls}, without a result: {open_}. Events added: {report.added}."
    shown = [_line(session) for session in report.sessions[:_MOST_LINES]]
    yield from bullets([*shown, *_more(len(report.sessions))])


def _line(session: SessionReport) -> str:
    left = f", {session.open} without a result" if session.open else ""
    return f"{session.session_id}: {session.state}, {counted(session.calls, 'call')}{left}"


def _more(count: int) -> list[str]:
    return [f"and {count - _MOST_LINES} more"] if count > _MOST_LINES else []


def warn_of(shell: Shell, report: ImportReport) -> None:
    """Tell a person what was not taken in."""
    if not report.sessions:
        _warn_empty(shell, report.format)
    for session in report.refused[:_MOST_LINES]:
        _warn_refused(shell, session)
    for line in [problem.told() for problem in report.problems[:_MOST_LINES]] + _more(report.problem_count):
        shell.out.warn(line)


def _warn_empty(shell: Shell, format: str) -> None:
    shell.out.warn(f"No session was found: nothing in it reads as {format}. Is it another format (--format)?")


def _warn_refused(shell: Shell, session: SessionReport) -> None:
    error = session.error
    if error is not None:
        shell.out.warn(error.message, f" ({error.code}). ", error.hint or "")


class Repair:
    """Prints the sessions of a transcript as a provider takes them, one a line; `faults` counts what went wrong."""

    def __init__(self, shell: Shell, source: Source, to: str | None) -> None:
        self.problems = 0
        self.faults = 0
        self._shell = shell
        self._format = source.format
        self._found = repaired(source, to)

    def tell(self) -> None:
        """Print them: the bodies of requests, or with `--json` a list of objects around them."""
        if self._shell.json:
            self._shell.out.rows(map(_repaired, self._sessions()), ())
        else:
            self._shell.out.verbatim(dumps(session.body) for session in self._sessions())

    def _sessions(self) -> Iterator[Repaired]:
        empty = True
        for found in self._found:
            if isinstance(found, Problem):
                self.problems += 1
                if self.problems <= _MOST_LINES:
                    self._shell.out.warn(found.told())
                continue
            empty = False
            yield found
            self._note(found)
        if empty:
            _warn_empty(self._shell, self._format)

    def _note(self, found: Repaired) -> None:
        report = found.report
        self.faults += report.error is not None or bool(found.refused)
        _warn_refused(self._shell, report)
        for line in found.refused[:_MOST_LINES]:
            self._shell.out.warn(f"{report.session_id}, {line}")
        if report.open:
            told = "told as OUTCOME UNKNOWN" if report.open == 1 else "each told as OUTCOME UNKNOWN"
            self._shell.out.note(
                f"{report.session_id}: {report.open} of {counted(report.calls, 'call')} without a result, {told}."
            )


def _repaired(found: Repaired) -> Row:
    return {**_session(found.report), "format": found.format, "refused": list(found.refused), "body": found.body}
