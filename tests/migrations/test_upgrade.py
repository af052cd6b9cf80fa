"""The tables' history: it leads to the declared tables, wherever it was interrupted, however many start at once."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, event

from ledger.store.maintenance import check, current
from ledger.store.migrate import upgrade
from ledger.store.schema import EPOCH, HEAD
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.lock import SideLock
from ledger.store.sqlite.making import dump
from ledger.store.tables import Table
from ledger.store.urls import open_store
from ledger.testing.contract.building import add
from tests.store.children import ROOT, run, start

EVERY = int(os.environ.get("LEDGER_TEST_EVERY", "5"))
"""Every which statement an upgrade is killed at; the long run takes each."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def schema(path: Path) -> dict[str, str]:
    """Return every table, index and trigger with its words, white space apart."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT type || ' ' || name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    connection.close()
    return {name: re.sub(r"\s+", " ", words).replace("( ", "(").replace(" )", ")") for name, words in rows}


def revisions(path: Path) -> list[str]:
    """Return what the table of the revision says: one row, however many began."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    connection.close()
    return [name for (name,) in rows]


def declared(path: Path) -> dict[str, str]:
    """Return the same for a database made from the declarations."""
    engine = create_engine(f"sqlite:///{path}")
    Table.metadata.create_all(engine)
    engine.dispose()
    return schema(path)


def migrated(path: Path) -> None:
    """Make the tables as the migrations do, one after the other."""
    files = Files(path)
    with SideLock(files.lock).held(60):
        files.writer("rwc").close()
        upgrade(files.writer)


def test_a_new_file_is_what_all_migrations_lead_to(path: Path, tmp_path: Path) -> None:
    """It is made in one step: the same tables, indexes, triggers, marks and revision, and `make docs` wrote it so."""
    open_store(str(path), create=True).close()
    other = tmp_path / "migrated.db"
    migrated(other)
    assert schema(path) == schema(other)
    assert revisions(path) == revisions(other) == [HEAD]
    for pragma in ("application_id", "user_version"):
        found = [sqlite3.connect(each).execute(f"PRAGMA {pragma}").fetchone() for each in (path, other)]
        assert found[0] == found[1] != (0,)
    connection = sqlite3.connect(other)
    assert dump(connection) == Path(ROOT, "ledger/store/sqlite/tables.sql").read_text(encoding="utf-8")
    connection.close()


def test_history_leads_to_the_declared_tables(path: Path, tmp_path: Path) -> None:
    """Every table and index that the migrations make is the declared one, to the word; the triggers come on top."""
    migrated(path)
    made = {name: words for name, words in schema(path).items() if not name.endswith(" alembic_version")}
    triggers = {name for name in made if name.startswith("trigger ")}
    assert triggers == {"trigger event_append", "trigger event_no_update", "trigger event_no_delete"}
    assert {name: words for name, words in made.items() if name not in triggers} == declared(tmp_path / "declared.db")


def test_alembic_sees_no_difference(path: Path) -> None:
    """Alembic's own comparison has nothing to add."""
    open_store(str(path), create=True).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []
    engine.dispose()


def test_the_newest_revision_is_the_one_this_release_knows() -> None:
    """`HEAD` is told without loading Alembic; revisions are four digits that grow, in one line."""
    config = Config()
    config.set_main_option("script_location", "ledger:migrations")
    script = ScriptDirectory.from_config(config)
    assert script.get_heads() == [HEAD]
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)
    assert all(re.fullmatch(r"\d{4}", revision) for revision in revisions)


def test_a_file_says_what_it_is(path: Path) -> None:
    """The database carries the ledger's mark and epoch."""
    open_store(str(path), create=True).close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone()[0].to_bytes(4, "big") == b"ledg"
    assert connection.execute("PRAGMA user_version").fetchone() == (EPOCH,)
    connection.close()


def upgraded_up_to(path: Path, last: int) -> int:
    """Make a ledger in a child that dies by SIGKILL right before statement or commit number `last`; how it ended."""
    pid = os.fork()
    if pid == 0:
        numbers = count()

        def step(*_: object) -> None:
            if next(numbers) == last:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", step)
        event.listen(Engine, "commit", step)
        if path.exists():
            open_store(str(path), create=True).close()
        else:
            migrated(path)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_killed_upgrade_reaches_its_end_the_next_time(tmp_path: Path) -> None:
    """SIGKILL before each statement and each commit: the next start finds nothing half done."""
    # https://github.com/dgahagan/shelf/issues/24 ("duplicate column name" at each start, for ever)
    whole = tmp_path / "whole.db"
    open_store(str(whole), create=True).close()
    for last in count(0, EVERY):
        path = tmp_path / f"killed{last}.db"
        if upgraded_up_to(path, last) == 0:
            break
        store = open_store(str(path), create=True)
        assert add(store, "s1", "a").sequences == (1,)
        store.close()
        assert current(str(path)).state == "current"
        assert schema(path) == schema(whole)
    assert last > len(schema(whole))


def test_four_processes_start_at_once(path: Path) -> None:
    """Four processes open a new ledger at once: all work, one made the tables."""
    # https://github.com/vectorize-io/hindsight/pull/521 (both made them), and for threads
    # https://github.com/miguelgrinberg/Flask-Migrate/issues/311 (Alembic's globals are one process's)
    processes = [start("open_once", path) for _ in range(4)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    health = check(str(path))
    assert (health.sound, health.chains.sessions) == (True, 4)
    assert revisions(path) == [HEAD]


def test_four_threads_start_at_once(path: Path) -> None:
    """Four threads of one process open a new ledger at once: Alembic's globals are not mixed up."""
    run("open_four_times", path)
    health = check(str(path))
    assert (health.sound, health.chains.sessions) == (True, 4)
    assert revisions(path) == [HEAD]


def test_threads_open_ledgers_of_their_own_at_once(tmp_path: Path) -> None:
    """Nor are they mixed up between four different ledgers, each behind a lock of its own."""
    paths = [tmp_path / f"ledger{number}.db" for number in range(4)]
    run("open_four_times", *paths)
    assert [check(str(path)).chains.sessions for path in paths] == [1] * 4


def test_the_alembic_command_works_too(path: Path) -> None:
    """A developer's `alembic upgrade head` takes the URL of its ini file, and gets the same tables."""
    ini = path.with_name("alembic.ini")
    ini.write_text(f"[alembic]\nscript_location = ledger:migrations\nsqlalchemy.url = sqlite:///{path}\n")
    command = [sys.executable, "-m", "alembic", "-c", str(ini), "upgrade", "head"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    store = open_store(str(path), create=False, migrate="check")
    assert add(store, "s1", "a").sequences == (1,)
    store.close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_ini_file_of_the_repository_is_complete() -> None:
    """Its URL and its folder are what the environment reads."""
    config = Config(str(ROOT / "alembic.ini"))
    assert config.get_main_option("script_location") == "ledger:migrations"
    assert (config.get_main_option("sqlalchemy.url") or "").startswith("sqlite:///")


def test_a_database_that_fails_in_an_upgrade_is_told_as_what_it_is(path: Path) -> None:
    """The driver's own error comes through Alembic and SQLAlchemy."""

    def broken() -> sqlite3.Connection:
        raise sqlite3.OperationalError("disk I/O error")

    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        upgrade(broken)
