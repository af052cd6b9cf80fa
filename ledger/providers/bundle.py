"""The ledger's own export: a session's records line by line, so exact that importing them gives equal digests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ledger.errors import LedgerError
from ledger.events import Draft, chain, read_event
from ledger.strictjson import Json, canonical, loads

FORMAT: Final = 1
_MARK: Final = "toolcall-ledger"
_RECORD: Final = b'","record":'
_DIGEST: Final = b'{"digest":"'
_START: Final = len(_DIGEST) + 64 + len(_RECORD)


class BundleFault(LedgerError):
    """A bundle is torn, altered, or of a newer release; `line` counts from 1."""

    default_code = "bundle_fault"

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(f"line {line}: {message}.")
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleSession:
    """A session of the bundle begins."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRecord:
    """An event of the session: the exact bytes that were stored, and their digest in its chain, in hex."""

    session_id: str
    sequence: int
    record: bytes
    digest: str

    def draft(self) -> Draft:
        """Return the event as a store takes it: under its sequence it gets exactly these bytes again."""
        mark = b',"sequence":%d,' % self.sequence
        place = self.record.rindex(mark)  # behind it come texts and numbers only: no other such place
        event = read_event(self.record)
        wire = loads(self.record)
        return Draft(event, wire["type"], self.record[:place], self.record[place + len(mark) :])


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleEnd:
    """The session is whole: so many events, the last one with this digest."""

    session_id: str
    events: int
    head: str


BundleItem: TypeAlias = BundleSession | BundleRecord | BundleEnd


def write_bundle(session_id: str, records: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a session's export: who it is, each stored record with its digest, and how many there are."""
    yield canonical({"bundle": _MARK, "format": FORMAT, "session": session_id}) + b"\n"
    head = b""
    count = 0
    for record in records:
        head = chain(head, record)
        count += 1
        yield _DIGEST + head.hex().encode() + _RECORD + record + b"}\n"
    yield canonical({"end": session_id, "events": count, "head": head.hex()}) + b"\n"


def read_bundle(lines: Iterable[bytes]) -> Iterator[BundleItem]:
    """
    Yield what a bundle holds; every record is checked against its digest and its place before it is handed out.

    Raises `BundleFault` at the first line that is not as it was written.
    """
    session: str | None = None
    head, count, number = b"", 0, 0
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip(b"\r\n")
        value = _decoded(line, number)
        if "bundle" in value:
            session = _begun(value, session, number)
            head, count = b"", 0
            yield BundleSession(id=session)
        elif session is None:
            raise BundleFault("no session has begun", line=number)
        elif "end" in value:
            if (value["end"], value.get("events"), value.get("head")) != (session, count, head.hex()):
                raise BundleFault("the session is not whole", line=number)
            yield BundleEnd(session_id=session, events=count, head=head.hex())
            session = None
        else:
            record = _record(line, value, number)
            head, count = chain(head, record), count + 1
            yield _checked(record, value, head, BundlePlace(session, count, number))
    if session is not None:
        raise BundleFault("the bundle ends before its session does", line=number)


def is_bundle(value: Mapping[str, Any]) -> bool:
    """Whether this is the first line of a bundle."""
    return value.get("bundle") == _MARK


@dataclass(frozen=True, slots=True)
class BundlePlace:
    """Where a record stands: its session, its sequence there, and its line."""

    session_id: str
    sequence: int
    line: int


def _decoded(line: bytes, number: int) -> dict[str, Any]:
    try:
        value: Json = loads(line)  # records hold what a strict reader refuses: lone surrogates
    except (ValueError, RecursionError):
        raise BundleFault("no JSON", line=number) from None
    if not isinstance(value, dict):
        raise BundleFault("no object", line=number)
    return value


def _begun(value: dict[str, Any], session: str | None, number: int) -> str:
    if session is not None:
        raise BundleFault("the session before it is not whole", line=number)
    if not is_bundle(value) or not isinstance(value.get("session"), str):
        raise BundleFault("no bundle of a ledger", line=number)
    if value.get("format") != FORMAT:
        raise BundleFault(f"a newer release wrote this bundle (format {value.get('format')!r})", line=number)
    return str(value["session"])


def _record(line: bytes, value: dict[str, Any], number: int) -> bytes:
    """Return a record's exact bytes; of a line that was written anew, its canonical form, which is the same."""
    if not isinstance(value.get("record"), dict):
        raise BundleFault("no record", line=number)
    if line.startswith(_DIGEST) and line[_START - len(_RECORD) : _START] == _RECORD:
        return line[_START:-1]
    return canonical(value["record"])


def _checked(record: bytes, value: dict[str, Any], head: bytes, place: BundlePlace) -> BundleRecord:
    wire = value["record"]
    if value.get("digest") != head.hex():
        raise BundleFault("the digest is another: it, or a line before it, was altered", line=place.line)
    if (wire.get("sessionId"), wire.get("sequence")) != (place.session_id, place.sequence):
        raise BundleFault("the record is of another place", line=place.line)
    return BundleRecord(session_id=place.session_id, sequence=place.sequence, record=record, digest=head.hex())
