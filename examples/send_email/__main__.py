"""`python -m examples.send_email`: a session of version 1 is killed, and carried on under version 2, and under 3."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from examples.send_email.old import SESSION
from examples.send_email.sink import Sink
from examples.send_email.tools import Mailer, open_ledger
from ledger import Ledger
from ledger.calls import Call

ANSWERS = {"subject": "Build", "idempotencyKey": "newsletter-eve"}


def run_old(folder: Path, sink: Sink) -> int:
    """Run the old program to its end, which is SIGKILL; return how it ended."""
    command = [sys.executable, "-m", "examples.send_email.old", str(folder), str(sink.port)]
    return subprocess.run(command, check=False).returncode


def copy_of_ledger(source: Path, target: Path) -> None:
    """Copy a database with all that was committed, also what stands in its log."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def calls(ledger: Ledger) -> Iterator[Call]:
    for row in ledger.calls(session=SESSION):
        yield ledger.find(str(row["callId"]))


def show(what: str, ledger: Ledger, sent: int) -> None:
    print(f"{what}: {sent} sent")
    for call in calls(ledger):
        to = (call.to_run.get("recipients") or [call.to_run.get("to")])[-1]
        print(f"  {to:18}v{call.intent_version} -> v{call.schema_version}  {call.state:14}{call.reason or ''}".rstrip())


def carry_on(folder: Path, sink: Sink, version: int) -> None:
    """Start the newer program on a copy of what the old one left; persons answer what it asks."""
    database = f"under-{version}.db"
    copy_of_ledger(folder / "ledger.db", folder / database)
    before = len(sink.messages)
    with open_ledger(folder, version, Mailer(sink.port), database=database) as ledger:
        ledger.session(SESSION).messages()
        show(f"resumed under version {version}", ledger, len(sink.messages) - before)
        _, bob, eve = calls(ledger)
        ledger.resolve(bob.call_id, "happened", by="ada", note="It is in the server's log.")
        if eve.reason == "not-started":
            ledger.resolve(eve.call_id, "run", by="ada")
        else:  # what `ledger review show` has prepared, with the answers
            ledger.resolve(eve.call_id, arguments=eve.to_run | ANSWERS, by="ada")
        ledger.session(SESSION).messages()
        show("answered by a person", ledger, len(sink.messages) - before)


def story(folder: Path, sink: Sink) -> None:
    """Tell it all, in a folder that keeps the ledger as the old program left it."""
    print(f"version 1 ended with {run_old(folder, sink)}: {len(sink.messages)} sent")
    for version in (2, 3):
        carry_on(folder, sink, version)
    print(f"the last one: {sink.messages[-1].subject!r} to {', '.join(sink.messages[-1].recipients)}")


def main() -> None:
    with tempfile.TemporaryDirectory() as name, Sink() as sink:
        story(Path(name), sink)


if __name__ == "__main__":
    main()
