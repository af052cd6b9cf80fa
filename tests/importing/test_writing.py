"""Sessions that are committed together."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ledger.errors import IdempotencyConflict, LedgerError, StoreUnavailable, WrongSequence
from ledger.importing import TranscriptChanged, writing
from ledger.store.memory import MemoryStore
from ledger.store.port import Append, Appended
from ledger.store.urls import open_store
from tests.importing.chats import WHOLE, chat, history, taken, told


class Together(MemoryStore):
    """A store that takes many at once, and remembers how many; `refusal` is the answer to every second one."""

    def __init__(self, refusal: LedgerError | None = None) -> None:
        super().__init__()
        self.commits: list[list[str]] = []
        self.refusal = refusal

    def append_all(self, requests: Sequence[Append]) -> Sequence[Appended | LedgerError]:
        self.commits.append([request.session_id for request in requests])
        return [
            self.refusal if self.refusal is not None and number % 2 else self.append(request)
            for number, request in enumerate(requests)
        ]


def test_sessions_that_have_ended_are_committed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many sessions, or so many events: then they are written, in the order of the file."""
    monkeypatch.setattr(writing, "MOST_SESSIONS", 3)
    store = Together()
    report = taken(b"".join(chat(WHOLE, f"s{n}") for n in range(7)), store)
    assert [len(each) for each in store.commits] == [3, 3, 1]
    assert told(report) == [(f"s{n}", "new", 9) for n in range(7)]
    monkeypatch.setattr(writing, "MOST_EVENTS", 12)
    taken(b"".join(chat(WHOLE, f"t{n}") for n in range(5)), store)
    assert [len(each) for each in store.commits[3:]] == [2, 2, 1]


def test_a_session_twice_in_a_file(tmp_path: Path) -> None:
    """The second state is compared with the first, which is written before."""
    store = open_store(f"sqlite:///{tmp_path}/l.db", create=True)
    report = taken(chat(WHOLE[:3]) + chat(WHOLE) + chat(WHOLE), store)
    assert [(each.state, each.added) for each in report.sessions] == [("new", 8), ("longer", 3), ("unchanged", 0)]
    assert [call.result for call in history(store).calls.values()] == ["ok x", "ok y"]
    store.close()


def test_one_that_is_refused_says_so() -> None:
    """What came of the others stands."""
    store = Together(WrongSequence("s1", expected="none", actual=4))
    report = taken(b"".join(chat(WHOLE, f"s{n}") for n in range(3)), store)
    assert told(report) == [("s0", "new", 9), ("s1", "refused", 0), ("s2", "new", 9)]
    assert "it is at 4" in str(report.refused[0].error)


def test_a_store_that_fails_ends_the_import() -> None:
    """That is no fault of one session: it is raised."""
    with pytest.raises(StoreUnavailable):
        taken(chat(WHOLE, "a") + chat(WHOLE, "b"), Together(StoreUnavailable("full")))


class Busy(MemoryStore):
    """A store in which somebody else writes to the session right before its first append."""

    def __init__(self) -> None:
        super().__init__()
        self.before = True

    def append(self, request: Append) -> Appended:
        if self.before:
            self.before = False
            taken(chat([{"role": "user", "content": "Another."}]), self)
        return super().append(request)


def test_what_others_wrote_meanwhile_is_not_written_over() -> None:
    """Then nothing is put behind it unseen: the session is refused, and a second import compares it."""
    store = Busy()
    report = taken(chat(WHOLE), store)
    assert isinstance(report.refused[0].error, WrongSequence | IdempotencyConflict)
    assert len(history(store).entries) == 1
    assert isinstance(taken(chat(WHOLE), store).refused[0].error, TranscriptChanged)


@pytest.mark.parametrize("most", [3, 1000])
def test_several_imports_of_one_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """However they meet, each event is recorded once, and none of them hears of an error."""
    monkeypatch.setattr(writing, "MOST_EVENTS", most)
    store = open_store(f"sqlite:///{tmp_path}/l.db", create=True)
    data = b"".join(chat(WHOLE, f"s{n}") for n in range(10))
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda _: taken(data, store), range(4)))
    assert sum(report.added for report in reports) == 90
    assert [report.refused for report in reports] == [[]] * 4
    assert all(len(store.read(f"s{n}", limit=99)) == 9 for n in range(10))
    store.close()
