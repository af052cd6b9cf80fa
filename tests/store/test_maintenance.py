"""`db path | upgrade | current | check`: what a person learns of a ledger as a whole."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ledger.errors import IntegrityFailure, NoDatabase, SchemaOutdated, UsageError
from ledger.events import CallProposed, Draft
from ledger.store.maintenance import check, current, locate, place, ready, upgrade
from ledger.store.port import Append
from ledger.store.schema import HEAD
from ledger.store.sqlite.inspect import GUARDS
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add, note


@dataclass(frozen=True)
class Ledger:
    """A closed ledger of two sessions, and how to change it behind its back."""

    path: Path

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}"

    def harm(self, *statements: str) -> None:
        """Change the file as an administrator could: without the triggers."""
        connection = sqlite3.connect(self.path, isolation_level=None)
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, statement in triggers:
            connection.execute(statement)
        connection.close()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    path = tmp_path / "ledger.db"
    store = open_store(str(path), create=True)
    story = Story()
    drafts = (story.event(note("hello")), story.propose("c1"), *story.run("c1"))
    store.append(Append(session_id="s1", drafts=drafts, calls=story.rows("c1")))
    add(store, "s2\ud800", "a", "b", "c")
    store.close()
    return Ledger(path)


def test_a_sound_ledger_is_said_to_be(ledger: Ledger) -> None:
    """A check counts what is there, and shows version, settings and permissions."""
    health = check(ledger.url)
    assert health.sound
    assert (health.chains.sessions, health.chains.events, health.chains.bad) == (2, 9, 0)
    assert (health.path, health.revision) == (ledger.path, HEAD)
    assert (health.journal_mode, health.synchronous, health.mode) == ("wal", "full", "0600")
    assert health.sqlite_version == sqlite3.sqlite_version
    assert health.size == ledger.path.stat().st_size
    assert (health.damage, health.chains.faults, health.chains.clock_back) == ((), (), 0)
    assert [note for note in health.notes if "WAL-reset" not in note] == []


@pytest.mark.parametrize(
    ("version", "buggy"),
    [((3, 6, 23), False), ((3, 7, 0), True), ((3, 40, 1), True), ((3, 51, 2), True), ((3, 51, 3), False)],
)
def test_the_wal_reset_bug_is_told(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int], buggy: bool
) -> None:
    """SQLite 3.7.0 to 3.51.2 have the bug: a note says what not to do."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    health = check(ledger.url)
    assert health.wal_reset_bug == buggy
    assert any("WAL-reset bug" in note for note in health.notes) == buggy
    assert health.sound


