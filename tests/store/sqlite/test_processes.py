"""Several processes on one file: nothing acknowledged is lost, nothing is stored twice, nobody sees a busy error."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from ledger.store.maintenance import check
from ledger.store.urls import open_store
from ledger.testing.contract.building import add, everything, ids
from tests.store.children import run, start


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/ledger.db"


def test_sequences_go_on_after_a_restart(url: str) -> None:
    """Append 5, restart, append 5: sequences 1 to 10, by the database (mediforce issue 625)."""
    assert run("append", url, "s1", "a", 5) == ["1", "2", "3", "4", "5"]
    assert run("append", url, "s1", "b", 5) == ["6", "7", "8", "9", "10"]


def test_processes_share_a_session(url: str) -> None:
    """8 processes append to one session beside a reader of everything: all is stored, in the order acknowledged."""
    open_store(url, create=True).close()
    reader = start("audit", url)
    writers = [start("append", url, "s1", f"w{number}-", 50) for number in range(8)]
    told = []
    for writer in writers:
        output, _ = writer.communicate()
        assert writer.returncode == 0
        told += [int(line) for line in output.splitlines()]
    rounds, _ = reader.communicate("stop\n")
    assert reader.returncode == 0
    assert int(rounds) >= 1
    assert sorted(told) == list(range(1, 401))
    store = open_store(url, create=False)
    assert sorted(ids(everything(store, "s1"))) == sorted(f"w{number}-{n}" for number in range(8) for n in range(50))
    store.close()
    assert check(url).sound


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_writer_loses_nothing_it_was_told(url: str, seed: int) -> None:
    """After SIGKILL at any moment every acknowledged append is there; a retry finds what its writer never heard of."""
    with start("append_and_die", url, "s1", "e") as writer:
        assert writer.stdout is not None
        for _ in range(random.Random(seed).randrange(1, 40)):
            acknowledged = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest = [int(line) for line in writer.stdout.read().split()]
    acknowledged = max([acknowledged, *rest])
    store = open_store(url, create=False)
    found = ids(everything(store, "s1"))
    assert found == [f"e{n}{half}" for n in range(len(found) // 2) for half in ("", "b")]
    assert len(found) // 2 in (acknowledged + 1, acknowledged + 2)
    again = add(store, "s1", f"e{acknowledged + 1}", f"e{acknowledged + 1}b")
    assert again.repeated == (len(found) // 2 == acknowledged + 2)
    assert len(everything(store, "s1")) == 2 * (acknowledged + 2)
    store.close()
    assert check(url).sound


def test_one_process_owns_a_session(url: str) -> None:
    """A lease taken in one process keeps another one out."""
    open_store(url, create=True).close()
    assert run("take", url, "s1", "first") == ["first"]
    assert run("take", url, "s1", "second") == ["SessionOwned"]


def test_writing_loads_no_orm(url: str) -> None:
    """The write path of a ledger that is up to date loads neither SQLAlchemy nor Alembic nor validators."""
    open_store(url, create=True).close()
    assert run("loaded", url) == [""]
