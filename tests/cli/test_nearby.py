"""Ledgers that lie nearby."""

import os
from pathlib import Path

import pytest

from ledger.cli.nearby import nearby, nearby_hint


def put(path: Path, size: int, modified: int = 1_000) -> None:
    path.write_bytes(b"\0" * size)
    os.utime(path, (modified, modified))


def test_ledgers_are_found_by_name_and_size(tmp_path: Path) -> None:
    """Files named and sized like a SQLite database are named, the newest first; others are not."""
    put(tmp_path / "old.db", 4096, 1_000)
    put(tmp_path / "new.sqlite3", 8192, 2_000)
    put(tmp_path / "same.db", 512, 1_000)
    put(tmp_path / "empty.db", 0)
    put(tmp_path / "odd.db", 1000)
    put(tmp_path / "old.db-wal", 4096)
    put(tmp_path / "notes.txt", 4096)
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "nowhere.db").symlink_to(tmp_path / "gone.db")
    found = nearby(tmp_path)
    assert [file.path.name for file in found] == ["new.sqlite3", "old.db", "same.db"]
    assert found[0].size == 8192
    assert found[0].url == f"sqlite:///{tmp_path.as_posix()}/new.sqlite3"


def test_a_missing_folder_has_nothing(tmp_path: Path) -> None:
    """A folder that can't be read has no ledgers, and that is no error."""
    assert nearby(tmp_path / "gone") == ()


def test_the_hint_names_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint names ledgers here and beside the one asked for, at most five, or how to make one; none of a server."""
    monkeypatch.chdir(tmp_path)
    assert "ledger init" in str(nearby_hint("sqlite:///ledger.db"))
    put(tmp_path / "agent.db", 4096)
    assert nearby_hint("sqlite:///ledger.db") == "Lying nearby: --db sqlite:///agent.db"
    assert nearby_hint("postgresql://host/l") is None
    (tmp_path / "deep").mkdir()
    for number in range(6):
        put(tmp_path / "deep" / f"{number}.db", 4096)
    hint = nearby_hint("sqlite:///deep/ledger.db")
    assert hint is not None
    assert "--db sqlite:///deep/3.db" in hint
    assert hint.endswith(" and 2 more")


def test_odd_names_can_be_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with spaces is quoted, and one with a question mark is a plain path: in a URL it would begin options."""
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "my agent.db", 4096, 2_000)
    put(tmp_path / "what?.db", 4096, 1_000)
    assert nearby_hint("x.db") == "Lying nearby: --db 'sqlite:///my agent.db', --db 'what?.db'"
