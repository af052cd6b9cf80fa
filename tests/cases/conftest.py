"""One desk a test, on a copy of an empty ledger."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.store.urls import open_store
from tests.cases.scenes import SERVER, Desk

pytest.register_assert_rewrite("tests.cases.plays")


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger file with its tables and nothing in them."""
    path = tmp_path_factory.mktemp("empty") / "ledger.db"
    open_store(f"sqlite:///{path}", create=True).close()
    return path


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the case's own folder: where no catalog is."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path, empty: Path) -> Iterator[Desk]:
    """A folder with a ledger, and a tool that pays."""
    shutil.copy(empty, tmp_path)
    url = getattr(request, "param", "")
    found = Desk(tmp_path, request.getfixturevalue("server_url") if url == SERVER else url)
    yield found
    found.close()
