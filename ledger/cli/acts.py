"""The demo's story: what happens, what is shown of it, and what must be so at each step."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click

from ledger.answers import NotFound
from ledger.calls import Call
from ledger.cli.layout import facts, heading
from ledger.cli.looks import at, place, tone_of
from ledger.cli.rows import dumps
from ledger.cli.scene import Scene
from ledger.cli.shell import Shell
from ledger.cli.stories import told_events
from ledger.cli.table import Column
from ledger.cli.telling import Teller, expect_that, spelled
from ledger.cli.text import Ink
from ledger.demo.agent import SESSION
from ledger.demo.children import DemoFailed, Held, carry_on, held
from ledger.demo.edits import replaced_once
from ledger.demo.place import Place
from ledger.errors import UsageError

REVIEWER: Final = "demo"
NOTE: Final = "pages.py holds the new line"
CALLS: Final = (
    Column(key="place", title="TURN", keep="all"),
    Column(key="tool", keep="all"),
    Column(key="arguments", title="ASKED WITH"),
    Column(key="state", keep="all", tone=tone_of),
    Column(key="code", keep="all"),
)
EVENTS: Final = (
    Column(key="sequence", title="SEQ", keep="all"),
    at("recordedAt", "TIME (UTC)"),
    Column(key="type", keep="all"),
    Column(key="summary", title="WHAT"),
)


def play(shell: Shell, root: click.Group, folder: Path | None) -> None:
    """
    Tell the whole story. Raises DemoFailed where something is not as it is told, UsageError for a folder in use.

    A story of which nobody hears the end (Ctrl-C, a closed pipe) leaves no folder that it had made for itself.
    """
    if not hasattr(signal, "SIGKILL"):
        raise UsageError("the demo kills a process as only POSIX systems can", hint="Run it on Linux, macOS or in WSL.")
    where = Place(_new(folder))
    try:
        _tell(shell, Scene(where, Teller(shell, root, where.url)))
    except DemoFailed as failed:
        raise DemoFailed(f"it did not come out as told: {failed.message}", hint=f"Look at {where.folder}.") from failed
    except (SystemExit, KeyboardInterrupt):
        if folder is None:
            shutil.rmtree(where.folder, ignore_errors=True)
        raise


def _tell(shell: Shell, scene: Scene) -> None:
    figures = _acts(scene)
    found = {
        "folder": str(scene.place.folder),
        "db": scene.place.url,
        "session": SESSION,
        "callId": scene.call.call_id,
        "acts": scene.teller.told,
        "figures": figures,
    }
    shell.out.show(found, _end(scene.place, figures))


def _new(folder: Path | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="ledger-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty", code="folder_in_use", hint="Name an empty folder, or a new one.")
    if not os.access(folder, os.W_OK | os.X_OK):  # told before the story begins
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    return folder


def _acts(scene: Scene) -> dict[str, Any]:
    _begin(scene)
    with held(scene.place) as agent:
        _work(scene, agent)
        _write(scene)
        before = scene.digests()
        _kill(scene, agent, before)
    _blind(scene)
    _resume(scene)
    _question(scene)
    _verdict(scene)
    _end_of_work(scene)
    _replay(scene)
    return _count(scene, before)


def _begin(scene: Scene) -> None:
    tell = scene.teller
    tell.title("A coding agent is killed in the middle of a write")
    tell.say(
        "The model is a script. Its tools, the files, the process, the signal and the ledger are real. "
        f"All of it happens in {scene.place.folder}",
    )
    line = spelled()
    if line is not None:
        tell.say("To try the commands yourself afterwards, tell your shell which `ledger` is meant:")
        tell.prompt(line)
    tell.act("work", "An agent works, and comes to its first write")
    tell.prompt(scene.agent)


# -- what happens


def _work(scene: Scene, agent: Held) -> None:
    tell = scene.teller
    tell.show(agent.said)
    session = scene.session()
    calls, plan = list(session.calls.values()), session.turns[0].batch
    scene.call = calls[-1]
    tell.say("The ledger has it all, and one call more. That one is being worked on:")
    tell.table([_row(call) for call in calls], CALLS)
    ended = [(call.tool, call.state) for call in calls]
    expect_that(ended[3:] == _AT_THE_WRITE, f"the agent was to be inside of its edit, and its calls are {ended}")
    mode = plan.mode if plan is not None else "no batch"
    expect_that(mode == "parallel", f"the first three reads were to run side by side, and their plan is {mode}")
    listing, wrong = calls[0], calls[3]
    tell.say(
        "The three reads of turn 1 ran side by side. In turn 2 the model asked for the lines from 6 to 2: a gate "
        "stopped the call before anything ran, and the model put it right by a call of its own.",
        f"list_files was asked with {dumps(listing.arguments)} and ran with {dumps(listing.executed)}: what the model "
        "sent stays as it was, and what ran stands beside it.",
    )
    tell.know(said=agent.said, calls=[_row(call) for call in calls], batch=mode, stopped=wrong.code)


_AT_THE_WRITE: Final = [("read_lines", "rejected"), ("read_lines", "succeeded"), ("edit_file", "started")]


def _row(call: Call) -> dict[str, Any]:
    return {
        "callId": call.call_id,
        "turn": call.turn,
        "index": call.index,
        "place": place(call.turn, call.index),
        "tool": call.tool,
        "arguments": call.arguments,
        "state": call.state,
        "code": call.code,
    }


def _write(scene: Scene) -> None:
    tell = scene.teller
    tell.act("write", "Inside of the write: the start is on disk, the outcome is not")
    tell.say(
        "At this moment edit_file has changed the file and has not returned. Before it was called, this was on disk:"
    )
    with scene.reading() as reader:
        events = list(told_events(reader, {"session": SESSION, "call": scene.call.call_id}, summary=True))
    tell.table(events, EVENTS)
    types = [str(row["type"]) for row in events]
    tell.know(events=types)
    expect_that(types == _BEFORE_THE_WRITE, f"four events were to be on disk, and there are {types}")
    tell.say("And the file holds the change already:")
    scene.look_at_the_file()


_BEFORE_THE_WRITE: Final = ["call.proposed", "call.validated", "call.authorized", "call.started"]


def _kill(scene: Scene, agent: Held, before: Sequence[str]) -> None:
    tell = scene.teller
    tell.act("kill", "kill -9")
    number = agent.kill()
    tell.say("No handler runs, no `finally`, no flush: the process is gone.")
    now = scene.look()
    found = {
        "process": f"{agent.pid}, ended by signal {number} (SIGKILL)",
        "the file": "changed",
        "the ledger": f"{now.tool} is {now.state}; no outcome is recorded",
    }
    tell.show(facts(found))
    tell.know(pid=agent.pid, signal=number, state=now.state)
    expect_that(now.state == "started", f"the call was to be started without an outcome, and is {now.state}")
    expect_that(scene.digests() == before, "the events that were acknowledged before the kill were to be there still")


def _blind(scene: Scene) -> None:
    tell = scene.teller
    tell.act("blind", "A loop that simply runs again would write again")
    asked = scene.call.arguments
    try:
        replaced_once(scene.file.read_bytes(), asked["old_text"], asked["new_text"])
    except NotFound as refused:
        second = f"{refused.code}: {refused.message}"
    else:  # pragma: no cover - only a broken tool would take the same edit twice
        raise DemoFailed("the file was not to take the same edit twice")
    tell.say(
        "It finds no result, and calls the tool once more. Had the tool sent money, it would be sent twice. This tool "
        f"is careful, so the model would be told `{second}` and look for a bug that is fixed already.",
    )
    tell.know(secondTry=second)


def _resume(scene: Scene) -> None:
    tell = scene.teller
    tell.act("resume", "Resume: what is in doubt is not run")
    tell.ledger("resume", SESSION, expect=3)
    call = scene.look()
    tell.know(state=call.state, reason=call.reason)
    expect_that(call.state == "needs-review", f"the call was to need a review, and is {call.state}")
    tell.say("A read would have run again by itself. A write that may have happened waits for somebody who can look.")


def _question(scene: Scene) -> None:
    tell = scene.teller
    tell.act("question", "The question that a person is asked")
    tell.ledger("review", "list", expect=3)
    tell.ledger("review", "show", scene.name)


def _verdict(scene: Scene) -> None:
    tell = scene.teller
    tell.act("verdict", "A person looks, and says what is so")
    tell.say("The tool's author wrote down how to find out: look whether the file holds the new text. It does:")
    line = scene.look_at_the_file()
    about = ("--note", NOTE, "--evidence", str(scene.file), "--by", REVIEWER)
    tell.ledger("review", "resolve", scene.name, "--happened", *about)
    call = scene.look()
    by = call.review.by if call.review is not None else None
    tell.know(line=line, state=call.state, by=by)
    expect_that(
        (call.state, by) == ("succeeded", REVIEWER), f"the verdict was to settle the call, and it is {call.state}"
    )


def _end_of_work(scene: Scene) -> None:
    tell = scene.teller
    tell.act("end", "The agent carries on, and never writes twice")
    tell.say("The same command in a new process. The conversation comes from the ledger, the edit answered as done:")
    command = scene.agent
    tell.prompt(command)
    status, said = carry_on(scene.place)
    tell.show(said)
    tell.command(command, status, said)
    closed = scene.session().closed
    ended = None if closed is None else (closed.reason, closed.turns, closed.calls)
    expect_that(status == 0, f"the agent was to come to its answer, and exited with {status}: {' / '.join(said)}")
    expect_that(ended == ("final_answer", 6, 7), f"6 turns and 7 calls were to end in an answer, and it is {ended}")


def _replay(scene: Scene) -> None:
    tell = scene.teller
    tell.act("replay", "Replay: the session told again, and nothing executed")
    before = scene.digests()
    tell.ledger("replay", "session", SESSION)
    expect_that(scene.digests() == before, "a replay was to change nothing")


def _count(scene: Scene, before: Sequence[str]) -> dict[str, Any]:
    tell = scene.teller
    tell.act("audit", "Audit: one intent, one start, one outcome, one effect")
    tell.ledger("audit", "calls", "--session", SESSION, "--tool", "edit_file")
    tell.say("The tool itself keeps a count outside of the ledger, a line for each time it changed a file:")
    log, edits = scene.place.edits, scene.place.times_edited()
    tell.shown(f"cat {shlex.quote(str(log))}", log.read_text(encoding="utf-8").splitlines())
    after = scene.digests()
    tell.say("And another resume has nothing to decide:")
    tell.ledger("resume", SESSION)
    added = len(scene.digests()) - len(after)
    expect_that(edits == 1, f"the file was to be changed once, and was changed {edits} times")
    lost = len(set(before) - set(after))
    expect_that(lost == 0, f"no event that was acknowledged before the kill was to be lost, and {lost} are")
    expect_that(added == 0, f"a second resume was to change nothing, and it added {added} events")
    return {
        "effects": edits,
        "acknowledged": len(before),
        "lost": lost,
        "addedBySecondResume": added,
        "events": len(after),
    }


def _end(where: Place, figures: dict[str, Any]) -> Iterator[Any]:
    yield from heading("In figures")
    yield from facts(
        {
            "times the file was changed": figures["effects"],
            "events lost by the kill": f"{figures['lost']} of {figures['acknowledged']} that were acknowledged",
            "events added by a second resume": figures["addedBySecondResume"],
            "the session": f"{figures['events']} events, 6 turns, 7 calls, final answer",
        }
    )
    yield ""
    yield ("  The commands above can be tried again: everything is in ", Ink(str(where.folder), "strong"))
    yield f"  Nothing else was left behind. Remove it with: rm -r {shlex.quote(str(where.folder))}"
