"""What every test shares: hypothesis profiles, a clean environment, the door to the corpus."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The shipped contract asserts as tests do; it has to be named before anything imports it.
pytest.register_assert_rewrite("ledger.testing.contract")

# A developer's own ledger must not leak into a test, nor into the processes it starts.
for _name in ("LEDGER_DB", "LEDGER_CATALOG"):
    os.environ.pop(_name, None)

# No deadline: machines differ, and a time limit is no fact about the code. CI repeats the same examples every time.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real transcripts named by LEDGER_CORPUS; without it the tests that ask for it are left out."""
    return Path(os.environ["LEDGER_CORPUS"])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that read the corpus where there is none: the project never contains third-party data."""
    folder = os.environ.get("LEDGER_CORPUS")
    if folder:
        if not Path(folder).is_dir():
            message = f"LEDGER_CORPUS names no folder: {folder}"
            raise pytest.UsageError(message)
        return
    left_out = [item for item in items if "corpus" in getattr(item, "fixturenames", ())]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were left out for want of a corpus, if any."""
    deselected = terminalreporter.stats.get("deselected", [])
    left_out = [item for item in deselected if "corpus" in getattr(item, "fixturenames", ())]
    if left_out and not os.environ.get("LEDGER_CORPUS"):
        terminalreporter.write_line(f"{len(left_out)} tests read real transcripts: set LEDGER_CORPUS to run them")
