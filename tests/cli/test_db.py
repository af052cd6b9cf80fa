"""The noun `db`."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ledger.cli import checking
from ledger.events import CallSucceeded
from ledger.store import chains, maintenance
from ledger.store.maintenance import Health
from ledger.store.schema import HEAD
from tests.audit.odd import append, newer
from tests.audit.world import opened
from tests.cli.running import call_ids, data, failure, ledger

TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'event'"


def tampered(folder: Path, *statements: str) -> None:
    """Change the file as somebody might who can write it: the triggers that refuse it are taken away for a moment."""
    with closing(sqlite3.connect(folder / "ledger.db", isolation_level=None)) as connection:
        kept = connection.execute(TRIGGERS).fetchall()
        for name, _ in kept:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, again in kept:
            connection.execute(again)


def check(*options: str) -> int:
    return ledger("db", "check", *options).exit_code


def test_the_path_is_told_whether_it_is_there_or_not(world: Path) -> None:
    """`ledger db` prints the file's absolute path alone on stdout."""
    result = ledger("db")
    assert (result.stdout, result.stderr) == (f"{world}/ledger.db\n", "")
    found = data("db", "path")
    assert (found["url"], found["exists"], found["size"]) == (
        "sqlite:///ledger.db",
        True,
        (world / "ledger.db").stat().st_size,
    )
    missing = ledger("db", "path", "--db", "sqlite:///x.db")
    assert (missing.exit_code, missing.stdout) == (0, f"{world}/x.db\n")
    assert missing.stderr == "There is no ledger yet.\n"
    assert failure("db", "path", "--db", "memory://")[:2] == (2, "usage")


def test_the_tables_revision(world: Path) -> None:
    """Which tables there are, and which this release works on."""
    found = data("db", "current")
    assert (found["revision"], found["head"], found["state"]) == (HEAD, HEAD, "current")
    assert "They are those of this release." in ledger("db", "current").stdout
    tampered(world, "UPDATE alembic_version SET version_num = '9999'")
    assert data("db", "current")["state"] == "newer"
    tampered(world, "UPDATE alembic_version SET version_num = '0000'")
    assert "run `ledger db upgrade`" in ledger("db", "current").stdout


def test_an_upgrade_makes_the_ledger(empty: Path) -> None:
    """Where there is none a ledger is made; a second time nothing is done."""
    first = ledger("db", "upgrade")
    assert first.stdout == f"Made {empty}/ledger.db, revision {HEAD}.\n"
    assert ledger("db", "upgrade").stdout == f"{empty}/ledger.db is current: revision {HEAD}.\n"
    assert data("db", "upgrade") == {"path": f"{empty}/ledger.db", "before": HEAD, "after": HEAD}
    assert ledger("session").stderr == "No session is recorded.\n"


