"""Rows and pages of sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ledger.calls import Call
from ledger.cli.layout import bullets, facts, heading
from ledger.cli.looks import place, tone_of
from ledger.cli.rows import Row
from ledger.cli.table import tail
from ledger.cli.text import Ink, Line
from ledger.cli.when import instant
from ledger.errors import owner_name
from ledger.events.fields import to_wire
from ledger.events.session_bodies import CloseReason
from ledger.history import History
from ledger.replay import session_at
from ledger.session.lease import is_alive
from ledger.session.ledger import Ledger
from ledger.store.port import Head, Reader, SessionRow

_PAGE: Final = 200


def session_rows(reader: Reader, *, after: str) -> Iterator[Row]:
    """Yield the sessions by id."""
    while page := reader.sessions(after=after, limit=_PAGE):
        yield from map(_row, page)
        after = page[-1].session_id


def _row(row: SessionRow) -> Row:
    state = "closed" if row.closed is not None else "waiting" if row.waiting else "open"
    return {
        "sessionId": row.session_id,
        "state": state,
        "closed": row.closed,
        "openedAt": row.opened_at,
        "lastAt": row.last_at,
        "events": row.sequence,
        "calls": row.calls,
        "open": row.open,
        "waiting": row.waiting,
        "owner": row.owner,
        "ownedUntil": row.owned_until or None,
    }


def session_story(reader: Reader, session_id: str) -> Row:
    """Return one session as it stands. Raises `UnknownSession`."""
    history, head = session_at(reader, session_id), reader.head(session_id)
    return {
        "sessionId": session_id,
        "state": "closed" if history.closed is not None else "open",
        "opened": history.opened and to_wire(history.opened),
        "closed": history.closed and to_wire(history.closed),
        "principal": history.principal,
        "tenant": history.tenant,
        "lastAt": history.last_at,
        "events": history.sequence,
        "turns": len(history.turns),
        "calls": dict(Counter(call.state for call in history.calls.values())),
        "openCalls": [_open(call) for call in history.open_calls()],
        "owner": _owner(head),
        "unreadable": [event.sequence for event in history.unreadable],
        "readOnly": history.read_only,
    }


def _open(call: Call) -> Row:
    return {
        "callId": call.call_id,
        "turn": call.turn,
        "index": call.index,
        "tool": call.tool,
        "state": call.state,
        "reason": call.reason,
        "waitingSince": call.waiting_since,
    }


def _owner(head: Head | None) -> Row | None:
    if head is None or head.owner is None:
        return None
    return {"name": head.owner, "alive": is_alive(head.owner), "until": head.expires_at or None}


def session_lines(story: Row) -> Iterator[Line]:
    """Yield the page of one session for people."""
    yield (Ink(f"Session {story['sessionId']}", "strong"), "  ", story["state"])
    opened, closed = story["opened"] or {}, story["closed"] or {}
    named: dict[str, object] = {
        "agent": opened.get("agent"),
        "model": opened.get("model"),
        "principal": story["principal"],
        "tenant": story["tenant"],
        "labels": opened.get("labels"),
        "parent": opened.get("parent"),
        "events": story["events"],
        "turns": story["turns"],
        "last event": f"{instant(story['lastAt'])} UTC",
        "closed": closed.get("reason"),
        "message": closed.get("message"),
        "owner": _told_owner(story["owner"]),
        "unreadable": ", ".join(map(str, story["unreadable"])) or None,
    }
    yield from facts({name: fact for name, fact in named.items() if fact is not None})
    if story["readOnly"]:
        yield Ink("It holds events of a newer release: here it can only be read.", "warn")
    if story["calls"]:
        yield from heading("Calls")
        yield from facts({state: Ink(str(count), tone_of(state)) for state, count in story["calls"].items()})
    if story["openCalls"]:
        yield from heading("Open")
        yield from bullets(_told_call(call) for call in story["openCalls"])


def _told_owner(owner: Row | None) -> str | None:
    if owner is None:
        return None
    alive = {True: "alive", False: "gone", None: "not to be seen from here"}[owner["alive"]]
    until = f", works on it until {instant(owner['until'])} UTC" if owner["until"] else ""
    return f"{owner_name(owner['name'])}, {alive}{until}"


def _told_call(call: Row) -> str:
    why = f" ({call['reason']})" if call["state"] == "needs-review" else ""
    return f"{tail(call['callId'])}, turn {place(call['turn'], call['index'])}: {call['tool']} is {call['state']}{why}"


def closed(
    ledger: Ledger, session_id: str, *, reason: CloseReason | None, message: str | None, wait: float
) -> tuple[Row, list[Line]]:
    """
    Close a session and return what to tell of it; `wait` seconds for another owner.

    Raises `UnknownSession`, `SessionOwned`.
    """
    before = session_at(ledger.reader, session_id)
    session = ledger.session(session_id, wait=wait)
    session.close(reason, message=message)
    return _closed(before, session.history)


def _closed(before: History, history: History) -> tuple[Row, list[Line]]:
    body = history.closed
    why = body.reason if body is not None else None
    waiting = [_open(call) for call in history.open_calls()]
    cancelled = [call_id for call_id in before.open_ids if history.calls[call_id].code == "cancelled"]
    row = {
        "sessionId": history.session_id,
        "reason": why,
        "already": before.closed is not None,
        "waiting": waiting,
        "cancelled": cancelled,
    }
    verb = "was closed already" if before.closed is not None else "is closed now"
    lines: list[Line] = [f"Session {history.session_id} {verb} ({why})."]
    lines += [f"Cancelled: {', '.join(map(tail, cancelled))}."] if cancelled else []
    lines += ["These wait for a person:", *bullets(map(_told_call, waiting))] if waiting else []
    return row, lines
