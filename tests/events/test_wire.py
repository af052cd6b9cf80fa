"""Events to the exact stored bytes and back."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import JsonRejected
from ledger.events import (
    Body,
    CallNoted,
    CallSucceeded,
    Draft,
    Event,
    SessionClaimed,
    SessionResumed,
    Unreadable,
    chain,
    encode,
    event_to_wire,
    read_event,
)
from ledger.events.wire import FORMATS, UPGRADES
from ledger.strictjson import canonical, loads
from tests.events.samples import AT, CLASSES, EVENT_ID, event, events, full, small, typed, unreadable

NOTE = event(CallNoted(by="ann", text="seen"))
RECORD = encode(NOTE).record(7)


@dataclass(frozen=True)
class Columns:
    """What stands beside a record in the store."""

    session_id: str = "s1"
    sequence: int = 7
    event_id: str = EVENT_ID
    type: str = "call.noted"
    call_id: str | None = "c1"
    tool: str | None = "send_email"


def changed(**members: Any) -> bytes:
    """Return the record with other members; None takes one out."""
    wire = loads(RECORD) | members
    return canonical({key: value for key, value in wire.items() if value is not None})


# -- there and back


@given(events(), st.integers(min_value=1))
def test_any_event_comes_back_as_it_was(original: Event, sequence: int) -> None:
    """Every event of every type reads back equal in value and type, whatever strings and numbers it holds."""
    found = read_event(encode(original).record(sequence))
    assert typed(found) == typed(dataclasses.replace(original, sequence=sequence))


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("make", [small, full])
def test_every_type_comes_back_as_it_was(cls: type[Body], make: Any) -> None:
    """Every type reads back equal, with all of its fields given and with none but the required ones."""
    original = event(make(cls), call_id="c1")
    assert typed(read_event(encode(original).record(1)).body) == typed(original.body)


@given(events(), st.integers(min_value=1))
def test_a_record_is_canonical_json(original: Event, sequence: int) -> None:
    """The stored bytes are the canonical form of their own content, the sequence at its place among the keys."""
    record = encode(original).record(sequence)
    assert record == canonical(loads(record))
    assert loads(record)["sequence"] == sequence


def test_a_record_holds_neither_position_nor_digest() -> None:
    """Global order and the chain stand beside the record; what has no value is not in it."""
    assert RECORD.decode() == (
        '{"body":{"by":"ann","text":"seen"},"callId":"c1","eventId":"' + EVENT_ID + '","format":1,"index":0,'
        '"recordedAt":"' + AT + '","revision":0,"schemaVersion":1,"sequence":7,"sessionId":"s1",'
        '"tool":"send_email","turn":1,"type":"call.noted"}'
    )


def test_the_place_does_not_change_what_is_encoded() -> None:
    """A draft is encoded once; only the sequence differs between two places."""
    draft = encode(NOTE)
    assert isinstance(draft, Draft)
    assert draft.record(12).replace(b'"sequence":12', b'"sequence":7') == RECORD


def test_equal_events_have_equal_bytes() -> None:
    """An event that was read and one that was built have the same record: importing twice is recognised."""
    first = encode(event(CallSucceeded(status=json.loads('"ok"')))).record(3)
    assert encode(read_event(first)).record(3) == first == encode(event(CallSucceeded())).record(3)


@pytest.mark.parametrize("wrong", [float("nan"), {1, 2}, {1: "key"}, b"bytes"])
def test_what_json_cannot_hold_is_refused_before_it_is_stored(wrong: Any) -> None:
    """A body with a value that JSON does not have is never encoded."""
    with pytest.raises(JsonRejected):
        encode(event(CallSucceeded(result=wrong)))


def test_an_unreadable_event_is_never_written() -> None:
    """What could not be read is not written again under another content."""
    lost = event(Unreadable(type="call.noted", format=1, reason="", raw=None, newer=False))
    with pytest.raises(TypeError, match="never written again"):
        encode(lost)


# -- the chain


def test_the_chain_covers_the_record_and_what_came_before() -> None:
    """A digest is SHA-256 over the previous digest and the record, from nothing at the beginning."""
    first = chain(b"", RECORD)
    assert first == hashlib.sha256(RECORD).digest()
    assert chain(first, RECORD) == hashlib.sha256(first + RECORD).digest() != first


# -- old formats


def widen(body: dict[str, Any]) -> dict[str, Any]:
    """Carry a note of format 1 to format 2: `who` became `by`."""
    return {"by": body.pop("who"), "comment": body["comment"]}


def rename(body: dict[str, Any]) -> dict[str, Any]:
    """Carry a note of format 2 to format 3: `comment` became `text`."""
    return {"by": body["by"], "text": body["comment"]}


TABLE = {("call.noted", 1): widen, ("call.noted", 2): rename}
NOW = {"call.noted": 3}


@pytest.mark.parametrize(
    ("form", "body"),
    [
        (1, {"who": "ann", "comment": "seen"}),
        (2, {"by": "ann", "comment": "seen"}),
        (3, {"by": "ann", "text": "seen"}),
    ],
)
def test_old_formats_are_upgraded_on_read(form: int, body: dict[str, Any]) -> None:
    """A body in any older format is carried step by step to the current one, which the event then says."""
    found = read_event(changed(format=form, body=body), upgrades=TABLE, formats=NOW)
    assert found == dataclasses.replace(NOTE, sequence=7, format=3)


def test_new_events_are_written_in_the_current_format() -> None:
    """Whoever builds an event need not know its format: encoding puts it in, in the draft's event as well."""
    draft = encode(NOTE, formats=NOW)
    assert loads(draft.record(7))["format"] == draft.event.format == 3
    assert read_event(draft.record(7), upgrades=TABLE, formats=NOW).body == NOTE.body


