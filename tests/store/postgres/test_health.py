"""Looking at a server's ledger as a whole: what is wrong is found and named, and nothing is changed."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import NoDatabase, SchemaOutdated, StoreUnavailable, UsageError
from ledger.store.backup import backup
from ledger.store.maintenance import check_server, current, is_server, locate, ready
from ledger.store.port import Append, CallFilter
from ledger.store.postgres.health import _INDEXES, _TABLES, INDEXES, _notes
from ledger.store.schema import HEAD
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add
from tests.helpers import postgres

MADE = (
    "CREATE OR REPLACE TRIGGER event_no_{} BEFORE {} ON event FOR EACH STATEMENT EXECUTE FUNCTION ledger_append_only()"
)
ALWAYS = "ALTER TABLE event ENABLE ALWAYS TRIGGER event_no_{}"
RESTORE = ";".join(
    line.format(verb, verb.upper()) for verb in ("update", "delete", "truncate") for line in (MADE, ALWAYS)
)


@pytest.fixture
def told(url: str) -> str:
    """A ledger of two sessions, one under an odd name."""
    store = open_store(url, create=True)
    story = Story()
    drafts = (story.propose("c1"), *story.run("c1"))
    store.append(Append(session_id="s1", drafts=drafts, calls=story.rows("c1")))
    add(store, "s2\ud800", "a", "b")
    store.close()
    return url


def harm(url: str, *statements: str) -> None:
    """Change the database as an administrator could, with the triggers away."""
    with postgres.connect(url) as connection, connection.transaction():
        connection.execute("ALTER TABLE event DISABLE TRIGGER USER")
        for statement in statements:
            connection.execute(statement)
        for verb in ("update", "delete", "truncate"):
            connection.execute(f"ALTER TABLE event ENABLE ALWAYS TRIGGER event_no_{verb}")


def test_a_sound_ledger_is_sound(own_url: str) -> None:
    """Settings, sizes and counts are told; a server that does not sync is a note, for the tests' own is one."""
    store = open_store(own_url, create=True)
    add(store, "s1", "a", "b")
    store.close()
    health = check_server(own_url)
    assert health.sound
    assert (health.revision, health.chains.sessions, health.chains.events) == (HEAD, 1, 2)
    assert health.synchronous_commit == "on"
    assert health.size > 0
    assert int(health.server_version.split(".")[0]) >= 13
    assert "postgresql://" in health.place
    assert all("crash" in note or "standby" in note for note in health.notes)


def test_settings_that_deserve_a_look_are_notes() -> None:
    """A server that does not sync, or that may be behind, is told; one as it should be is not."""
    assert list(_notes("on", "on", standby=False)) == []
    assert len(list(_notes("off", "off", standby=True))) == 3


@pytest.mark.parametrize(
    ("statement", "place", "why"),
    [
        ("UPDATE event SET record = 'x' WHERE event_id = 's1-e1'", ("s1", 1), "digest"),
        ("UPDATE event SET tool = 'other' WHERE event_id = 's1-e2'", ("s1", 2), "column tool"),
        ("DELETE FROM event WHERE event_id = 's1-e2'", ("s1", 2), "missing: 3 follows 1"),
        ("DELETE FROM event WHERE event_id = 's1-e5'", ("s1", 5), "head counts 5"),
        ("UPDATE session_head SET digest = 'x' WHERE session_id = 's1'", ("s1", 5), "other events"),
        ("DELETE FROM session_head WHERE session_id = 's1'", ("s1", 5), "no head"),
        ("DELETE FROM event WHERE session_id <> 's1'", ("s2\ud800", 1), "there is none"),
        ("UPDATE event SET position = DEFAULT WHERE event_id = 's1-e2'", ("s1", 3), "is not behind"),
        ("UPDATE session_head SET token = -1 WHERE session_id = 's1'", ("s1", 5), "its head was damaged"),
    ],
)
def test_the_first_bad_event_is_named(told: str, statement: str, place: tuple[str, int], why: str) -> None:
    """A changed, missing or cut event is found by session and sequence, with the reason."""
    harm(told, statement)
    health = check_server(told)
    (fault,) = health.chains.faults
    assert not health.sound
    assert (fault.session_id, fault.sequence) == place
    assert why in fault.why


