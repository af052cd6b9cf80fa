"""What every test shares: hypothesis profiles, a clean environment, the door to the corpus."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.helpers import counting, server_place

# The shipped contract asserts as tests do; it has to be named before anything imports it.
pytest.register_assert_rewrite("ledger.testing.contract")

# A developer's own ledger must not leak into a test, nor into the processes it starts.
for _name in ("LEDGER_DB", "LEDGER_CATALOG"):
    os.environ.pop(_name, None)

# No deadline: machines differ, and a time limit is no fact about the code. CI repeats the same examples every time.
# Fifty examples of each: the long runs (`make soak`) have counts of their own.
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

UNCOUNTED = (
    "uncounted: coverage does not count what the test runs, for others reach the same lines (tests/helpers/counting.py)"
)


def pytest_configure(config: pytest.Config) -> None:
    """Say where the PostgreSQL server of this run will be, for all workers; the first that needs it starts it."""
    server_place.announce()
    config.addinivalue_line("markers", UNCOUNTED)
    config.pluginmanager.register(counting.Counting())
    if config.getoption("numprocesses", None):
        counting.stop()  # this process only hands the tests to its workers


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop that server."""
    server_place.finish()


@pytest.fixture(autouse=True)
def _a_tests_own_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Keep the project's catalog out of tests that run at its root: each takes the catalog that it names, or none.

    It would be read at every opening, and a tool of an example is none of a test's business.
    """
    if Path.cwd() == ROOT:
        monkeypatch.setattr("ledger.session.ledger.DEFAULT_CATALOG", "no such folder")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real transcripts named by LEDGER_CORPUS; without it the tests that ask for it are left out."""
    return Path(os.environ["LEDGER_CORPUS"])


@pytest.fixture(scope="session")
def _server_database() -> Iterator[str]:
    """A database for each worker, made when the first test asks for one."""
    from tests.helpers import postgres

    with postgres.database() as url:
        yield url


@pytest.fixture
def server_url(_server_database: str) -> str:
    """The URL of a ledger on PostgreSQL with its tables and nothing in them."""
    from tests.helpers import postgres

    postgres.emptied(_server_database)
    return _server_database


ROOT = Path(__file__).parents[1]
LEFT_OUT = pytest.StashKey[int]()
TOLD = pytest.StashKey[list[str]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Leave out the tests that read the corpus where there is none: the project never contains third-party data.

    Where there is one, they are not counted either: every line has a test that anybody can run.
    """
    folder = os.environ.get("LEDGER_CORPUS")
    reading = [item for item in items if "corpus" in getattr(item, "fixturenames", ())]
    if folder:
        if not Path(folder).is_dir():
            message = f"LEDGER_CORPUS names no folder: {folder}"
            raise pytest.UsageError(message)
        for item in reading:
            item.add_marker("uncounted")
        return
    config.stash[LEFT_OUT] = len(reading)
    if reading:
        items[:] = [item for item in items if item not in reading]
        config.hook.pytest_deselected(items=reading)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands what the end of the report tells to the process that prints it."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash.get(LEFT_OUT, 0)
        output["told"] = session.config.stash.get(TOLD, [])


def pytest_collection_finish() -> None:
    """Thousands of collected tests live as long as the process: no collection of garbage shall look at them again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker has to tell."""
    output = getattr(node, "workeroutput", {})
    node.config.stash[LEFT_OUT] = output.get("left_out", 0)
    node.config.stash.setdefault(TOLD, []).extend(output.get("told", []))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what the tests that kill have counted, and how many tests were left out for want of a corpus, if any."""
    for line in config.stash.get(TOLD, []):
        terminalreporter.write_line(line)
    left_out = config.stash.get(LEFT_OUT, 0)
    if left_out:
        terminalreporter.write_line(f"{left_out} tests read real transcripts: set LEDGER_CORPUS to run them")
