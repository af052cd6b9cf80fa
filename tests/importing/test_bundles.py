"""The ledger's own export, imported: the very bytes, however the file was damaged."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger, Unavailable
from ledger.errors import StoreUnavailable, UsageError
from ledger.events import (
    Body,
    CallApprovalRequested,
    CallAuthorized,
    CallFlagged,
    CallNoted,
    CallProposed,
    CallSucceeded,
    CallValidated,
    Event,
    MessageRecorded,
    SessionClaimed,
    SessionOpened,
    ToolStageChanged,
    chain,
    encode,
    read_event,
)
from ledger.importing import ImportReport, Problem, SessionReport, Wanted, bundles, import_file
from ledger.importing.lines import lines_of
from ledger.providers.bundle import write_bundle
from ledger.providers.port import ProposedCall, Reply
from ledger.store.memory import MemoryStore
from ledger.store.port import Append, Appended, CallFilter
from ledger.testing import crash
from tests.importing.chats import WHOLE, chat, records, taken, told
from tests.providers.recording import DIGEST, RUN, Recording, flagged, ok

MESSAGE = MessageRecorded(role="user", provider="openai", message={"role": "user", "content": "caf\u00e9 \ud83d"})


def lines(store: MemoryStore, session_id: str = "s") -> list[bytes]:
    """Return the lines of a session's export."""
    return list(write_bundle(session_id, records(store, session_id)))


def take(data: bytes, store: MemoryStore | None = None) -> ImportReport:
    """Import a bundle."""
    return import_file(io.BytesIO(data), MemoryStore() if store is None else store)


def worked(session_id: str = "s", start: int = 0) -> MemoryStore:
    """Return a store with a session of two owners: a read that ended, one in review, one that never started."""
    recording = Recording(session_id, start)
    recording.add(SessionOpened(agent="a"))
    recording.add(SessionClaimed(owner="one", token=1))
    recording.add(MESSAGE)
    reply = Reply(
        kind="tool_calls",
        provider="openai",
        calls=tuple(ProposedCall(name="find", arguments={"n": n}, provider_call_id=str(n)) for n in range(3)),
    )
    first, second, _ = recording.turn(reply, effect="read")
    recording.run(first, ok({"paid": 1}))
    recording.run(second)
    recording.add(SessionClaimed(owner="two", token=2))
    recording.add(flagged(), recording.now(second))
    recording.add(CallNoted(by="ann", text="Look."), recording.now(second))
    return recording.stored()


