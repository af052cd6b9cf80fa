"""Around every command: what went wrong is told in one form, and the exit status says of which kind it was."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import click

from ledger.cli import streams
from ledger.cli.commands import pasteable
from ledger.cli.faults import DONE, INTERRUPTED, fault_of
from ledger.cli.output import Output
from ledger.cli.shell import Shell


def guarded(action: Callable[[], None], shell: Shell, arguments: Sequence[str]) -> int:
    """
    Run `action` and return the exit status; every exception is told through the door.

    `arguments` is the command line: a mistake in it may be found before `--json` was read. Raises SystemExit (141) when
    the reader of stdout left.
    """
    streams.prepare()
    try:
        with _logs_through(shell):
            status = _run(action, shell)
        streams.flush(sys.stdout)  # at interpreter shutdown it is too late to fail quietly
        return status
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last place that can tell it
        return _told(error, shell, arguments)


def _run(action: Callable[[], None], shell: Shell) -> int:
    try:
        action()
    except click.exceptions.Exit as exit_:
        _debug(shell, exit_.__cause__)
        return exit_.exit_code
    return DONE


def _told(error: Exception, shell: Shell, arguments: Sequence[str]) -> int:
    fault = fault_of(error)
    if fault.code == "no_database":
        from ledger.cli.nearby import nearby_hint

        fault = replace(fault, hint=nearby_hint(shell.db) or fault.hint)
    hint = fault.hint and pasteable(shell, fault.hint)
    fault = replace(fault, message=pasteable(shell, fault.message), hint=hint)
    json = shell.json or _asks_json(arguments)
    try:
        _debug(shell, error)
        streams.flush(sys.stdout)  # what was printed before it comes first
        Output(json=json and not isinstance(error, streams.OutputFailed), color=not shell.no_color).fail(fault)
        streams.flush(sys.stdout)
    except streams.OutputFailed:  # stdout takes nothing, then the words can only go to stderr
        Output().fail(fault)
    return fault.exit_code


def _asks_json(arguments: Sequence[str]) -> bool:
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in before


def _debug(shell: Shell, error: BaseException | None) -> None:
    if error is not None and os.environ.get("LEDGER_DEBUG") == "1":
        for line in "".join(traceback.format_exception(error)).splitlines():
            shell.out.note(line)


class _ThroughDoor(logging.Handler):
    """Shows the library's warnings to a person with the same care as everything else."""

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self._shell = shell

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record as a warning."""
        self._shell.out.warn(record.getMessage())


@contextmanager
def _logs_through(shell: Shell) -> Iterator[None]:
    logger, handler = logging.getLogger("ledger"), _ThroughDoor(shell)
    handler.setLevel(logging.DEBUG if os.environ.get("LEDGER_DEBUG") == "1" else logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
