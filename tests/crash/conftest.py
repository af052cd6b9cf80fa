"""The processes that fork, and the figures at the end of the report."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import TOLD
from tests.crash.figures import Figures
from tests.crash.places import BACKENDS, Backend
from tests.crash.server import Killers


@pytest.fixture(scope="module")
def killers(request: pytest.FixtureRequest) -> Iterator[Killers]:
    """
    Processes that kill children of their own; they begin at once with all that the tests of this module will ask for.

    What other modules ask for is another worker's business: each worker has collected all the tests there are.
    """
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    mine = [item for item in items if item.module is request.module and "killers" in item.fixturenames]
    wanted: list[Any] = [item.callspec.params["asked"] for item in mine]
    found = Killers(wanted)
    yield found
    found.close()


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> Iterator[dict[Backend, Figures]]:
    """What is told at the end of the run, for each back end."""
    found = {backend: Figures() for backend in BACKENDS}
    yield found
    told = pytestconfig.stash.setdefault(TOLD, [])
    told.extend(f"crashes on {backend}: {counted}" for backend, counted in found.items() if counted.kills)