def state(store: MemoryStore, session_id: str = "s") -> tuple[Any, ...]:
    """Return all that is to be equal: records, digests, calls."""
    rows = store.read(session_id, limit=1000)
    calls = [placed.row for placed in store.calls(CallFilter(session_id=session_id), limit=1000)]
    return [(row.sequence, row.record, row.digest) for row in rows], calls


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_a_session_comes_back_as_it_is(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """The same records, digests and calls, in however many commits; the lease counts on where it stood."""
    monkeypatch.setattr(bundles, "_MOST_EVENTS", most)
    source, target = worked(), MemoryStore()
    report = take(b"".join(lines(source)), target)
    count = len(records(source))
    assert told(report) == [("s", "new", count)]
    assert (report.format, report.problems) == ("ledger", [])
    found = report.sessions[0]
    assert (found.turns, found.calls, found.open) == (1, 3, 2)
    assert state(target) == state(source)
    head = target.head("s")
    assert head is not None
    assert (head.owner, head.token, head.expires_at) == ("two", 2, "")
    assert told(take(b"".join(lines(source)), target)) == [("s", "unchanged", 0)]


def test_a_longer_export_adds_what_is_new() -> None:
    """Up to where it is recorded it is compared, byte by byte; calls of the first part go on."""
    source, target = worked(), MemoryStore()
    whole = lines(source)
    for length in range(1, len(whole)):
        report = take(b"".join(whole[:length]), target)
        assert report.sessions[0].added == (1 if length > 1 else 0)
        assert [problem.message for problem in report.problems] == ["the bundle ends before its session does"]
    assert told(take(b"".join(whole), target)) == [("s", "unchanged", 0)]
    assert state(target) == state(source)


def test_another_content_is_refused() -> None:
    """What is recorded is never changed."""
    store = MemoryStore()
    taken(chat(WHOLE), store)
    before = state(store)
    report = take(b"".join(lines(worked())), store)
    assert told(report) == [("s", "refused", 0)]
    assert "event 1 of the export is another than what is recorded as event 1" in str(report.refused[0].error)
    assert state(store) == before


def test_an_older_export_adds_nothing() -> None:
    """The session may have gone on here."""
    source = worked()
    older = list(write_bundle("s", records(source)[:5]))
    assert told(take(b"".join(older), source)) == [("s", "unchanged", 0)]


def test_an_export_that_was_written_anew() -> None:
    """Other spaces and escapes, windows' line ends, blank lines: the same records."""
    source, target = worked(), MemoryStore()
    anew = [json.dumps(json.loads(line)).encode() + b"\r\n\r\n" for line in lines(source)]
    assert take(b"".join(anew), target).problems == []
    assert state(target) == state(source)


def damaged(number: int, line: bytes) -> bytes:
    """Return three sessions, of which in the second the line with this number is another."""
    first, second, third = (lines(worked(name, n * 100), name) for n, name in enumerate("abc"))
    second[number] = line
    return b"".join(first + second + third)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"digest":"00', "no JSON"),
        (b"[]\n", "no object"),
        (b'{"digest":"00"}\n', "no record"),
        (b'{"digest":"00","record":{}}\n', "the digest is another: it, or a line before it, was altered"),
        (b'{"a":' * 50_000 + b"\n", "no JSON"),
    ],
)
def test_a_damaged_line_costs_the_rest_of_its_session(line: bytes, message: str) -> None:
    """What stands before it is taken, and the other sessions; the line is named, and what is left out behind it."""
    store = MemoryStore()
    data = damaged(5, line)
    report = take(data, store)
    size = len(lines(worked("a"), "a"))
    assert [(each.session_id, each.added) for each in report.sessions] == [("a", size - 2), ("b", 4), ("c", size - 2)]
    assert [(each.line, each.code) for each in report.problems] == [
        (size + 6, "bundle_fault"),
        (size + 7, "bundle_fault"),
    ]
    assert report.problems[0].message == message
    assert data[report.problems[0].offset :].startswith(line[:10])
    assert report.problems[1].message.startswith(f"{size - 6 - line.count(b'00', 0, 13) * (b'}' not in line)} lines")


def test_a_line_that_is_too_long_is_a_damaged_one() -> None:
    """It is not held, and told as what it is."""
    whole = damaged(5, b'{"x":"' + b"y" * 2000 + b'"}\n')
    store = MemoryStore()
    found = list(bundles.imported_bundle(lines_of([whole], 1000), lambda: store, ""))
    assert [each.added for each in found if isinstance(each, SessionReport)][1] == 4
    told = [each.message for each in found if isinstance(each, Problem)]
    assert told[0] == "a line of 2008 bytes is longer than any is read"


def test_a_bundle_of_a_newer_release() -> None:
    """Nothing of it is taken: what its lines mean is not known here."""
    data = b"".join(lines(worked())).replace(b'"format":1', b'"format":9', 1)
    report = take(data)
    assert report.sessions == []
    assert report.problems[0].message == "a newer release wrote this bundle (format 9)"


