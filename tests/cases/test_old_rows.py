"""Reports of rows that an older release wrote, and that a newer one could not load."""

from __future__ import annotations

import dataclasses
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ledger.events import BODIES, chain
from ledger.events.fields import camel
from ledger.replay.reading import session_at
from ledger.strictjson import canonical, loads
from tests.cases.scenes import SESSION, Desk
from tests.cli.running import data, ledger
from tests.session.agents import answers, asked

LATER = {"actor", "schemaDigest", "onBehalfOf", "causationId"}
"""Keys of the envelope that a release may have come without."""


def bare(record: bytes) -> bytes:
    """Return a record as the barest release would have written it: what has a default is not there."""
    wire = loads(record)
    fields = dataclasses.fields(BODIES[wire["type"]])
    needed = {camel(each.name) for each in fields if each.default is each.default_factory is dataclasses.MISSING}
    body = {key: value for key, value in wire["body"].items() if key in needed}
    return canonical({key: value for key, value in wire.items() if key not in LATER} | {"body": body})


def rewritten(source: Path, target: Path, broken: int | None = None) -> None:
    """Copy a ledger's events into an empty one as the barest release wrote them; one of them is no JSON at all."""
    old, new = sqlite3.connect(source), sqlite3.connect(target)
    old.row_factory = sqlite3.Row
    digests: dict[str, bytes] = {}
    for found in old.execute("SELECT * FROM event ORDER BY position"):
        row = dict(found)
        del row["position"]
        name = row["session_id"]
        if name == SESSION:  # the tools' versions stand beside it, in a stream of their own
            row["record"] = b"\0" * 300 if row["sequence"] == broken else bare(row["record"])
        row["digest"] = digests[name] = chain(digests.get(name, b""), row["record"])
        put(new, "event", row)
    for head in old.execute("SELECT * FROM session_head"):
        put(new, "session_head", dict(head) | {"digest": digests[head["session_id"]]})
    for call in old.execute("SELECT * FROM call"):
        put(new, "call", dict(call))
    new.commit()
    old.close()
    new.close()


def put(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    """Insert a row as it is."""
    places = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", list(row.values()))


@pytest.fixture
def old(desk: Desk, empty: Path) -> Path:
    """Return a finished session of two turns, moved aside; the desk's ledger is empty again."""
    with desk.open() as host, host.session(SESSION, principal="ann", tenant="acme") as session:
        session.messages(start=[{"role": "user", "content": "Pay twice."}])
        session.dispatch(asked(("pay", {"amount": 1})))
        session.dispatch(asked(("pay", {"amount": 2})))
    path = shutil.copy(desk.folder / "ledger.db", desk.folder / "old.db")
    for each in desk.folder.glob("ledger.db*"):
        each.unlink()
    shutil.copy(empty, desk.folder)
    return Path(path)


def test_a_field_that_became_required_makes_a_session_unloadable(desk: Desk, old: Path) -> None:
    """Rows without any key that has a default load with the documented defaults; the session goes on."""
    # https://github.com/anomalyco/opencode/issues/29908
    rewritten(old, desk.folder / "ledger.db")
    one, two = session_at(desk.open().reader, SESSION).calls.values()
    assert (one.state, one.raw_arguments, one.arguments, one.result) == ("succeeded", None, None, None)
    assert (one.effect, one.recovery, one.reconciles, one.executor) == ("external", "review", False, "host")
    assert [row["callId"] for row in desk.open().calls(session=SESSION)] == [one.call_id, two.call_id]
    assert ledger("db", "check", "--rebuild").exit_code == 1  # what the barest release had not, the projection has
    assert ledger("db", "check").exit_code == 0
    session = desk.open().session(SESSION)
    told = session.messages()
    assert [answer["status"] for answer in answers(told)] == ["succeeded", "succeeded"]
    assert [answer["status"] for answer in answers(session.dispatch(asked(("pay", {"amount": 3}))).messages)] == [
        "succeeded"
    ]
    assert desk.paid == [1, 2, 3]


def test_one_row_that_cannot_be_read_hides_all_others(desk: Desk, old: Path) -> None:
    """It is shown with its place and as what it is; every other row is loaded, and its call is not vouched for."""
    # https://github.com/anomalyco/opencode/issues/29908
    source = sqlite3.connect(old)
    lost = source.execute("SELECT min(sequence) FROM event WHERE type = 'call.succeeded'").fetchone()[0]
    source.close()
    rewritten(old, desk.folder / "ledger.db", broken=lost)
    assert data("session", "show", SESSION)["unreadable"] == [lost]
    rows = data("audit", "events", "--session", SESSION)
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["sequence"] for row in rows if row["unreadable"]] == [lost]
    assert (rows[lost - 1]["type"], rows[lost - 1]["callId"]) == ("call.succeeded", rows[lost - 2]["callId"])
    _, two = session_at(desk.open().reader, SESSION).calls.values()
    assert two.state == "succeeded"
    messages = desk.open().session(SESSION).messages()
    assert [answer["status"] for answer in answers(messages)] == ["needs_review", "succeeded"]
    assert desk.paid == [1, 2]
