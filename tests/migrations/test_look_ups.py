"""Revision 0002 fills what audits look up from the events that are there, however odd they are."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config

from ledger.audit.projection import Folded
from ledger.events import CallAuthorized, CallStarted, CallValidated, SessionOpened
from ledger.store.migrate import engine
from ledger.store.port import Append, CallFilter, EventFilter
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.lock import SideLock
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, note
from tests.audit.world import everything

KEPT = ("event", "session_head", "call", "tool_version")
"""Tables that revision 0001 has too."""


def odd(path: Path, notes: int = 2100) -> None:
    """Record labels, resources and actors that UTF-8 cannot hold, and more events than a span takes."""
    store = open_store(f"sqlite:///{path}", create=False)
    story = Story("odd\udce9", tenant="t\udce9", principal="")
    labels = {"a\udce9": "\x00", "n": {"b": 1, "a": None}}
    drafts = [story.event(SessionOpened(labels=labels), actor='per"son",\udce9'), story.propose("odd-call")]
    drafts.append(story.of_call("odd-call", CallValidated(gates=(), validator="v", arguments_digest="d")))
    drafts.append(story.of_call("odd-call", CallAuthorized(by="policy", arguments_digest="d")))
    start = CallStarted(idempotency_key="k", worker="w", token=1, resource_keys=("repo:\udce9", "b"))
    drafts.append(story.of_call("odd-call", start, attempt=1))
    drafts += [story.event(note("x")) for _ in range(notes)]
    store.append(Append(session_id=story.session_id, drafts=tuple(drafts), calls=story.rows("odd-call")))
    store.close()


def first_tables(path: Path) -> sqlite3.Connection:
    """Make a ledger with the tables of revision 0001, and open it."""
    config, files = Config(), Files(path)
    config.set_main_option("script_location", "ledger:migrations")
    with SideLock(files.lock).held(60), engine(lambda: files.writer("rwc")) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    return sqlite3.connect(path, isolation_level=None)


def carried_back(new: Path, old: Path) -> None:
    """Write a ledger of today as revision 0001 has it, and an event whose record is none."""
    connection = first_tables(old)
    connection.execute("ATTACH ? AS new", (str(new),))
    for table in KEPT:
        there = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
        columns = ", ".join(name for name in there if (table, name) != ("event", "position"))
        order = "position" if table == "event" else "rowid"
        connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table} ORDER BY {order}")
    connection.execute(
        "INSERT INTO event (session_id, sequence, event_id, type, format, tenant, recorded_at, record, digest)"
        " VALUES ('torn', 1, 'e', 'session.opened', 1, 't', '2026', x'ff', x'')"
    )
    connection.close()


@pytest.fixture
def upgraded(tmp_path: Path) -> Path:
    """A ledger with calls of every kind and odd texts, upgraded from the first revision."""
    everything(tmp_path)
    odd(tmp_path / "ledger.db")
    carried_back(tmp_path / "ledger.db", tmp_path / "old.db")
    open_store(f"sqlite:///{tmp_path}/old.db", create=False, migrate="auto").close()
    return tmp_path / "old.db"


def test_an_older_ledger_answers_as_a_new_one(upgraded: Path) -> None:
    """Tags, resources, spans and what a model could repair are filled in as appends would have made them."""
    store = open_store(f"sqlite:///{upgraded}", create=False)
    new = open_store(f"sqlite:///{upgraded.parent}/ledger.db", create=False)
    assert list(store.reindex(write=False)) == []
    assert list(store.rebuild(Folded(store).rows(), write=False)) == []
    calls = store.calls(CallFilter(), limit=99)
    assert calls == new.calls(CallFilter(), limit=99)
    assert {row.model_can_repair for _, row in calls} == {0, 1}
    assert [row.call_id for _, row in store.calls(CallFilter(resource="repo:\udce9"), limit=9)] == ["odd-call"]
    asked = (
        *(EventFilter(tenant="acme"), EventFilter(actor="model"), EventFilter(actor='per"son",\udce9')),
        *(EventFilter(principal="bob"), EventFilter(labels=(("a\udce9", "\x00"), ("n", '{"a":null,"b":1}')))),
    )
    for where in asked:
        found = [event.event_id for event in store.events(where, limit=9999)]
        assert found == [event.event_id for event in new.events(where, limit=9999)]
        assert found, where
    store.close()
    new.close()
