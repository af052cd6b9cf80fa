"""One scene a test, on a copy of an empty ledger; one tool that is deployed version by version."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.store.urls import open_store
from tests.recovery.deploys import Deploy
from tests.recovery.scenes import Scene


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger file with its tables and nothing in them: making them is what takes the time."""
    path = tmp_path_factory.mktemp("empty") / "ledger.db"
    open_store(f"sqlite:///{path}", create=True).close()
    return path


@pytest.fixture
def scene(tmp_path: Path, empty: Path) -> Iterator[Scene]:
    """A ledger file and a tool."""
    shutil.copy(empty, tmp_path)
    found = Scene(tmp_path)
    yield found
    found.close()


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[Deploy]:
    """A tool that is deployed version by version."""
    found = Deploy(tmp_path)
    yield found
    found.close()