def test_an_upgrade_says_from_where(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade of older tables names both revisions."""
    upgraded = maintenance.Upgraded(empty / "ledger.db", "0000", HEAD)
    monkeypatch.setattr(maintenance, "upgrade", lambda url: upgraded)
    assert ledger("db", "upgrade").stdout == f"Upgraded {empty}/ledger.db from revision 0000 to {HEAD}.\n"


def test_a_sound_ledger(world: Path) -> None:
    """Everything was looked at and nothing is wrong: the status is 0."""
    result = ledger("db", "check")
    assert result.exit_code == 0
    for words in ("journal wal, synchronous full", "The file is whole, and so is every chain"):
        assert words in result.stdout
    found = data("db", "check")
    assert (found["sound"], found["brokenChains"], found["differences"], found["unreadable"]) == (True, 0, 0, 0)


def test_what_the_ledger_keeps_for_itself_is_no_session(world: Path) -> None:
    """The stream of published tools is named beside the sessions that people know, here and of a copy."""
    sessions = len(data("session"))
    for asked in (("check",), ("backup", "copy.db")):
        assert f"in {sessions} sessions and in _catalog, the ledger's own stream" in ledger("db", *asked).stdout
    for found in (data("db", "check"), data("db", "backup", "other.db")):
        assert (found["sessions"], found["ownStreams"]) == (sessions, ["_catalog"])


def test_a_new_ledger_has_nothing(empty: Path) -> None:
    """No event, and no stream of its own."""
    ledger("db", "upgrade")
    assert "0 events in 0 sessions\n" in ledger("db", "check").stdout


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET record = replace(CAST(record AS TEXT), 'All done', 'Not done') WHERE session_id = 'done'",
        "DELETE FROM event WHERE session_id = 'done' AND sequence = 5",
        "DELETE FROM event WHERE session_id = 'done' AND sequence = 11",
        "DELETE FROM event WHERE session_id = 'done'",
        "UPDATE event SET tool = 'other' WHERE session_id = 'done' AND sequence = 6",
        "UPDATE event SET digest = x'00' WHERE session_id = 'done' AND sequence = 7",
        "UPDATE event SET type = CAST(type AS BLOB) WHERE session_id = 'done' AND sequence = 6",
        "UPDATE event SET event_id = CAST(x'3031ff' AS TEXT) WHERE session_id = 'done' AND sequence = 6",
        "UPDATE event SET recorded_at = CAST(recorded_at AS BLOB) WHERE session_id = 'done' AND sequence = 6",
        "UPDATE event SET record = 7 WHERE session_id = 'done' AND sequence = 6",
        "UPDATE event SET position = position + 1000 WHERE session_id = 'done' AND sequence = 6",
        "UPDATE session_head SET token = -1 WHERE session_id = 'done'",
    ],
)
def test_tampering_is_an_integrity_failure(world: Path, statement: str) -> None:
    """An event that was edited, deleted or cut off is found: the status is 4, and --rebuild writes nothing."""
    tampered(world, statement)
    found = data("db", "check")
    assert ([each["sessionId"] for each in found["chainFaults"]], found["sound"]) == (["done"], False)
    result = ledger("db", "check", "--rebuild")
    assert result.exit_code == 4
    assert "What is recorded was damaged or changed.\n  - done, event " in result.stdout
    assert "written again" not in result.stdout


def test_events_that_are_gone_without_a_trace_are_told(world: Path) -> None:
    """A session of which no row is left has left a gap: positions have none otherwise."""
    tables = "event", "session_head", "call", "session_tag"
    tampered(world, *(f"DELETE FROM {table} WHERE session_id = 'done'" for table in tables))
    result = ledger("db", "check")
    assert result.exit_code == 4
    assert "events are gone, or their counter was set" in result.stdout


def test_an_index_that_misses_a_row_is_told(world: Path) -> None:
    """What an index does not hold is found by no list, and a host's key could be taken twice."""
    with closing(sqlite3.connect(world / "ledger.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        row = connection.execute("SELECT * FROM sqlite_master WHERE name = 'call_code'").fetchone()
        connection.execute("DELETE FROM sqlite_master WHERE name = 'call_code'")
    with closing(sqlite3.connect(world / "ledger.db", isolation_level=None)) as connection:
        connection.execute("UPDATE call SET code = 'odd' WHERE state = 'rejected'")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    result = ledger("db", "check")
    assert result.exit_code == 4
    assert "call_code" in result.stdout


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE call SET state = CAST(state AS BLOB) WHERE state = 'needs-review'", "how a value is stored"),
        ("UPDATE call SET call_id = CAST(call_id AS BLOB) WHERE state = 'needs-review'", "has no row"),
        ("UPDATE call SET position = 0", "its position, or"),
        ("UPDATE session_tag SET value = CAST(value AS BLOB)", "session_tag: "),
    ],
)
def test_rows_that_no_query_finds_are_told_and_written_again(world: Path, statement: str, what: str) -> None:
    """A value that only reads alike, and a call that stands elsewhere, are differences."""
    tampered(world, statement)
    told = ledger("db", "check")
    assert (told.exit_code, what in told.stdout) == (1, True)
    assert check("--rebuild") == 1
    assert check() == 0


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DROP INDEX call_open", "the index call_open is missing"),
        ("DROP INDEX call_key; CREATE INDEX call_key ON call (tenant)", "the index call_key is not as it was made"),
    ],
)
def test_a_lost_index_is_told(world: Path, statement: str, what: str) -> None:
    """Lists use it, and a key may be taken twice without it."""
    tampered(world, *statement.split(";"))
    told = ledger("db", "check")
    assert (told.exit_code, what in told.stdout) == (1, True)


def test_somebody_elses_trigger_is_a_note(world: Path) -> None:
    """It may be wanted, so the ledger is sound; it may do anything, so it is told."""
    tampered(world, "CREATE TRIGGER mine AFTER INSERT ON call BEGIN SELECT 1; END")
    told = ledger("db", "check")
    assert (told.exit_code, "The trigger mine on call is not the ledger's" in told.stdout) == (0, True)


