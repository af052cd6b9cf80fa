"""The processes that fork, and the figures at the end of the report."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.crash.figures import Figures
from tests.crash.server import Killers

FIGURES = pytest.StashKey[Figures]()


@pytest.fixture(scope="session")
def killers(request: pytest.FixtureRequest) -> Iterator[Killers]:
    """Processes that kill children of their own; they begin at once with all that the collected tests will ask for."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    wanted: list[Any] = [item.callspec.params["asked"] for item in items if "asked" in item.fixturenames]
    found = Killers(wanted)
    yield found
    found.close()


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> Figures:
    """What is told at the end of the run."""
    return pytestconfig.stash.setdefault(FIGURES, Figures())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell the figures, also under -q."""
    found = config.stash.get(FIGURES, None)
    if found is not None:
        terminalreporter.write_line(f"crashes: {found}")