def test_settings_that_deserve_a_look_are_noted(ledger: Ledger) -> None:
    """Permissions for others and another journal mode are told; they are no integrity failure."""
    connection = sqlite3.connect(ledger.path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    ledger.path.chmod(0o644)
    Path(f"{ledger.path}.lock").chmod(0o666)
    health = check(ledger.url)
    assert health.sound
    assert (health.journal_mode, health.mode) == ("delete", "0644")
    assert [note for note in health.notes if "chmod 600" in note] == [
        f"Others may read or write {ledger.path} (0644); `chmod 600` it.",
        f"Others may read or write {ledger.path}.lock (0666); `chmod 600` it.",
    ]
    assert any("journal mode is delete" in note for note in health.notes)


@pytest.mark.parametrize("name", sorted(GUARDS))
def test_triggers_that_were_taken_away_are_found(ledger: Ledger, name: str) -> None:
    """A trigger that is missing, or that does something else, is a finding though every digest fits."""
    connection = sqlite3.connect(ledger.path, isolation_level=None)
    (text,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    connection.execute(f"DROP TRIGGER {name}")
    health = check(ledger.url)
    assert (health.unguarded, health.sound, health.chains.bad) == ((f"the trigger {name} is missing",), False, 0)
    connection.execute(text.replace("ABORT", "FAIL"))
    assert check(ledger.url).unguarded == (f"the trigger {name} is not as it was made",)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")  # a newer release may have made it anew
    assert check(ledger.url).unguarded == ()
    connection.execute("UPDATE alembic_version SET version_num = ?", (HEAD,))
    connection.execute(f"DROP TRIGGER {name}")
    connection.execute(" ".join(text.split()))
    connection.close()
    assert check(ledger.url).sound


def test_a_file_is_ready_where_its_tables_fit(ledger: Ledger) -> None:
    """A probe hears the revision, or why work cannot begin."""
    assert ready(ledger.url) == HEAD
    ledger.harm("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(SchemaOutdated):
        ready(ledger.url)


def test_a_check_leaves_no_trace(ledger: Ledger) -> None:
    """Checking changes neither the file nor the folder."""
    before = {file.name: file.read_bytes() for file in ledger.path.parent.iterdir()}
    check(ledger.url)
    current(ledger.url)
    after = {file.name: file.read_bytes() for file in ledger.path.parent.iterdir()}
    assert after.keys() == before.keys()
    assert after[ledger.path.name] == before[ledger.path.name]


@pytest.mark.parametrize(
    ("statement", "place", "why"),
    [
        (
            "UPDATE event SET record = CAST(replace(record, 'hello', 'HELLO') AS BLOB) WHERE event_id = 's1-e1'",
            ("s1", 1, 1),
            "digest",
        ),
        ("UPDATE event SET record = CAST(record AS TEXT) WHERE event_id = 's1-e1'", ("s1", 1, 1), "another type"),
        ("UPDATE event SET recorded_at = x'00' WHERE event_id = 's1-e2'", ("s1", 2, 2), "another type"),
        ("UPDATE session_head SET sequence = 'x' WHERE session_id = 's1'", ("s1", 6, None), "other events"),
        ("UPDATE event SET digest = x'00' WHERE event_id = 's1-e3'", ("s1", 3, 3), "digest"),
        ("DELETE FROM event WHERE event_id = 's1-e2'", ("s1", 2, None), "missing: 3 follows 1"),
        ("DELETE FROM event WHERE session_id = 's1' AND sequence > 4", ("s1", 5, None), "head counts 6"),
        ("UPDATE event SET type = 'call.noted' WHERE event_id = 's1-e2'", ("s1", 2, 2), "column type"),
        ("UPDATE event SET tenant = 'other' WHERE event_id = 's1-e4'", ("s1", 4, 4), "column tenant"),
        ("UPDATE event SET recorded_at = 'x' WHERE event_id = 's1-e6'", ("s1", 6, 6), "column recorded_at"),
        ("UPDATE session_head SET digest = x'00' WHERE session_id = 's1'", ("s1", 6, None), "other events"),
        ("DELETE FROM session_head WHERE session_id = 's1'", ("s1", 6, None), "no head"),
        ("DELETE FROM event WHERE session_id = 's1'", ("s1", 1, None), "there is none"),
    ],
)
def test_the_first_bad_event_is_named(
    ledger: Ledger, statement: str, place: tuple[str, int, int | None], why: str
) -> None:
    """A changed, missing or cut event is found by session, sequence and position, with the reason."""
    ledger.harm(statement)
    health = check(ledger.url)
    assert not health.sound
    assert health.chains.bad == 1
    (fault,) = health.chains.faults
    assert (fault.session_id, fault.sequence, fault.position) == place
    assert why in fault.why


def test_only_the_first_of_a_session_is_named(ledger: Ledger) -> None:
    """What follows a bad event does not fit it either: it is not reported again."""
    ledger.harm(
        "UPDATE event SET digest = x'00' WHERE session_id = 's1' AND sequence IN (2, 4)", "DELETE FROM session_head"
    )
    health = check(ledger.url)
    assert [(fault.session_id, fault.sequence) for fault in health.chains.faults] == [("s1", 2), ("s2\ud800", 3)]
    assert health.chains.bad == 2


def test_a_record_that_is_none_is_named(ledger: Ledger) -> None:
    """A record of which nothing can be read, under a digest that fits, is a fault of that event."""
    from ledger.events.wire import chain

    for record in (b"no record", b"[]"):
        digest = chain(b"", record).hex()
        ledger.harm(
            f"UPDATE event SET record = x'{record.hex()}', digest = x'{digest}' WHERE event_id = 's1-e1'",
        )
        (fault,) = check(ledger.url).chains.faults
        assert (fault.sequence, fault.why) == (1, "the column record differs from the record")


@pytest.mark.parametrize("column", ["event_id", "recorded_at", "type", "tenant", "call_id"])
def test_a_text_that_is_none_any_more_is_named(ledger: Ledger, column: str) -> None:
    """A bit that makes a column invalid UTF-8 is the fault of its event, and of no other one."""
    ledger.harm(f"UPDATE event SET {column} = CAST(X'61FF' AS TEXT) WHERE session_id = 's1' AND sequence = 2")
    (fault,) = check(ledger.url).chains.faults
    assert (fault.session_id, fault.sequence, fault.why) == ("s1", 2, f"the column {column} differs from the record")


def test_a_schema_that_is_no_text_any_more_is_told(ledger: Ledger) -> None:
    """SQLite's complaint quotes a name that is no UTF-8; it is an integrity failure all the same, read or opened."""
    connection = sqlite3.connect(ledger.path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET name = CAST(X'65FF' AS TEXT), tbl_name = CAST(X'65FF' AS TEXT), sql = 'CREATE TABL'"
        " WHERE name = 'event_span'"
    )
    connection.close()
    for ask in (check, upgrade, ready):
        with pytest.raises(IntegrityFailure, match="a name in its schema is no text any more"):
            ask(ledger.url)


def test_a_name_in_the_schema_that_is_no_text_is_shown_escaped(ledger: Ledger) -> None:
    """SQLite reads such a schema, as long as it parses: the check tells what is missing, and everything else."""
    connection = sqlite3.connect(ledger.path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    (text,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'event_span'").fetchone()
    connection.execute(
        "UPDATE sqlite_master SET name = CAST(?1 AS TEXT), tbl_name = CAST(?1 AS TEXT), sql = CAST(?2 AS TEXT)"
        " WHERE name = 'event_span'",
        (b"e\xff", text.encode().replace(b"event_span", b"e\xff")),
    )
    connection.close()
    health = check(ledger.url)
    assert "the table event_span is missing" in health.unguarded
    assert health.chains.events == 9


def test_many_faults_are_counted_and_some_are_named(tmp_path: Path) -> None:
    """A wholly damaged ledger does not fill the screen."""
    ledger = Ledger(tmp_path / "many.db")
    store = open_store(ledger.url, create=True)
    for number in range(25):
        add(store, f"s{number:02}", "a")
    store.close()
    ledger.harm("UPDATE event SET digest = x'00'")
    health = check(ledger.url)
    assert (health.chains.bad, len(health.chains.faults)) == (25, 20)
    assert health.chains.faults[0].session_id == "s00"


def test_a_clock_that_went_back_is_counted(tmp_path: Path) -> None:
    """Order is by sequence: a clock set back is told, and is no fault."""
    store = open_store(str(tmp_path / "ledger.db"), create=True)
    story = Story()
    for at in ("2026-01-02T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z", "2026-01-03T00:00:00.000000Z"):
        story.at = at
        store.append(Append(session_id="s1", drafts=(story.event(note(at)),)))
    store.close()
    health = check(str(tmp_path / "ledger.db"))
    assert (health.chains.clock_back, health.sound) == (1, True)


def orphan_row(ledger: Ledger) -> None:
    ledger.harm("UPDATE call SET call_id = 'c9'")


def orphan_proposal(ledger: Ledger) -> None:
    ledger.harm("DELETE FROM call")


@pytest.mark.parametrize(
    ("harm", "rows", "proposals"), [(orphan_row, ("c9",), ("c1",)), (orphan_proposal, (), ("c1",))]
)
def test_calls_and_proposals_that_lack_each_other_are_found(
    ledger: Ledger, harm: Callable[[Ledger], None], rows: tuple[str, ...], proposals: tuple[str, ...]
) -> None:
    """A row without a proposal and a proposal without a row are counted and named."""
    harm(ledger)
    orphans = check(ledger.url).orphans
    assert (orphans.row_ids, orphans.proposal_ids) == (rows, proposals)
    assert (orphans.rows, orphans.proposals) == (len(rows), len(proposals))
    assert not check(ledger.url).sound


def test_a_damaged_page_is_found(ledger: Ledger) -> None:
    """SQLite's own check of the file is part of it."""
    connection = sqlite3.connect(ledger.path)
    page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'event_tool'").fetchone()[0]
    connection.close()
    content = bytearray(ledger.path.read_bytes())
    content[(page - 1) * 4096 + 3 : (page - 1) * 4096 + 5] = b"\x00\x00"  # an index that claims to hold nothing
    ledger.path.write_bytes(content)
    health = check(ledger.url)
    assert health.damage
    assert not health.sound


def test_proposals_of_no_call_are_nobodys_orphans(tmp_path: Path) -> None:
    """An event that names no call needs no row."""
    store = open_store(str(tmp_path / "ledger.db"), create=True)
    draft: Draft = Story().event(CallProposed())
    store.append(Append(session_id="s1", drafts=(draft,)))
    store.close()
    assert check(str(tmp_path / "ledger.db")).sound


def test_a_path_needs_no_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`locate` says where a ledger is or would be."""
    monkeypatch.chdir(tmp_path)
    assert locate("sqlite:///ledger.db") == Path(os.path.realpath(tmp_path)) / "ledger.db"
    assert not (tmp_path / "ledger.db").exists()


def test_an_upgrade_makes_a_ledger_once(tmp_path: Path) -> None:
    """`upgrade` makes the tables, says from where to where, and is done the second time."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    first, second = upgrade(url), upgrade(url)
    assert (first.before, first.after) == (None, HEAD)
    assert (second.before, second.after) == (HEAD, HEAD)
    tables = current(url)
    assert (tables.revision, tables.head, tables.state) == (HEAD, HEAD, "current")


@pytest.mark.parametrize(("revision", "state"), [("0000", "older"), ("9999", "newer")])
def test_other_tables_are_told(ledger: Ledger, revision: str, state: str) -> None:
    """`current` compares the tables with this release."""
    ledger.harm(f"UPDATE alembic_version SET version_num = '{revision}'")
    tables = current(ledger.url)
    assert (tables.revision, tables.state) == (revision, state)


@pytest.mark.parametrize("ask", [check, current])
def test_where_there_is_no_ledger_there_is_nothing_to_tell(tmp_path: Path, ask: Callable[[str], object]) -> None:
    """A missing or empty file is no ledger, and none is made."""
    with pytest.raises(NoDatabase):
        ask(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "empty.db").touch()
    with pytest.raises(NoDatabase):
        ask(str(tmp_path / "empty.db"))


def test_two_urls_of_one_ledger_name_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is its absolute path, a server its URL in one form, whether the password is there, masked or left out."""
    monkeypatch.chdir(tmp_path)
    assert place("sqlite:///ledger.db") == place(f"sqlite:///{tmp_path}/./ledger.db") == str(locate("ledger.db"))
    urls = ("postgresql://me:a%40b@host/db", "postgres://me:***@host/db", "postgresql+psycopg://me@host/db")
    asked = ("postgresql://me@host/db?password=ab", "postgresql://me@host/db?password=***&sslpassword=c")
    assert {place(url) for url in (*urls, *asked)} == {"postgresql://me@host/db"}
    assert place("memory://") == "memory://"


@pytest.mark.parametrize("ask", [check, current, locate, upgrade])
def test_a_ledger_in_memory_has_no_file(ask: Callable[[str], object]) -> None:
    """memory:// is refused."""
    with pytest.raises(UsageError, match="no file"):
        ask("memory://")
