"""The door to a ledger that is there, for looking."""

from pathlib import Path

import pytest

from ledger.errors import NoDatabase, UsageError
from ledger.session.reading import open_reader
from ledger.store.port import Append
from tests.session.agents import opened


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    """What is there is read; a write is refused, and the files stay what they were."""
    with opened(tmp_path) as ledger, ledger.session("s") as session:
        session.call("nothing")
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.db*") if path.suffix != ".lock"}
    store = open_reader(f"sqlite:///{tmp_path}/ledger.db")
    assert [row.session_id for row in store.sessions(limit=9)] == ["s"]
    with pytest.raises(UsageError, match="for reading only"):
        store.append(Append(session_id="s", drafts=()))
    store.close()
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.db*") if path.suffix != ".lock"} == before


@pytest.mark.parametrize("url", ["sqlite:///missing.db", "memory://", "memory://x"])
def test_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Where there is no ledger none is made, and one in another process's memory is none."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoDatabase):
        open_reader(url)
    assert list(tmp_path.iterdir()) == []