@pytest.mark.parametrize("most", [1, 1000])
def test_what_a_person_allowed_elsewhere_is_asked_anew(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Both ledgers hold the word that a call shall run, and it counts once; in the ledger it was given in."""
    monkeypatch.setattr(bundles, "_MOST_EVENTS", most)
    recording = Recording()
    recording.add(SessionOpened())
    calls = tuple(ProposedCall(name="pay", arguments={"n": n}) for n in range(2))
    for call in recording.turn(Reply(kind="tool_calls", provider="openai", calls=calls)):
        recording.add(CallValidated(gates=("schema",), validator="v", arguments_digest="d"), call)
        recording.add(CallApprovalRequested(arguments_digest="d"), call)
    word = CallAuthorized(by="person", person="ann", arguments_digest="d")
    recording.add(word, recording.now(call))
    source, target = recording.stored(), MemoryStore()
    count = len(recording.events)
    data = b"".join(lines(source))
    assert told(take(data, target)) == [("s", "new", count + 1)]
    assert state(target)[0][:count] == state(source)[0]
    assert sorted(placed.row.state for placed in target.calls(CallFilter(), limit=9)) == [
        "awaiting-approval",
        "needs-review",
    ]
    for store in (target, source):
        assert told(take(data, store)) == [("s", "unchanged", 0)]
    assert {placed.row.state for placed in source.calls(CallFilter(), limit=9)} == {"awaiting-approval", "authorized"}


def writes() -> Recording:
    """Return a session whose calls stand where a ledger could run them: three may change the world, two are reads."""
    recording = Recording()
    recording.add(SessionOpened())
    names = ("mail", "order", "pay", "find", "look")
    calls = tuple(ProposedCall(name=name, arguments={}) for name in names[:3])
    reads = tuple(ProposedCall(name=name, arguments={}) for name in names[3:])
    _, order, pay = recording.turn(Reply(kind="tool_calls", provider="openai", calls=calls))
    find, look = recording.turn(Reply(kind="tool_calls", provider="openai", calls=reads), effect="read")
    for each in RUN[:2]:
        recording.add(each, order)
    for started in (pay, find):
        recording.run(started)
    recording.add(RUN[0], look)
    recording.add(CallApprovalRequested(arguments_digest=DIGEST), look)
    recording.add(CallAuthorized(by="person", person="ann", arguments_digest=DIGEST), recording.now(look))
    return recording


def test_what_both_ledgers_could_run_waits_for_a_person() -> None:
    """No side effect happens in two ledgers by itself; what is known of a call elsewhere is told; reads go on."""
    recording, target = writes(), MemoryStore()
    data, count = b"".join(lines(recording.stored())), len(recording.events)
    assert told(take(data, target)) == [("s", "new", count + 4)]
    flags = {event.tool: event.body for event in records_of(target)[count:] if isinstance(event.body, CallFlagged)}
    assert {tool: flag.reason for tool, flag in flags.items()} == {
        "mail": "not-started",
        "order": "not-started",
        "pay": "outcome-unknown",
        "look": "not-started",
    }
    assert flags["pay"].evidence["worker"] == "w"
    assert [row.state for _, row in target.calls(CallFilter(tool="find"), limit=9)] == ["started"]
    assert told(take(data, target)) == [("s", "unchanged", 0)]
    recording.add(CallNoted(by="ann", text="Look."), next(iter(recording.history.calls.values())))
    refused = take(b"".join(lines(recording.stored())), target).refused  # it went on here
    assert f"the export, and the ledger with event {count + 1}" in str(refused[0].error)
    assert "another ledger (--db)" in str(refused[0].error)


def records_of(store: MemoryStore) -> list[Event]:
    """Return the events of a stored session."""
    return [read_event(row.record) for row in store.read("s", limit=1000)]


@pytest.mark.parametrize("notes", [3, 20])
def test_no_commit_ends_where_a_call_could_run(monkeypatch: pytest.MonkeyPatch, notes: int) -> None:
    """A worker may look at the session behind each commit."""
    monkeypatch.setattr(bundles, "_MOST_EVENTS", 1)
    recording = Recording()
    recording.add(SessionOpened())
    for _ in range(2):
        pay = ProposedCall(name="pay", arguments={})
        (call,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(pay,)))
        for _ in range(notes if recording.history.turns[-1].number == 2 else 0):
            recording.add(CallNoted(by="ann", text="Look."), recording.now(call))
        recording.run(call, ok({}))
    states: list[set[str]] = []

    class Seen(MemoryStore):
        """Says which calls are open behind each commit."""

        def append(self, request: Append) -> Appended:
            found = super().append(request)
            states.append({row.state for _, row in self.calls(CallFilter(session_id="s"), limit=9)} - {"succeeded"})
            return found

    assert told(take(b"".join(lines(recording.stored())), Seen())) == [("s", "new", len(recording.events))]
    assert [each for each in states if each] == []


def test_an_imported_call_runs_by_a_persons_word_only() -> None:
    """A resume of the other ledger runs nothing of it, whatever it may run by itself; a person may let it run."""
    sent: list[str] = []

    def opened() -> Ledger:
        ledger = Ledger.open("memory://", run_not_started=True, jitter=lambda: 0.0)
        ledger.tool("mail", effect="external")(mail)
        ledger.tool("pay", effect="external", recovery="retry")(pay)
        return ledger

    def mail(to: str) -> None:
        """Send."""
        sent.append(to)

    def pay() -> None:
        """Pay, once the service is there."""
        if not sent:
            raise Unavailable("Down.")
        sent.append("paid")

    with opened() as here, opened() as there:
        call = here.session("m").propose("mail", {"to": "ann"})
        crash.arm(here, crash.after("call.attempt_failed"), end=dies)
        with pytest.raises(RuntimeError, match="died"):
            here.session("p").call("pay")
        store = here._wiring.store
        data = b"".join(line for name in "mp" for line in write_bundle(name, records(store, name)))
        import_file(io.BytesIO(data), there._wiring.store)
        assert [there.session(name).resume().decisions for name in "mp"] == [[], []]
        assert {row["tool"]: row["reason"] for row in there.reviews()} == {
            "mail": "not-started",
            "pay": "outcome-unknown",
        }
        there.resolve(call.call_id, "run", by="ann")
        there.session("m").resume()
    assert sent == ["ann"]


def dies() -> None:
    """End as a process does that dies."""
    raise RuntimeError("died")


def test_an_export_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many events are read at a time, what is recorded is compared to its end."""
    monkeypatch.setattr(bundles, "_PAGE", 3)
    store = worked()
    assert told(take(b"".join(lines(store)), store)) == [("s", "unchanged", 0)]


def test_zeros_and_glued_lines() -> None:
    """Runs of zeros are told and passed over, lines without their line feed are taken apart."""
    source, target = worked(), MemoryStore()
    whole = lines(source)
    data = b"\0\0" + b"".join(whole[:3]).replace(b"\n", b"") + b"".join(whole[3:])
    report = take(data, target)
    assert [(each.line, each.code) for each in report.problems] == [(1, "nul"), (1, "glued")]
    assert report.refused == []
    assert state(target) == state(source)


def test_what_stands_before_the_first_session() -> None:
    """It is left out and told."""
    data = b"".join(lines(worked()))
    report = import_file(io.BytesIO(b"\0\nx\ny\n" + data), MemoryStore(), format="ledger")
    assert [(each.line, each.code) for each in report.problems] == [(1, "nul"), (2, "bundle_fault")]
    assert report.problems[1].message.startswith("2 lines are left out")
    assert report.sessions[0].state == "new"


def forged(*bodies: Body, session_id: str = "s", **envelope: Any) -> bytes:
    """Return a bundle with a chain that holds, of events that need not make sense."""
    made = []
    for number, body in enumerate(bodies, 1):
        known: dict[str, Any] = {"call_id": "c", "tool": "t", "turn": 1, "index": 0, "revision": 0}
        known = known | envelope if "Call" in type(body).__name__ else {}
        event = Event(
            session_id=session_id, event_id=f"e{number}", recorded_at="2026-11-29T20:00:00.000000Z", body=body, **known
        )
        made.append(encode(event).record(number))
    return b"".join(write_bundle(session_id, made))


OPENED = SessionOpened()
ASKED = CallProposed(arguments={}, imported=True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (forged(OPENED, session_id="_catalog"), "'_catalog' can be no session's id"),
        (forged(OPENED, session_id="a\nb"), "can be no session's id"),
        (forged(OPENED, ToolStageChanged(stage="removed")), "holds an event of the catalog"),
        (forged(OPENED, ASKED), "call c is recorded already, in session 'mine'"),
    ],
)
def test_what_no_ledger_wrote_is_refused(data: bytes, message: str) -> None:
    """Ids of other streams, events of the catalog, calls of other sessions: nothing of theirs is touched."""
    store = MemoryStore()
    take(forged(OPENED, ASKED, session_id="mine"), store)
    before = state(store, "mine")
    report = take(data, store)
    assert report.sessions[0].state == "refused"
    assert message in str(report.refused[0].error)
    assert state(store, "mine") == before


