"""Opening a server's ledger: its tables, who makes them, and what is no ledger."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url

from ledger import Ledger
from ledger.errors import NoDatabase, SchemaOutdated
from ledger.store.maintenance import check_server, current, upgrade
from ledger.store.postgres.store import PostgresStore, ReadOnlyPostgresStore
from ledger.store.schema import EPOCH, HEAD
from ledger.store.tables import Table
from ledger.store.urls import open_store
from ledger.testing.contract.building import add
from tests.helpers import postgres
from tests.store.children import start

SCHEMA = """
    SELECT table_name || '.' || column_name, data_type || coalesce(collation_name, '') || is_nullable || is_identity
    FROM information_schema.columns WHERE table_schema = current_schema()
    UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()
    UNION ALL SELECT tgname, tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
"""

CONTRACTED = (
    "UPDATE alembic_version SET version_num = '9999';"
    "CREATE OR REPLACE FUNCTION ledger_epoch() RETURNS integer LANGUAGE sql AS 'SELECT 99'"
)


def schema(url: str) -> set[tuple[Any, ...]]:
    """Return every column, index and trigger."""
    with postgres.connect(url) as connection:
        return set(connection.execute(SCHEMA).fetchall())


def test_a_server_is_not_changed_unasked(empty_url: str) -> None:
    """`Ledger.open` makes no tables on a server; it says how they are made. `migrate="auto"` makes them."""
    with pytest.raises(NoDatabase, match="holds no ledger") as refusal:
        Ledger.open(empty_url)
    assert "ledger db upgrade" in (refusal.value.hint or "")
    for options in ({"migrate": "off"}, {"read_only": True}, {"create": False, "migrate": "auto"}):
        with pytest.raises(NoDatabase):
            open_store(empty_url, **({"create": True} | options))
    with Ledger.open(empty_url, migrate="auto") as ledger:
        assert ledger.url.startswith("postgresql://")
    assert current(empty_url).state == "current"
    assert (upgrade(empty_url).before, upgrade(empty_url).after) == (HEAD, HEAD)


def test_an_upgrade_makes_the_tables(empty_url: str) -> None:
    """Of an empty database `upgrade` makes a ledger, whose tables are the declared ones."""
    made = upgrade(empty_url)
    assert (made.before, made.after) == (None, HEAD)
    assert check_server(empty_url).sound
    engine = create_engine(make_url(empty_url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), Table.metadata)
    engine.dispose()
    assert [(kind, what.name) for kind, what in differences] == [("remove_index", "event_time")]  # a server's own


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ("UPDATE alembic_version SET version_num = '0002'", "older release"),
        (CONTRACTED, "newer release"),
    ],
)
def test_tables_of_another_release_are_told(own_url: str, change: str, refusal: str) -> None:
    """Older tables and contracted ones are refused unless one does not look; added ones are fine."""
    with postgres.connect(own_url) as connection:
        connection.execute(change)
    for read_only in (True, False):
        with pytest.raises(SchemaOutdated, match=refusal):
            open_store(own_url, create=True, read_only=read_only)
        open_store(own_url, create=True, migrate="off", read_only=read_only).close()
    if "newer" in refusal:
        with pytest.raises(SchemaOutdated, match=refusal):
            open_store(own_url, create=True, migrate="auto")


def test_added_tables_are_no_hindrance(own_url: str) -> None:
    """A newer release of the same epoch only added: this one works on; an unknown one below cannot be upgraded."""
    with postgres.connect(own_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        store = open_store(own_url, create=True)
        assert add(store, "s1", "a").sequences == (1,)
        store.close()
        assert current(own_url).state == "newer"
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    assert current(own_url).state == "older"
    with pytest.raises(SchemaOutdated, match="cannot be upgraded"):
        open_store(own_url, create=True, migrate="auto")
    assert EPOCH == 1


def test_somebody_elses_tables_are_left_alone(empty_url: str) -> None:
    """A database whose migrations are another program's is refused; a schema of its own is the ledger's place."""
    with postgres.connect(empty_url) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num text); CREATE SCHEMA ledger")
        connection.execute("INSERT INTO alembic_version VALUES ('abc')")
    with pytest.raises(NoDatabase, match="somebody else") as refusal:
        upgrade(empty_url)
    assert "search_path" in (refusal.value.hint or "")
    own = make_url(empty_url).update_query_dict({"options": "-csearch_path=ledger"})
    upgrade(own.render_as_string(hide_password=False))
    assert current(own.render_as_string(hide_password=False)).state == "current"


def test_what_is_not_there_is_told(url: str) -> None:
    """A database that the server does not have is named as such, and how to make one that can hold a ledger."""
    missing = make_url(url).set(database="nobody").render_as_string(hide_password=False)
    with pytest.raises(NoDatabase, match="no database") as refusal:
        open_store(missing, create=True)
    assert "createdb -E UTF8 -T template0" in str(refusal.value.hint)


def test_a_tables_owner_is_needed_to_make_them(empty_url: str) -> None:
    """Where the server refuses the upgrade, its words are passed on."""
    with postgres.connect(empty_url) as connection:
        connection.execute("CREATE TYPE session_head AS (x int)")
    with pytest.raises(Exception, match="cannot be upgraded"):
        upgrade(empty_url)


def test_many_begin_at_once(empty_url: str) -> None:
    """Four processes and four threads of each open an empty database: all work, and the tables were made once."""
    # https://github.com/vectorize-io/hindsight/pull/521, https://github.com/miguelgrinberg/Flask-Migrate/issues/311
    processes = [start("open_once", empty_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(upgrade, [empty_url] * 4))
    for process in processes:
        process.communicate("go\n")
        assert process.returncode == 0
    health = check_server(empty_url)
    assert (health.sound, health.chains.sessions) == (True, 4)


def killed_upgrade(url: str, last: int) -> int:
    """Upgrade in a child that dies by SIGKILL right before statement or commit number `last`; how it ended."""
    pid = os.fork()
    if pid == 0:
        numbers = count()

        def step(*_: object) -> None:
            if next(numbers) == last:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", step)
        event.listen(Engine, "commit", step)
        upgrade(url)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_killed_upgrade_reaches_its_end_the_next_time(empty_url: str, own_url: str) -> None:
    """SIGKILL before statements and commits (each tenth here): the next start finds nothing half done."""
    # https://github.com/dgahagan/shelf/issues/24, https://github.com/IBM/mcp-context-forge/issues/3420
    whole = schema(own_url)
    for last in count(3, 10):
        if killed_upgrade(empty_url, last) == 0:
            break
        upgrade(empty_url)
        assert schema(empty_url) == whole
        with postgres.connect(empty_url) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    assert last > len(Table.metadata.tables)


def test_alembics_own_command_works(empty_url: str, own_url: str, tmp_path: Path) -> None:
    """A developer's `alembic upgrade head` takes the URL of its ini file, and makes the same tables."""
    ini = tmp_path / "alembic.ini"
    ini.write_text(f"[alembic]\nscript_location = ledger:migrations\nsqlalchemy.url = {empty_url.replace('%', '%%')}\n")
    command.upgrade(Config(str(ini)), "head")
    assert schema(empty_url) == schema(own_url)


def test_a_url_opens_its_adapter(url: str) -> None:
    """Both names of the scheme open the adapter; a reader gets one that only reads."""
    for each in (url, url.replace("postgresql://", "postgres://"), url.replace("postgresql:", "postgresql+psycopg:")):
        store = open_store(each, create=False)
        assert isinstance(store, PostgresStore)
        store.close()
    reader = open_store(url, create=False, read_only=True)
    assert isinstance(reader, ReadOnlyPostgresStore)
    reader.close()