def test_a_fault_of_a_sound_ledgers_check_is_raised(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only beside damaged events is an error no news."""

    def broken(*_: object, **__: object) -> None:
        raise TypeError("odd")

    monkeypatch.setattr(checking, "Folded", broken)
    status, code = failure("db", "check")[:2]
    assert (status, code) == (1, "unexpected")


def test_many_broken_sessions_are_counted(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of them are named, the others counted."""
    monkeypatch.setattr(chains, "MOST_SHOWN", 1)
    tampered(world, "UPDATE event SET digest = x'00' WHERE sequence = 2")
    result = ledger("db", "check")
    assert result.exit_code == 4
    assert "  and 3 sessions more\n" in result.stdout


def test_a_damaged_file_is_an_integrity_failure(world: Path) -> None:
    """A file with a destroyed page is no usage error: whichever command meets it, the status is 4."""
    path = world / "ledger.db"
    content = bytearray(path.read_bytes())
    content[4096 : len(content) // 4096 * 4096] = b"\xff" * (len(content) // 4096 * 4096 - 4096)
    path.write_bytes(content)
    assert check() == 4
    assert failure("audit", "events")[:2] == (4, "integrity")


def test_a_wrong_table_of_calls_is_found_and_repaired(world: Path) -> None:
    """Rows that differ from the events are named; --rebuild writes them again, and says so by its status as well."""
    ids = call_ids()
    tampered(
        world,
        f"UPDATE call SET state = 'started', attempt = 7 WHERE call_id = '{ids['done 1.0']}'",
        f"DELETE FROM call WHERE call_id = '{ids['mix 1.0']}'",
        f"UPDATE call SET call_id = 'invented', turn = 99 WHERE call_id = '{ids['mix 1.1']}'",
    )
    found = data("db", "check")
    assert (found["sound"], found["differences"], found["rebuilt"]) == (False, 4, False)
    assert {each["callId"]: each["what"] for each in found["differing"]} == {
        ids["done 1.0"]: "differs in state, attempt",
        ids["mix 1.0"]: "has no row",
        ids["mix 1.1"]: "has no row",
        "invented": "has a row without events",
    }
    shown = ledger("db", "check")
    assert shown.exit_code == 1
    assert "The table of calls differs from the events: 4 rows" in shown.stdout
    assert "`ledger db check --rebuild` writes them again." in shown.stdout
    repaired = ledger("db", "check", "--rebuild")
    assert repaired.exit_code == 1
    assert "The table of calls was written again from the events: 4 rows" in repaired.stdout
    assert check("--rebuild") == check() == 0
    assert call_ids() == ids


def test_events_that_cannot_be_read_are_told(world: Path) -> None:
    """Those of a newer release are no finding; those that do not follow their call's state are."""
    ids = call_ids()
    with opened(world) as host:
        newer(host, host.find(ids["crash 1.0"]))
    result = ledger("db", "check")
    assert result.exit_code == 0
    assert "crash, event 15: a newer release wrote this event" in result.stdout
    with opened(world) as host:
        append(host, host.find(ids["done 1.0"]), CallSucceeded(result="twice"))
    assert check() == 1
    assert data("db", "check")["notFollowing"] == 1


def remarking(monkeypatch: pytest.MonkeyPatch, *notes: str, clock_back: int) -> None:
    """Let the health have these things to remark, whatever this machine's SQLite is."""
    right = maintenance.check

    def remarked(url: str) -> Health:
        health = right(url)
        return replace(health, notes=notes, chains=replace(health.chains, clock_back=clock_back))

    monkeypatch.setattr(checking, "check", remarked)


def test_what_deserves_a_look_is_no_finding(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that went back and other notes leave the status at 0; without any there is no such part."""
    remarking(monkeypatch, "Mind the gap.", clock_back=2)
    result = ledger("db", "check")
    assert result.exit_code == 0
    assert result.stdout.endswith(
        "Notes\n  - Mind the gap.\n  - The clock went back 2 times; order is by sequence, so nothing is wrong.\n"
    )
    remarking(monkeypatch, clock_back=0)
    assert "Notes" not in ledger("db", "check").stdout


@pytest.mark.parametrize("verb", [["current"], ["check"], ["check", "--rebuild"]])
def test_without_a_ledger_nothing_is_made(empty: Path, verb: list[str]) -> None:
    """Only `db upgrade` makes a ledger."""
    assert failure("db", *verb)[:2] == (1, "no_database")
    assert list(empty.iterdir()) == []


def test_a_database_that_lets_events_be_changed_is_told(world: Path) -> None:
    """Without its triggers nothing is wrong with what is recorded, and something with the file: the status is 1."""
    with closing(sqlite3.connect(world / "ledger.db", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER event_no_update")
    result = ledger("db", "check")
    assert result.exit_code == 1
    assert "every chain of digests" in result.stdout
    assert "may not keep events from being changed\n  - the trigger event_no_update is missing\n" in result.stdout
    found = data("db", "check")
    assert (found["unguarded"], found["sound"]) == (["the trigger event_no_update is missing"], False)