def test_an_event_that_cannot_follow_is_kept_and_counts_for_nothing() -> None:
    """The records are what they are; the call's row stays where the events make sense."""
    store = MemoryStore()
    report = take(forged(OPENED, CallNoted(by="x", text="y"), session_id="odd"), store)
    assert told(report) == [("odd", "new", 2)]
    twice = forged(OPENED, ASKED, CallSucceeded(result=1), CallSucceeded(result=2), CallNoted(by="x", text="y"))
    assert told(take(twice, store)) == [("s", "new", 5)]
    assert [placed.row.state for placed in store.calls(CallFilter(), limit=9)] == ["succeeded"]


def test_a_claim_of_the_same_owner_moves_nothing() -> None:
    """Only what the store itself would count on is counted on."""
    store = MemoryStore()
    bodies: list[Body] = [OPENED, *(SessionClaimed(owner="o", token=token) for token in (1, 2, 7))]
    assert told(take(forged(*bodies), store)) == [("s", "new", 4)]
    head = store.head("s")
    assert head is not None
    assert head.token == 1


def rewritten(before: bytes, after: bytes) -> bytes:
    """Return a bundle in whose one record a part is another, with a digest that fits."""
    record = records(worked())[0].replace(before, after)
    assert after in record
    digest = chain(b"", record).hex().encode()
    head = b'{"bundle":"toolcall-ledger","format":1,"session":"s"}\n{"digest":"'
    return head + digest + b'","record":' + record + b"}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"sequence":1', b'"sequence": 1'),
        (b'"agent":"a"', b'"agent": "a"'),
        (b'"type":"session.opened"', b'"type":null'),
        (b'"type":"session.opened"', b'"tipe":"session.opened"'),
        (b'"recordedAt":', b'"recordedAt":17,"recordedBy":'),
        (b'"recordedAt":"2026-11-29T20:00:00.000000Z"', b'"recordedAt":"9999-99-99T00:00:00Z"'),
        (b'"recordedAt":"2026-11-29T20:00:00.000000Z"', b'"recordedAt":"2026-11-29T20:00:00"'),
        (b'"recordedAt":"2026-11-29T20:00:00.000000Z"', b'"recordedAt":"0001-01-01T00:00:00+14:00"'),
        (b'"sequence":1,"sessionId":"s","type":"session.opened"', b'"sequence":1,"sessionId":"s"'),
    ],
)
def test_a_record_of_another_form_is_none(before: bytes, after: bytes) -> None:
    """Stored bytes are canonical, with all that an event has: anything else is refused before it is stored."""
    report = take(rewritten(before, after))
    assert report.problems[0].message == "the record is not as a ledger writes it"
    assert report.sessions[0].added == 0


def test_an_event_of_a_newer_release_is_kept() -> None:
    """It cannot be read here, and need not be to be stored as it is."""
    store = MemoryStore()
    data = rewritten(b'"type":"session.opened"', b'"type":"session.zoomed"')
    report = take(data, store)
    assert told(report) == [("s", "new", 1)]


def test_its_ids_and_owners_are_its_own(tmp_path: Path) -> None:
    """No other id, principal or tenant can be given to what was recorded."""
    url = f"sqlite:///{tmp_path}/l.db"
    with pytest.raises(UsageError, match="it is imported as it is"):
        import_file(io.BytesIO(b"".join(lines(worked()))), url, wanted=Wanted(session_id="x"))
    assert list(tmp_path.iterdir()) == []


class Failing(MemoryStore):
    """A store that cannot be written."""

    def append(self, request: Append) -> Any:
        raise StoreUnavailable("full")


def test_a_store_that_fails_ends_the_import() -> None:
    """That is no fault of one session: it is raised."""
    with pytest.raises(StoreUnavailable):
        take(b"".join(lines(worked())), Failing())
