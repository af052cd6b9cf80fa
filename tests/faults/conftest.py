"""Tests of a failing disk need the library that the driver has loaded, or strace; what is left out is told."""

import os
import shutil

import pytest

from tests.conftest import TOLD
from tests.faults.disk import within_reach


@pytest.fixture(scope="session")
def failing_disk() -> None:
    """A test that asks for it puts itself between SQLite and the disk."""


@pytest.fixture(scope="session")
def strace() -> str:
    """The path of strace."""
    return shutil.which("strace") or "strace"


NEEDS = {
    "failing_disk": (within_reach, "put a disk under SQLite: this Python hides the SQLite that it has inside"),
    "strace": (lambda: shutil.which("strace") is not None, "look from outside: install strace to run them"),
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests whose tool is not there; one worker tells it."""
    for name, (there, why) in NEEDS.items():
        wanted = [item for item in items if name in getattr(item, "fixturenames", ())]
        if wanted and not there():
            items[:] = [item for item in items if item not in wanted]
            config.hook.pytest_deselected(items=wanted)
            if os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
                config.stash.setdefault(TOLD, []).append(f"{len(wanted)} tests {why}")