def test_a_call_that_stands_elsewhere_is_a_difference(told: str) -> None:
    """Lists go by position: a wrong one hides the call, and it is written again."""
    store = open_store(told, create=False)
    rows = [placed.row for placed in store.calls(CallFilter(), limit=10)]
    assert list(store.rebuild(iter(rows), write=False)) == []
    harm(told, "UPDATE call SET position = 77")
    assert [call_id for call_id, *_ in store.rebuild(iter(rows), write=True)] == ["c1"]
    assert list(store.rebuild(iter(rows), write=False)) == []
    store.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("ALTER TABLE event DROP CONSTRAINT event_once", "the index event_once is missing"),
        ("DROP INDEX call_key; CREATE INDEX call_key ON call (tenant)", "the index call_key is not as it was made"),
    ],
)
def test_an_index_that_was_changed_is_told(own_url: str, statement: str, words: str) -> None:
    """Those of the ledger's tables are looked at: there, and unique where they were made so."""
    open_store(own_url, create=True).close()
    with postgres.connect(own_url) as connection:
        there: list[Any] = connection.execute(_INDEXES, (_TABLES,)).fetchall()
        assert dict(there) == INDEXES
        connection.execute(statement)
    assert check_server(own_url).unguarded == (words,)


def test_somebody_elses_trigger_is_a_note(own_url: str) -> None:
    """It may be wanted, so the ledger is sound; it may do anything, so it is told."""
    open_store(own_url, create=True).close()
    harm(own_url, "CREATE TRIGGER mine AFTER TRUNCATE ON call EXECUTE FUNCTION ledger_append_only()")
    health = check_server(own_url)
    assert health.sound
    assert "The trigger mine on call is not the ledger's: it may change what is recorded there." in health.notes


def test_calls_and_proposals_that_lack_each_other_are_found(told: str) -> None:
    """A row without a proposal and a proposal without a row are named."""
    harm(told, "UPDATE call SET call_id = 'c9'")
    orphans = check_server(told).orphans
    assert (orphans.row_ids, orphans.proposal_ids) == (("c9",), ("c1",))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DROP TRIGGER event_no_update ON event", "event_no_update is missing"),
        ("ALTER TABLE event DISABLE TRIGGER event_no_delete", "event_no_delete is not ENABLE ALWAYS"),
        (
            f"{MADE.format('truncate', 'INSERT')}; {ALWAYS.format('truncate')}",
            "event_no_truncate is not as it was made",
        ),
    ],
)
def test_a_guard_that_was_changed_is_told(url: str, statement: str, words: str) -> None:
    """The triggers that keep events are looked at: there, always on, and as they were made."""
    assert check_server(url).unguarded == ()
    with postgres.connect(url) as connection:
        connection.execute(statement)
        assert [words in each for each in check_server(url).unguarded] == [True]
        connection.execute(RESTORE)
    assert check_server(url).unguarded == ()


def test_a_probe_is_told_whether_work_can_begin(url: str, own_url: str, empty_url: str) -> None:
    """Ready is a ledger of this release that takes writes; nothing else is."""
    assert ready(url) == HEAD
    with pytest.raises(NoDatabase):
        ready(empty_url)
    with postgres.connect(own_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(SchemaOutdated):
        ready(own_url)


def test_a_server_has_no_file(url: str) -> None:
    """What is about files says so, and shows no password."""
    secret = url.replace("postgres:@", "postgres:secret@")
    assert is_server(url)
    assert not is_server("sqlite:///ledger.db")
    for ask in (locate, lambda where: backup(where, "copy.db")):
        with pytest.raises(UsageError) as refusal:
            ask(secret)
        assert "secret" not in str(refusal.value)
    assert str(current(url).path).startswith("postgresql://")


def test_a_server_that_takes_no_writes_is_not_ready(own_url: str) -> None:
    """Where every transaction is read-only, as on a standby, a probe hears it."""
    with postgres.connect(own_url) as connection:
        name = connection.info.dbname
        connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    with pytest.raises(StoreUnavailable, match="takes no writes"):
        ready(own_url)
