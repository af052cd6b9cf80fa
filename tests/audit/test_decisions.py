"""What people decided about a call."""

from collections.abc import Iterator
from typing import Any

import pytest

from ledger import Ledger
from ledger.audit import call_story
from ledger.audit.decisions import replaced_by
from ledger.errors import VerdictRefused
from tests.audit.world import calls, everything, opened

WHY: dict[str, Any] = {"by": "ada", "note": "I looked", "evidence": ({"url": "https://x/log"},)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger with a decision of every kind: in `mix` replaced, in the others what their names say."""
    folder = tmp_path_factory.mktemp("decided")
    everything(folder)
    with opened(folder) as found:
        for name, call in (("approved", {"to": "boss@x"}), ("denied", {"to": "boss@x"}), ("sent", {"to": "b@x"})):
            with found.session(name) as session:
                session.call("send_email", {**call, "body": "lost"})
        found.approve(first(found, "approved"), **WHY, verified=True)
        found.deny(first(found, "denied"), **WHY, verified=True)
        found.resolve(first(found, "sent"), "did-not-happen", run=True, **WHY)
        rows = calls(found, "mix")
        found.resolve(rows["2.0"]["callId"], arguments={"to": "team@x"}, **WHY)
        found.resolve(rows["3.0"]["callId"], "did-not-happen", arguments={"to": "c@x"}, **WHY, verified=True)
        yield found


def first(ledger: Ledger, session: str) -> str:
    """The id of the first call of a session, whoever took its place."""
    return str(next(iter(ledger.calls(session=session)))["callId"])


def decided(ledger: Ledger, call_id: str) -> list[dict[str, Any]]:
    """The decisions in the story of a call."""
    found: list[dict[str, Any]] = call_story(ledger.reader, ledger.find(call_id))["decisions"]
    return found


@pytest.mark.parametrize(
    ("session", "told"),
    [
        ("approved", {"decision": "approved", "run": True, "didNotHappen": False, "verified": True}),
        ("denied", {"decision": "denied", "run": False, "didNotHappen": False, "verified": True}),
        ("sent", {"decision": "did-not-happen", "run": True, "didNotHappen": True, "verified": False}),
    ],
)
def test_a_decision_is_told_with_its_reason_and_its_evidence(world: Ledger, session: str, told: dict[str, Any]) -> None:
    """Who, when, in which words, and what they looked at, whichever way a person decides."""
    [row] = decided(world, first(world, session))
    assert {key: row[key] for key in told} == told
    assert (row["by"], row["note"], row["evidence"]) == ("ada", "I looked", [{"url": "https://x/log"}])
    [event] = [each for each in world.events(session=session) if each["eventId"] == row["eventId"]]
    assert (row["at"], row["osUser"]) == (event["recordedAt"], event["body"]["osUser"])


def test_what_nobody_decided_has_no_decisions(world: Ledger) -> None:
    """A policy's word is none of a person."""
    assert decided(world, first(world, "done")) == []
    assert decided(world, calls(world, "mix")["2.1"]["callId"]) == []


@pytest.mark.parametrize(("place", "doubt"), [("2.0", False), ("3.0", True)])
def test_a_call_and_the_one_in_its_place_know_each_other(world: Ledger, place: str, doubt: bool) -> None:
    """The old one tells who replaced it by which call, the new one whose place it took and who allowed it."""
    [old, new] = [row for row in world.calls(session="mix") if f"{row['turn']}.{row['index']}" == place]
    before, after = (call_story(world.reader, world.find(row["callId"])) for row in (old, new))
    [said] = before["decisions"]
    assert (said["decision"], said["didNotHappen"], said["by"]) == ("superseded", doubt, "ada")
    assert said["supersededBy"] == before["supersededBy"] == new["callId"]
    assert (before["takesPlaceOf"], after["takesPlaceOf"]) == (None, old["callId"])
    [allowed] = after["decisions"]
    assert allowed["decision"] == "approved"
    assert said["evidence"] == allowed["evidence"] == [{"url": "https://x/log"}]
    assert said["verified"] == allowed["verified"] == doubt


def test_a_call_that_was_replaced_takes_no_second_word(world: Ledger) -> None:
    """The refusal names the call that has its place."""
    old = calls(world, "mix")
    [replaced, new] = [row["callId"] for row in world.calls(session="mix") if (row["turn"], row["index"]) == (2, 0)]
    assert old["2.0"]["callId"] == new
    with pytest.raises(VerdictRefused, match=f"was replaced already, by call {new}") as told:
        world.approve(replaced, by="ada")
    assert f"`ledger review show {new}`" in (told.value.hint or "")


def test_a_note_says_whether_its_writer_was_checked(world: Ledger) -> None:
    """As each other word of a person does."""
    called = first(world, "done")
    world.note(called, "seen", by="ada", verified=True)
    world.note(called, "seen", by="bob")
    notes = call_story(world.reader, world.find(called))["notes"]
    assert [(note["by"], note.get("verified", False)) for note in notes] == [("ada", True), ("bob", False)]


def test_a_copy_ends_by_its_original(world: Ledger) -> None:
    """The ledger settles it, and names the original."""
    rows = list(world.calls(session="mix"))
    [copy] = [row for row in rows if row["duplicateOf"]]
    [said] = decided(world, copy["callId"])
    assert (said["by"], said["settledBy"]) == ("ledger", copy["duplicateOf"])


def test_a_place_that_nobody_gave_is_none(world: Ledger) -> None:
    """Where the record does not say whose place a call has, it is not guessed."""
    [*_, new] = world.calls(session="mix")
    call = world.find(new["callId"])
    assert replaced_by(world.reader, call) is not None
    assert replaced_by(world.reader, call.changed(call_id="nobody's")) is None
