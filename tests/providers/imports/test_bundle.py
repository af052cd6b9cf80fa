"""The ledger's own export: exact to the byte, and whatever was changed in it is found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from ledger.events import CallSucceeded
from ledger.providers.bundle import (
    BundleEnd,
    BundleFault,
    BundleItem,
    BundleRecord,
    BundleSession,
    read_bundle,
    write_bundle,
)
from ledger.providers.port import ProposedCall, Reply
from ledger.store.memory import MemoryStore
from ledger.store.port import Append
from tests.providers.recording import Recording
from tests.providers.sessions import recordings


def stored(recording: Recording) -> list[Any]:
    """Return the rows that a store keeps of the session."""
    return list(recording.stored().read("s", limit=1000))


def bundle(recording: Recording) -> list[bytes]:
    """Return the session's bundle, line by line."""
    return list(write_bundle("s", (row.record for row in stored(recording))))


def session() -> Recording:
    """Return a session whose records hold what is hard to keep: NUL, a lone surrogate, its own mark in a text."""
    recording = Recording()
    recording.say('a\0b\udce9,"sequence":2,')
    sent = ProposedCall(name='f,"sequence":3,', raw='{"n": 1.0}')
    (call,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(sent,)), parse=True)
    recording.run(call, CallSucceeded(result={"big": 2**70, "text": "caf\udce9"}))
    return recording


def read(lines: list[bytes]) -> list[BundleItem]:
    """Return what a bundle holds."""
    return list(read_bundle(lines))


@given(recordings())
def test_a_bundle_gives_every_record_back(recording: Recording) -> None:
    """The same bytes under the same digests, and an end that counts them."""
    rows = stored(recording)
    first, *records, end = read(bundle(recording))
    assert first == BundleSession(id="s")
    assert [(each.sequence, each.record, each.digest) for each in records if isinstance(each, BundleRecord)] == [
        (row.sequence, row.record, row.digest.hex()) for row in rows
    ]
    assert end == BundleEnd(session_id="s", events=len(rows), head=rows[-1].digest.hex() if rows else "")


def test_a_store_that_takes_it_in_has_equal_digests() -> None:
    """Appended somewhere else, every event has the bytes and the digest that it had."""
    other = MemoryStore()
    for item in read(bundle(session())):
        if isinstance(item, BundleRecord):
            other.append(Append(session_id=item.session_id, drafts=(item.draft(),)))
    mine = [(row.sequence, row.record, row.digest) for row in other.read("s", limit=1000)]
    assert mine == [(row.sequence, row.record, row.digest) for row in stored(session())]


def test_several_sessions_stand_one_behind_the_other() -> None:
    """Each is whole by itself; line ends of another system make no difference."""
    lines = bundle(session())
    found = read([line.replace(b"\n", b"\r\n") for line in lines] + lines)
    assert [type(item) for item in found].count(BundleEnd) == 2


def test_a_line_that_was_written_anew_is_read_the_same() -> None:
    """White space and key order of the line itself say nothing: the record has one canonical form."""
    lines = bundle(session())
    value = json.loads(lines[2])
    again = json.dumps({"record": value["record"], "digest": value["digest"]}, indent=None).encode()
    assert read([*lines[:2], again, *lines[3:]]) == read(lines)


def altered(place: int, old: bytes, new: bytes) -> list[bytes]:
    """Return the bundle with one line changed."""
    lines = bundle(session())
    assert old in lines[place]
    lines[place] = lines[place].replace(old, new, 1)
    return lines


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (altered(2, b'"tool_calls"', b'"text"'), 3, "the digest is another"),
        (altered(2, b'"digest":"', b'"digest":"0'), 3, "the digest is another"),
        (bundle(session())[:-1], 8, "the bundle ends before its session does"),
        (bundle(session())[:3] + bundle(session())[4:], 4, "the digest is another"),
        (bundle(session())[:-2] + bundle(session())[-1:], 8, "the session is not whole"),
        (altered(-1, b'"events":7', b'"events":5'), 9, "the session is not whole"),
        (bundle(session())[1:], 1, "no session has begun"),
        (bundle(session())[:2] + bundle(session()), 3, "the session before it is not whole"),
        (altered(0, b"toolcall-ledger", b"other"), 1, "no bundle of a ledger"),
        (altered(0, b'"session":"s"', b'"session":5'), 1, "no bundle of a ledger"),
        (altered(0, b'"format":1', b'"format":2'), 1, "a newer release wrote this bundle"),
        (altered(0, b'"session":"s"', b'"session":"t"'), 2, "the record is of another place"),
        (altered(1, b'"record":{', b'"record":5,"x":{'), 2, "no record"),
        (altered(1, b"}", b""), 2, "no JSON"),
        ([b"[" * 100_000], 1, "no JSON"),
        ([b"\0" * 300], 1, "no JSON"),
        ([b"7"], 1, "no object"),
    ],
)
def test_whatever_was_changed_is_found(lines: list[bytes], line: int, message: str) -> None:
    """Torn, cut, put together wrongly, altered: the line is named, and nothing of it is handed out."""
    with pytest.raises(BundleFault, match=message) as caught:
        read(lines)
    assert caught.value.line == line
    assert caught.value.code == "bundle_fault"
