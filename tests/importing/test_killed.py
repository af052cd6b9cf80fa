"""An import of a ledger's export that ends in its middle, or has a worker beside it: nothing runs a second time."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ledger import Ask, Ledger
from ledger.calls import TERMINAL, call_row
from ledger.events import (
    CallApprovalRequested,
    CallAuthorized,
    CallNoted,
    SessionClaimed,
    SessionOpened,
    encode,
    read_event,
)
from ledger.history import History
from ledger.importing import bundles, import_file
from ledger.providers.bundle import write_bundle
from ledger.providers.port import ProposedCall, Reply
from ledger.session.worker import resume_one
from ledger.store.memory import MemoryStore
from ledger.store.port import Append, Appended, CallFilter, Take
from tests.helpers.counting import untraced
from tests.importing.chats import records, told
from tests.providers.recording import DIGEST, RUN, Recording, ok
from tests.session.agents import asked

CHILD = """
import sys
from ledger import Ledger
from ledger.importing import bundles, import_file
from ledger.testing import crash

bundles._MOST_EVENTS = 1
with Ledger.open(sys.argv[1]) as there:
    crash.arm(there, crash.before("session.claimed", 2))
    import_file(sys.argv[2], there._wiring.store)
"""


def paying(url: str, owner: str, paid: list[str]) -> Ledger:
    """Open a ledger as this owner, whose payments a person is asked for."""
    ledger = Ledger.open(url, owner=owner)

    @ledger.tool("pay", effect="external")
    def pay(to: str) -> str:
        """Pay."""
        paid.append(f"{owner} {to}")
        return "paid"

    ledger.authorize(lambda call, actor: Ask())
    return ledger


def test_a_killed_import_runs_nothing_and_is_completed(tmp_path: Path) -> None:
    """Approved, then claimed by another process and run: an export as any; no commit ends where it is approved."""
    paid: list[str] = []
    source, target = (f"sqlite:///{tmp_path}/{name}.db" for name in ("source", "target"))
    with paying(source, "one", paid) as ledger:
        ledger.session("s").dispatch(asked(("pay", {"to": "ada"})))
        ledger.approve(next(iter(ledger.calls()))["callId"], by="ann")
    with paying(source, "two", paid) as ledger:
        resume_one(ledger, "s", execute=True)
        whole = records(ledger._wiring.store)
    export = tmp_path / "export.jsonl"
    export.write_bytes(b"".join(write_bundle("s", whole)))
    command = [sys.executable, "-c", CHILD, target, str(export)]
    assert subprocess.run(command, env=untraced(), check=False).returncode == -signal.SIGKILL
    assert paid == ["two ada"]
    with paying(target, "three", paid) as ledger:
        assert [call["state"] for call in ledger.calls()] == ["awaiting-approval"]
        assert resume_one(ledger, "s", execute=True).decisions == []
    assert paid == ["two ada"]
    assert told(import_file(export, target)) == [("s", "longer", len(whole) - 6)]
    with paying(target, "three", paid) as ledger:
        assert records(ledger._wiring.store) == whole
        head = ledger._wiring.store.head("s")
        assert head is not None
        assert (head.owner, head.token, head.expires_at) == ("two", 2, "")


class Seen(MemoryStore):
    """Notes the states of the open calls behind each commit, as a worker finds them there."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[set[str]] = []

    def append(self, request: Append) -> Appended:
        """Record, and look; each row tells what the events behind the commit do, and no more."""
        found = super().append(request)
        history = History("s")
        for row in self.read("s", limit=1000):
            history.apply(read_event(row.record, row))
        rows = {row.call_id: row for _, row in self.calls(CallFilter(session_id="s"), limit=9)}
        assert rows == {call_id: call_row(call) for call_id, call in history.calls.items()}
        self.commits.append({row.state for row in rows.values()} - TERMINAL)
        return found


def exported(*, notes: int = 0, run: bool = True) -> tuple[Recording, bytes]:
    """Return a session that is claimed again and again while a call is open, with some notes on it, and its export."""
    recording = Recording()
    recording.add(SessionOpened())
    recording.add(SessionClaimed(owner="one", token=1))
    (call,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(ProposedCall(name="pay"),)))
    recording.add(RUN[0], call)
    recording.add(CallApprovalRequested(arguments_digest=DIGEST), call)
    recording.add(CallAuthorized(by="person", person="ann", arguments_digest=DIGEST), recording.now(call))
    for token, owner in ((2, "two"), (3, "one"), (4, "two")):
        recording.add(SessionClaimed(owner=owner, token=token))
    for _ in range(notes):
        recording.add(CallNoted(by="ann", text="Look."), recording.now(call))
    for body in (RUN[2], ok({})) if run else ():
        recording.add(body, recording.now(call))
    return recording, b"".join(write_bundle("s", records(recording.stored())))


@pytest.mark.parametrize("most", [1, 1000])
@pytest.mark.parametrize(("run", "state"), [(True, set()), (False, {"needs-review"})])
def test_no_commit_ends_where_a_call_is_claimed(
    monkeypatch: pytest.MonkeyPatch, most: int, run: bool, state: set[str]
) -> None:
    """However often, and however much stands between: the claims are in one commit with its end, or the question."""
    monkeypatch.setattr(bundles, "_MOST_EVENTS", most)
    recording, data = exported(notes=20, run=run)
    target = Seen()
    assert told(import_file(io.BytesIO(data), target)) == [("s", "new", len(recording.events) + (not run))]
    assert all(found <= {"awaiting-approval"} for found in target.commits[:-1])
    assert target.commits[-1] == state
    head = target.head("s")
    assert head is not None
    assert (head.owner, head.token, head.expires_at) == ("two", 4, "")


def test_more_than_a_commit_holds_is_refused_where_a_call_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is committed there; what stands before is, also by the next import."""
    monkeypatch.setattr(bundles, "_MOST_BYTES", 1)
    monkeypatch.setattr(bundles, "_MOST_OPEN", 2**13)
    _, data = exported(notes=100)
    target = Seen()
    for added in (6, 0):
        report = import_file(io.BytesIO(data), target)
        assert told(report) == [("s", "refused", added)]
        assert "1 call is open over more than 0 MiB" in str(report.refused[0].error)
    assert all(found <= {"awaiting-approval"} for found in target.commits)


def test_what_another_release_left_open_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that was killed where a call was open, as releases before did: the next one takes the rest at once."""
    monkeypatch.setattr(bundles, "_MOST_EVENTS", 1)
    recording, data = exported()
    for length in range(1, len(recording.events)):
        target = Seen()
        for event in recording.events[:length]:
            body = event.body
            take = Take(owner=body.owner, token=body.token, seconds=0) if isinstance(body, SessionClaimed) else None
            draft = encode(replace(event, sequence=0))
            MemoryStore.append(target, Append(session_id="s", drafts=(draft,), take=take, release=take is not None))
        assert told(import_file(io.BytesIO(data), target)) == [("s", "longer", len(recording.events) - length)]
        head = target.head("s")
        assert head is not None
        assert (head.owner, head.token) == ("two", 4)
        assert records(target) == records(recording.stored())
