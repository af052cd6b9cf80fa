"""The agent as a program: `python -m ledger.demo FOLDER`; after a crash the same command carries on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ledger.demo.agent import Stopped, WatchedTools, open_ledger, run, write_trace
from ledger.demo.model import SCRIPT, ScriptedModel
from ledger.demo.place import Place
from ledger.demo.saying import say
from ledger.errors import LedgerError
from ledger.session.results import CallResult, Results

FOLDER: Final = Path("mini-agent")
DONE: Final = 0
FAILED: Final = 1
WAITS: Final = 3
HELD: Final = "held"
"""What `--hold` says when a file was changed and the ledger does not know yet."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the agent and return the exit status: 0 it gave its answer, 1 an error, 2 usage, 3 a person is asked."""
    given = _parser().parse_args(arguments)
    place = Place(given.folder)
    try:
        model = ScriptedModel.load(given.script)
        tools = WatchedTools(place.begin(), edited=_held(place) if given.hold else place.edited)
        with open_ledger(place.url, tools, reconcile=given.reconcile) as ledger:
            say(f"task    {model.task}")
            stopped = run(ledger, model, told=_tell)
            write_trace(ledger, place.trace)
        return _end(stopped, place)
    except LedgerError as error:
        say(f"error   {error}", sys.stderr)
        return FAILED
    except OSError as error:  # a folder that is not ours to write in, a full disk
        say(f"error   {error.strerror}: {error.filename or place.folder}", sys.stderr)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mini_agent",
        description="A scripted coding agent repairs a small project. Started again after a crash, it carries on.",
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=FOLDER, help=f"where it works and keeps its ledger (default: {FOLDER})"
    )
    parser.add_argument("--script", type=Path, default=SCRIPT, help=f"what the model says (a copy of {SCRIPT})")
    parser.add_argument("--reconcile", action="store_true", help="edit_file looks for itself what a crash left")
    parser.add_argument("--hold", action="store_true", help=argparse.SUPPRESS)  # to be killed at the worst moment
    return parser


def _held(place: Place) -> Callable[[str], None]:
    def edited(path: str) -> None:
        place.edited(path)
        say(HELD)
        sys.stdin.read()  # until whoever started this process kills it, or is gone

    return edited


def _tell(results: Results) -> None:
    calls = ", ".join(map(_call, results.calls))
    say(f"turn {results.turn}  {calls or 'the answer'}")


def _call(call: CallResult) -> str:
    return f"{call.tool} {call.state}" + (f" ({call.code})" if call.code else "")


def _end(stopped: Stopped, place: Place) -> int:
    if stopped.waiting:
        say(f"waits   a person is asked: ledger review list --db {place.url}")
        return WAITS
    say(f"answer  {stopped.answer}")
    say(f"trace   {place.trace}")
    return DONE
