"""The whole story of one call."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledger
from ledger.audit import call_of, call_story, find_call, reading
from ledger.errors import UnknownCall
from ledger.events import CallOutcomeArrivedLate, CallSucceeded
from ledger.store.port import Append
from ledger.testing.contract.building import Story
from tests.audit.odd import append, newer
from tests.audit.world import calls, everything, opened


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    everything(tmp_path)
    with opened(tmp_path) as found:
        yield found


def proposed(ledger: Ledger, *call_ids: str) -> None:
    """Record proposals of calls with ids of our own."""
    told = Story("told")
    drafts = tuple(map(told.propose, call_ids))
    ledger._wiring.store.append(Append(session_id="told", drafts=drafts, calls=told.rows(*call_ids)))


def test_a_call_is_found_by_head_or_tail(ledger: Ledger) -> None:
    """The whole id, or a unique end of it, names a call."""
    called = calls(ledger, "done")["1.0"]["callId"]
    for part in (called, called[:-4], called[-8:], called[-4:]):
        assert find_call(ledger.reader, part).call_id == called


def test_a_call_is_found_by_the_beginning_of_what_lists_show(ledger: Ledger) -> None:
    """Four of the last eight characters name a call, unless another one has them as its head or tail."""
    proposed(ledger, "first-7945a343", "other-a3437945")
    assert find_call(ledger.reader, "7945a").call_id == "first-7945a343"
    assert find_call(ledger.reader, "7945").call_id == "other-a3437945"
    assert find_call(ledger.reader, "a343").call_id == "first-7945a343"


def test_one_of_more_than_are_looked_at_is_not_picked(ledger: Ledger) -> None:
    """Where so many calls fit that not all are read, nobody knows that only one has it as its head or tail."""
    proposed(ledger, "one-7945", *(f"shown-7945{number:04}" for number in range(19)), "other-7945")
    with pytest.raises(UnknownCall, match="'7945' fits several calls"):
        find_call(ledger.reader, "7945")
    assert find_call(ledger.reader, "one-7945").call_id == "one-7945"


def test_what_fits_several_calls_or_none_is_told(ledger: Ledger) -> None:
    """A head that several ids share names some of them; an unknown one says where to look."""
    called = calls(ledger, "done")["1.0"]["callId"]
    with pytest.raises(UnknownCall, match=rf"'{called[:6]}' fits several calls: {called[:6]}") as several:
        find_call(ledger.reader, called[:6])
    assert several.value.hint == "Give more of the id."
    with pytest.raises(UnknownCall, match="no call 'nope!' in this ledger"):
        find_call(ledger.reader, "nope!")


def test_a_whole_id_is_itself_where_it_ends_another(ledger: Ledger) -> None:
    """The id of a call names it, also where it is the tail of another one's."""
    proposed(ledger, "abcd-1234", "x-abcd-1234")
    assert find_call(ledger.reader, "abcd-1234").call_id == "abcd-1234"
    with pytest.raises(UnknownCall, match="fits several"):
        find_call(ledger.reader, "bcd-1234")


@pytest.mark.parametrize("page", [1, 500])
def test_a_finished_call_tells_what_ran_and_what_came_of_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    """Intent, authority, execution and result stand beside each other, exactly as they were."""
    monkeypatch.setattr(reading, "PAGE", page)
    called = calls(ledger, "mix")["1.1"]["callId"]
    ledger.note(called, "looked at it", by="ada")
    told = call_story(ledger.reader, call_of(ledger.reader, "mix", called))
    assert (told["state"], told["status"], told["resultKnown"]) == ("succeeded", "ok", True)
    assert told["result"] == {"id": 2512292042121000001, "sent": "a@x"}
    assert told["rawArguments"] == '{"to": "a@x", "body": "hello"}'
    assert told["executed"] == told["arguments"] == {"to": "a@x", "body": "hello"}
    assert (told["approval"]["by"], told["attempt"]) == ("policy", 1)
    assert told["idempotencyKey"] == called
    assert [(note["by"], note["text"]) for note in told["notes"]] == [("ada", "looked at it")]
    assert (told["evidence"], told["verdict"], told["lateOutcome"], told["lookAlikes"]) == (None, None, None, [])


def test_a_doubt_tells_its_evidence_and_its_copies(ledger: Ledger) -> None:
    """A flagged call names what is known, the copies it settles, and the calls that look like it."""
    rows = calls(ledger, "mix")
    original, copy = rows["3.0"]["callId"], rows["4.0"]["callId"]
    told = call_story(ledger.reader, ledger.find(original))
    assert told["evidence"]["exception"] == "TimeoutError"
    assert told["copies"] == [copy]
    assert told["result"] is None
    copied = call_story(ledger.reader, ledger.find(copy))
    assert copied["duplicateOf"] == original
    assert [(other["callId"], other["state"]) for other in copied["lookAlikes"]] == [(original, "needs-review")]
    late = CallOutcomeArrivedLate(ended="succeeded", token=1, result={"sent": "b@x"})
    append(ledger, ledger.find(original), late)
    assert call_story(ledger.reader, ledger.find(original))["lateOutcome"]["result"] == {"sent": "b@x"}


def test_a_refused_call_tells_why(ledger: Ledger) -> None:
    """A call that no gate let through has no approval, no digest and no look-alikes, but violations and a raw text."""
    told = call_story(ledger.reader, ledger.find(calls(ledger, "mix")["2.3"]["callId"]))
    assert (told["gate"], told["code"], told["errorClass"]) == ("decode", "invalid_json", "model")
    assert (told["approval"], told["rawArguments"], told["arguments"]) == (None, '{"q": "x', None)
    asked = call_story(ledger.reader, ledger.find(calls(ledger, "mix")["2.0"]["callId"]))
    assert asked["approval"]["who"] == ["ada"]


def test_a_verdict_is_part_of_the_story(ledger: Ledger) -> None:
    """Who resolved it, and how, stays with the call."""
    called = calls(ledger, "mix")["3.0"]["callId"]
    ledger.resolve(called, "happened", by="ada", note="saw it", result={"sent": "b@x"})
    told = call_story(ledger.reader, ledger.find(called))
    assert (told["verdict"]["verdict"], told["verdict"]["by"], told["verdict"]["note"]) == ("happened", "ada", "saw it")


def test_a_call_stays_where_it_was_when_an_event_cannot_be_read(ledger: Ledger) -> None:
    """From an event of a newer release on nothing is guessed."""
    call = ledger.find(calls(ledger, "crash")["1.0"]["callId"])
    newer(ledger, call)
    append(ledger, call, CallSucceeded(result="?"), event_id="behind")
    assert call_of(ledger.reader, "crash", call.call_id).state == "started"


def test_a_call_stays_where_it_was_when_an_event_does_not_follow(ledger: Ledger) -> None:
    """An event that no call could have is passed over, and what comes behind it too."""
    call = ledger.find(calls(ledger, "done")["1.0"]["callId"])
    append(ledger, call, CallSucceeded(result="twice"))
    assert call_of(ledger.reader, "done", call.call_id).result != "twice"