def test_a_failed_upgrade_is_told_with_the_recorded_body() -> None:
    """An upgrade that cannot cope leaves the row unreadable, shown exactly as it was recorded."""
    record = changed(format=1, body={"who": "ann"})
    body = unreadable(read_event(record, upgrades=TABLE, formats=NOW))
    assert (body.type, body.format, body.newer) == ("call.noted", 1, False)
    assert body.reason == "this row cannot be read: comment is missing"
    assert body.raw == loads(record)


def test_a_format_without_a_way_up_is_unreadable() -> None:
    """A format that no release ever wrote is a broken row, not a newer one."""
    body = unreadable(read_event(changed(format=0), upgrades=TABLE, formats=NOW))
    assert not body.newer


def test_every_format_has_its_way_up() -> None:
    """For each type whose format moved on, each older format has an upgrade, and no upgrade is without use."""
    steps = {(name, form) for name, current in FORMATS.items() for form in range(1, current)}
    assert steps == set(UPGRADES)


# -- rows that cannot be read


@pytest.mark.parametrize("record", [changed(format=2), changed(type="call.teleported")])
def test_what_a_newer_release_wrote_is_shown_raw(record: bytes) -> None:
    """An unknown type or a newer format keeps its place in the session, and says that a newer release wrote it."""
    found = read_event(record)
    assert (found.sequence, found.call_id, unreadable(found).newer) == (7, "c1", True)
    assert unreadable(found).raw == loads(record)
    assert found.format == unreadable(found).format == loads(record)["format"]


def test_a_body_that_does_not_fit_keeps_its_place() -> None:
    """A row whose body lacks what its type needs is unreadable under its own sequence and call."""
    found = read_event(changed(body={"by": "ann"}))
    assert (found.sequence, found.call_id, found.type) == (7, "c1", "call.noted")
    assert unreadable(found).reason == "this row cannot be read: text is missing"
    assert not unreadable(found).newer


@pytest.mark.parametrize("body", [[], "text", 5, [["by", "ann"], ["text", "seen"]]])
def test_a_body_that_is_no_object_is_unreadable(body: Any) -> None:
    """A body of another JSON type never raises."""
    assert not unreadable(read_event(changed(body=body))).newer


BROKEN = [
    (b"", "Expecting value"),
    (RECORD[:100], "Unterminated string"),
    (b"\0" * 300, "Expecting value"),
    (b"\xff" + RECORD, "codec can't decode"),
    (b"[1]", "has no attribute"),
    (b"7", "has no attribute"),
    (b'{"body":' + b"[" * 100_000, "recursion"),
    (changed(sessionId=None), "sessionId is missing"),
    (changed(sequence=None), "sequence is missing"),
    (changed(format=None), "format is missing"),
    (changed(type=None), "type is missing"),
    (changed(body=None), "body is missing"),
    (changed(callId=None), "callId is missing"),
    (changed(sequence="7"), "sequence has the type str"),
    (changed(turn=True), "turn has the type bool"),
    (changed(type=["call.noted"]), "type has the type list"),
]


