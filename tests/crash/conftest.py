"""The process that forks, and the figures at the end of the report."""

from collections.abc import Iterator

import pytest

from tests.crash.figures import Figures
from tests.crash.server import Killer

FIGURES = pytest.StashKey[Figures]()


@pytest.fixture(scope="session")
def killer() -> Iterator[Killer]:
    """A process that kills children of its own on request."""
    process = Killer()
    yield process
    process.close()


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> Figures:
    """What is told at the end of the run."""
    return pytestconfig.stash.setdefault(FIGURES, Figures())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell the figures, also under -q."""
    found = config.stash.get(FIGURES, None)
    if found is not None:
        terminalreporter.write_line(f"crashes: {found}")
