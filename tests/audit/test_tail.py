"""Following a ledger: each event once, from any cursor on; the same on a file as in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.audit import Tail
from ledger.audit.reading import PAGE
from ledger.errors import UsageError
from ledger.store.memory import MemoryStore
from ledger.store.port import Settled, Store
from ledger.store.urls import open_store
from ledger.testing.contract.building import add, ids


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/ledger.db"
    store = open_store(url, create=True)
    yield store
    store.close()


def test_a_cursor_goes_on_where_it_stopped(store: Store) -> None:
    """What was given is not given again, to whichever tail begins at the cursor."""
    add(store, "s1", "a", "b")
    tail = Tail(store)
    assert ids(tail.read()) == ["a", "b"]
    assert (tail.read(), tail.cursor) == ([], 2)
    add(store, "s2", "c")
    assert ids(Tail(store, after=tail.cursor).read()) == ["c"]
    assert ids(Tail(store, after=1).read()) == ["b", "c"]


def test_a_cursor_grows_where_nothing_fits(store: Store) -> None:
    """Events that do not fit are passed once, and not looked at again."""
    add(store, "s1", *(f"e{n}" for n in range(20)))
    tail = Tail(store, session="s2")
    assert (tail.read(), tail.cursor) == ([], 20)


def test_pages_follow_each_other(store: Store) -> None:
    """More events than a page holds come in several."""
    add(store, "s1", *(f"e{n}" for n in range(PAGE + 3)))
    tail = Tail(store)
    assert [len(tail.read()) for _ in range(3)] == [PAGE, 3, 0]


def test_it_goes_on_until_it_is_stopped(store: Store) -> None:
    """Iterating waits for events that come later, and ends when it is told to."""
    add(store, "s1", "a")
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) == 1:
            add(store, "s1", "b")
        return len(waits) == 2

    rows = list(Tail(store, wait=wait, type=("message.recorded",)))
    assert [row["eventId"] for row in rows] == ["a", "b"]
    tail = Tail(store)
    tail.stop()
    assert list(tail) == []


def test_a_tail_is_stopped_from_another_thread(store: Store) -> None:
    """`stop` wakes one that waits."""
    tail = Tail(store)
    thread = threading.Thread(target=tail.stop)
    thread.start()
    assert list(tail) == []
    thread.join()


def test_what_is_not_final_is_not_given() -> None:
    """An event beyond what the store calls final waits, and who holds it back is told."""

    class Slow(MemoryStore):
        def settled(self) -> Settled:
            return Settled(1, "process 7")

    store, heard = Slow(), list[str]()
    add(store, "s1", "a", "b")
    tail = Tail(store, held=heard.append)
    assert (ids(tail.read()), tail.cursor, heard) == (["a"], 1, ["process 7"])
    assert (tail.read(), tail.cursor) == ([], 1)


def test_a_slip_is_told_at_once(store: Store) -> None:
    """A filter that there is not, or a cursor below nothing, is refused before anything is read."""
    for options in ({"kind": "x"}, {"after": -1}, {"type": ("nope",)}):
        with pytest.raises(UsageError):
            Tail(store, **options)
