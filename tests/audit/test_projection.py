"""Every call folded again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledger
from ledger.audit import projection, reading
from ledger.audit.projection import Folded
from ledger.audit.rows import changed_keys
from ledger.events import CallSucceeded
from tests.audit.odd import append, newer
from tests.audit.world import calls, everything, opened


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    everything(tmp_path)
    with opened(tmp_path) as found:
        yield found


@pytest.mark.parametrize("page", [1, 500])
def test_the_projection_is_the_fold(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    """The table of calls says of every call what its events say."""
    monkeypatch.setattr(reading, "PAGE", page)
    folded = Folded(ledger.reader)
    assert ledger._wiring.store.rebuild(folded.rows(), write=False) == []
    assert (folded.unreadable, folded.newer, folded.broken, folded.places) == (0, 0, 0, [])
    assert len(list(Folded(ledger.reader).rows())) == 13


def test_a_wrong_row_is_found_and_written_again(ledger: Ledger) -> None:
    """A row that was changed, lost or invented differs; rebuilding makes all rows right."""
    store = ledger._wiring.store
    rows = list(Folded(ledger.reader).rows())
    wrong = [rows[0]._replace(attempt=7), *rows[2:], rows[3]._replace(call_id="invented", turn=99)]
    store.rebuild(iter(wrong), write=True)
    found = store.rebuild(Folded(ledger.reader).rows(), write=False)
    assert sorted(call_id for call_id, _, _ in found) == sorted([rows[0].call_id, rows[1].call_id, "invented"])
    assert changed_keys(*next((a, b) for _, a, b in found if a and b)) == ["attempt"]
    store.rebuild(Folded(ledger.reader).rows(), write=True)
    assert store.rebuild(Folded(ledger.reader).rows(), write=False) == []


def test_what_cannot_be_folded_stays_as_it_is_stored(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events of a newer release, or such as do not follow, are counted; their calls' rows are not judged."""
    monkeypatch.setattr(projection, "MOST_SHOWN", 2)
    started, done = (
        ledger.find(calls(ledger, "crash")["1.0"]["callId"]),
        ledger.find(calls(ledger, "done")["1.0"]["callId"]),
    )
    newer(ledger, started)
    append(ledger, started, CallSucceeded(result="?"), event_id="behind")
    append(ledger, done, CallSucceeded(result="twice"))
    append(ledger, done, CallSucceeded(result="thrice"), event_id="thrice")
    newer(ledger, done)
    folded = Folded(ledger.reader)
    assert ledger._wiring.store.rebuild(folded.rows(), write=False) == []
    assert (folded.unreadable, folded.newer, folded.broken) == (2, 2, 1)
    assert [(session, why) for session, _, why in folded.places] == [
        ("crash", "a newer release wrote this event"),
        ("done", f"call.succeeded cannot follow succeeded (call {done.call_id})"),
    ]


def test_an_unreadable_event_of_a_session_is_of_no_call(ledger: Ledger) -> None:
    """Where an event that cannot be read belongs to no call, no call is passed over; an unknown call has no row."""
    call = ledger.find(calls(ledger, "done")["1.0"]["callId"])
    newer(ledger, call.changed(call_id=None))
    append(ledger, call.changed(call_id="nobody"), CallSucceeded(), event_id="of-nobody")
    folded = Folded(ledger.reader)
    assert ledger._wiring.store.rebuild(folded.rows(), write=False) == []
    assert (folded.unreadable, folded.broken) == (1, 1)
