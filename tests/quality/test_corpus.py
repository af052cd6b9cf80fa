"""Tests that read real transcripts run where there are some; elsewhere a run says that they were left out."""

import os
import subprocess
import sys
from pathlib import Path

from tests.quality.tree import text

SUITE = "def test_it(corpus): assert corpus.is_dir()\ndef test_other(): assert True\n"


def run_suite(folder: Path, corpus: str | None) -> subprocess.CompletedProcess[str]:
    """Run a small suite with the project's conftest, where LEDGER_CORPUS is as told."""
    (folder / "conftest.py").write_text(text(Path("tests/conftest.py")))
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\n")
    environment = {name: value for name, value in os.environ.items() if name != "LEDGER_CORPUS"}
    if corpus is not None:
        environment["LEDGER_CORPUS"] = corpus
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_without_a_corpus_its_tests_are_left_out(tmp_path: Path) -> None:
    """Without LEDGER_CORPUS the tests that ask for it are deselected, the others run, and the last lines say so."""
    done = run_suite(tmp_path, None)
    assert "1 passed, 1 deselected" in done.stdout
    assert "1 tests read real transcripts: set LEDGER_CORPUS" in done.stdout


def test_with_a_corpus_its_tests_run(tmp_path: Path) -> None:
    """With LEDGER_CORPUS every test runs and nothing is said."""
    done = run_suite(tmp_path, str(tmp_path))
    assert "2 passed" in done.stdout
    assert "LEDGER_CORPUS" not in done.stdout


def test_a_wrong_corpus_is_an_error(tmp_path: Path) -> None:
    """A LEDGER_CORPUS that names no folder ends the run: a spelling mistake must not leave tests out."""
    done = run_suite(tmp_path, str(tmp_path / "missing"))
    assert done.returncode == 4
    assert "names no folder" in done.stderr