@pytest.mark.parametrize(("record", "said"), BROKEN)
def test_what_is_no_record_never_raises(record: bytes, said: str) -> None:
    """Bytes that are no record at all become an unreadable event that says why."""
    found = read_event(record)
    assert said in unreadable(found).reason
    assert found.sequence == 0
    assert not unreadable(found).newer


@pytest.mark.parametrize(("record", "said"), BROKEN)
def test_the_columns_say_where_a_broken_record_stands(record: bytes, said: str) -> None:
    """With its row given, an unreadable event still has its session, sequence, call and type."""
    found = read_event(record, Columns())
    assert (found.session_id, found.sequence, found.event_id) == ("s1", 7, EVENT_ID)
    assert (found.call_id, found.tool, found.type) == ("c1", "send_email", "call.noted")
    assert said in unreadable(found).reason


def test_the_record_is_believed_before_the_columns() -> None:
    """Columns are copies: where the record can be read, it alone counts."""
    assert read_event(RECORD, Columns(sequence=9, call_id="other")) == dataclasses.replace(NOTE, sequence=7)


def test_broken_bytes_are_shown_escaped_and_bounded() -> None:
    """A broken row of any size shows the beginning of its bytes, none of them lost."""
    raw = unreadable(read_event(b"\xff\x00" + b"x" * 100_000)).raw
    assert raw.startswith("\\xff\0xxx")
    assert len(raw) < 5000


@given(st.binary(max_size=40), st.integers(min_value=0, max_value=len(RECORD)))
def test_no_damage_raises(noise: bytes, place: int) -> None:
    """Bytes put over a record anywhere lead to some event, never to an exception."""
    damaged = RECORD[:place] + noise + RECORD[place + len(noise) :]
    assert isinstance(read_event(damaged), Event)


# -- as people see it


def test_an_event_is_shown_with_its_wire_names() -> None:
    """Exports show the record's own members, the body in its current form."""
    shown = event_to_wire(read_event(RECORD))
    assert shown == json.loads(RECORD)


def test_a_session_event_is_shown_without_what_it_does_not_have() -> None:
    """Members without a value are left out of an export."""
    shown = event_to_wire(event(SessionClaimed(owner="host:1", token=2), sequence=3))
    assert shown == {
        "type": "session.claimed",
        "sequence": 3,
        "format": 1,
        "sessionId": "s1",
        "eventId": EVENT_ID,
        "recordedAt": AT,
        "body": {"owner": "host:1", "token": 2},
    }


def test_an_unreadable_event_is_shown_raw_with_the_reason() -> None:
    """An export of an event that cannot be read has its recorded body and says why it is so."""
    record = changed(type="call.teleported", body={"to": "mars"})
    shown = event_to_wire(read_event(record))
    assert (shown["type"], shown["sequence"], shown["body"]) == ("call.teleported", 7, {"to": "mars"})
    assert shown["unreadable"] == "a newer release wrote this event"


@pytest.mark.parametrize("text", ["\0\0\0", '{"body":'])
def test_a_row_that_is_no_record_is_shown_as_text(text: str) -> None:
    """An export of bytes that are no record shows them as text in the place of the body."""
    shown = event_to_wire(read_event(text.encode(), Columns()))
    assert (shown["sequence"], shown["format"], shown["body"]) == (7, 0, text)


def test_a_record_without_a_body_is_shown_whole() -> None:
    """An export of JSON that has no body shows all of it in the body's place."""
    record = changed(body=None)
    assert event_to_wire(read_event(record, Columns()))["body"] == loads(record)


@given(st.sampled_from(CLASSES).map(full).map(lambda body: event(body, call_id="c1")))
def test_what_is_shown_is_what_is_recorded(original: Event) -> None:
    """For what can be read, the export and the record are the same object."""
    record = encode(original).record(4)
    assert canonical(event_to_wire(read_event(record))) == record


def test_bodies_with_one_field_are_recorded() -> None:
    """A body of a single field is written and read as the others are."""
    assert read_event(encode(event(SessionResumed(decisions=()))).record(1)).body == SessionResumed(decisions=())
