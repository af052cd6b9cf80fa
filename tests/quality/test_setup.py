"""What `make` does before it can do anything: it finds a Python, or says in one line what is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.quality.tree import ROOT

SCRIPT = ROOT / "scripts/find_python.sh"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


def stand_in(folder: Path, name: str, body: str) -> None:
    """Put a program of that name into the folder."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)


def find(folder: Path, python: str = "") -> subprocess.CompletedProcess[str]:
    """Look for a Python with nothing but that folder's programs to find."""
    environment = {"PATH": str(folder), "PYTHON": python}
    return subprocess.run(["/bin/sh", SCRIPT], env=environment, capture_output=True, text=True, check=False)


# Real Pythons that lack what Debian and Ubuntu split off, or that are too old for us.
WITHOUT_ENSUREPIP = f'case "$2" in *ensurepip*) exit 1;; esac; exec {sys.executable} "$@"'
TOO_OLD = 'case "$2" in *version_info*) exit 1;; esac'


def test_it_takes_the_usual_python(tmp_path: Path) -> None:
    """A `python3` that fits is taken."""
    stand_in(tmp_path, "python3", f'exec {sys.executable} "$@"')
    assert find(tmp_path).stdout.strip() == str(tmp_path / "python3")


@pytest.mark.parametrize("broken", [WITHOUT_ENSUREPIP, TOO_OLD, "exit 127"])
def test_it_goes_on_to_the_next(tmp_path: Path, broken: str) -> None:
    """Where `python3` does not fit, a `python3.13` that does is taken."""
    stand_in(tmp_path, "python3", broken)
    stand_in(tmp_path, "python3.13", f'exec {sys.executable} "$@"')
    assert find(tmp_path).stdout.strip() == str(tmp_path / "python3.13")


def test_it_takes_the_python_it_is_told(tmp_path: Path) -> None:
    """PYTHON names the one to take, whatever else there is."""
    stand_in(tmp_path, "python3", f'exec {sys.executable} "$@"')
    assert find(tmp_path, sys.executable).stdout.strip() == sys.executable


def test_it_names_the_missing_package(tmp_path: Path) -> None:
    """Where every Python lacks ensurepip, one line names the package that brings it, and the exit code is not 0."""
    stand_in(tmp_path, "python3", WITHOUT_ENSUREPIP)
    done = find(tmp_path)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert f"apt-get install python{VERSION}-venv" in line
    assert done.stdout == ""


@pytest.mark.parametrize("programs", [{}, {"python3": TOO_OLD}])
def test_it_says_which_python_it_needs(tmp_path: Path, programs: dict[str, str]) -> None:
    """Where there is no Python, or only an old one, one line says which one is needed, and the exit code is not 0."""
    for name, body in programs.items():
        stand_in(tmp_path, name, body)
    done = find(tmp_path)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "3.11" in line
