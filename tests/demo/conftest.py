"""Real files for the demo's tools."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from ledger.demo.tools import CodingTools
from ledger.demo.workspace import Workspace

NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty folder beside other things that are none of the tools' business."""
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret\n")
    return folder


@pytest.fixture
def tools(root: Path) -> CodingTools:
    return CodingTools(Workspace(root))


@contextmanager
def without_privileges() -> Iterator[None]:
    """Be an ordinary user for a while: no permission stops the superuser."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.fixture
def unprivileged() -> Callable[[], AbstractContextManager[None]]:
    return without_privileges


@pytest.fixture
def open_root() -> Iterator[Path]:
    """A folder that belongs to the ordinary user (pytest's own ones belong to who runs it)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        yield folder
        folder.chmod(0o700)
