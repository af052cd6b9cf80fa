"""Upgrades of filled ledgers: from each release, killed anywhere, by several at once; older releases write on."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from ledger.replay.reading import session_at
from ledger.store.maintenance import check, current, upgrade
from ledger.store.schema import HEAD
from ledger.store.urls import open_store
from ledger.testing.contract.building import add
from tests.cli.running import data, ledger
from tests.migrations.filled import RELEASED, contents, fill, replay
from tests.migrations.test_upgrade import revisions, schema, upgraded_up_to
from tests.store.children import run

EVERY = int(os.environ.get("LEDGER_TEST_EVERY", "5"))
"""Every which statement an upgrade is killed at; the long run takes each."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a filled ledger of each release, and one that never was anything but today's."""
    folder = tmp_path_factory.mktemp("released")
    for revision in {*RELEASED, HEAD}:
        fill(folder / f"{revision}.db", revision, folder)
    return folder


@pytest.fixture
def old(made: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of one of them."""
    return Path(shutil.copy(made / f"{request.param}.db", tmp_path / "ledger.db"))


every_release = pytest.mark.parametrize("old", RELEASED, indirect=True)
first_release = pytest.mark.parametrize("old", RELEASED[:1], indirect=True)


@every_release
def test_every_row_survives_an_upgrade(made: Path, old: Path) -> None:
    """Events, heads, versions and calls are what they were; tables, indexes and triggers are those of a new ledger."""
    before = contents(old)
    upgrade(str(old))
    assert contents(old) == before
    assert len(before["event"]) > 50
    assert schema(old) == schema(made / f"{HEAD}.db")
    health = check(str(old))
    assert (health.unguarded, [fault.session_id for fault in health.chains.faults]) == ((), ["torn"])


@every_release
def test_an_upgraded_ledger_keeps_its_events(old: Path) -> None:
    """The triggers still refuse what they refused, and no position is given twice."""
    upgrade(str(old))
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        for statement in (
            "UPDATE event SET record = x'11'",
            "DELETE FROM event",
            "REPLACE INTO event SELECT * FROM event",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="ledger:"):
                connection.execute(statement)
        [(last,)] = connection.execute("SELECT max(position) FROM event").fetchall()
        [(counted,)] = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchall()
    assert counted >= last


@first_release
def test_a_killed_upgrade_of_a_filled_ledger_reaches_its_end(made: Path, old: Path, tmp_path: Path) -> None:
    """SIGKILL before statements and commits of all revisions: the next start does the rest, and no row is lost."""
    # https://github.com/IBM/mcp-context-forge/issues/3420 (a temporary table stayed behind, for ever)
    before, whole = contents(old), schema(made / f"{HEAD}.db")
    for last in count(step=EVERY):
        path = Path(shutil.copy(old, tmp_path / f"killed{last}.db"))
        if upgraded_up_to(path, last) == 0:
            break
        upgrade(str(path))
        assert (current(str(path)).state, schema(path), contents(path)) == ("current", whole, before)
    assert last > 20


@first_release
@pytest.mark.parametrize("program", ["open_in_four_processes", "open_four_times"])
def test_four_upgrade_at_once(old: Path, program: str) -> None:
    """Four processes, or four threads of one, open an old ledger at once: one upgrades it, all work, no row is lost."""
    before = contents(old)["event"]
    run(program, old)
    assert revisions(old) == [HEAD]
    after = contents(old)["event"]
    assert (after[: len(before)], len(after)) == (before, len(before) + 4)


@pytest.mark.parametrize("writer", ["0001", "0003"])
def test_an_older_release_works_on_an_upgraded_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str
) -> None:
    """
    A process of an older release that is still running reads and writes the tables of this one.

    What its release did not know (look-ups, a column) `db check` finds, and `--rebuild` makes from the events.
    """
    monkeypatch.chdir(tmp_path)
    store = open_store("ledger.db", create=True)
    add(store, "newer", "a", "b", "c")
    assert replay(tmp_path / "ledger.db", writer) == 12
    calls = session_at(store, "old").calls.values()
    assert [call.state for call in calls] == ["succeeded", "rejected"]
    add(store, "old", "on it goes")
    store.close()
    assert [row["state"] for row in data("audit", "calls", "--session", "old")] == ["succeeded", "rejected"]
    assert ledger("db", "check").exit_code == (1 if writer < "0002" else 0)
    ledger("db", "check", "--rebuild")
    assert data("db", "check")["sound"]
