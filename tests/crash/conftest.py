"""The processes that fork, and the figures at the end of the report."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import TOLD
from tests.crash.figures import Figures
from tests.crash.server import Killers


@pytest.fixture(scope="session")
def killers(request: pytest.FixtureRequest) -> Iterator[Killers]:
    """Processes that kill children of their own; they begin at once with all that the collected tests will ask for."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    wanted: list[Any] = [item.callspec.params["asked"] for item in items if "killers" in item.fixturenames]
    found = Killers(wanted)
    yield found
    found.close()


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> Iterator[Figures]:
    """What is told at the end of the run."""
    found = Figures()
    yield found
    pytestconfig.stash.setdefault(TOLD, []).append(f"crashes: {found}")
