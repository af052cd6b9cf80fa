"""The import rules of pyproject.toml are kept by lint; here they are shown to catch what they are there for."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.quality.tree import ROOT, text

CONTRACTS = tomllib.loads(text(Path("pyproject.toml")))["tool"]["importlinter"]["contracts"]
LAYERS = next(contract["layers"] for contract in CONTRACTS if contract["id"] == "layers")

# What each rule is there for: rule, module, the line planted in it.
PLANTED = [
    ("layers", "errors", "import ledger.events"),
    ("layers", "answers", "def late():\n    from ledger.cli import later"),
    ("layers", "execution", "import ledger.gates"),
    ("layers", "surprise", ""),
    ("acyclic", "store.port", "import ledger.store.memory"),
    ("backends", "store.memory", "import ledger.store.sqlite"),
    ("pure-core", "events", "import time"),
    ("click-door", "testing", "import click"),
    ("click-door", "session", "def late():\n    from click import echo"),
    ("validator-door", "gates", "import jsonschema"),
    ("validator-door", "session", "import pydantic"),
    ("pytest-door", "testing", "import pytest"),
    ("sql-door", "audit", "import sqlite3"),
    ("sql-door", "__init__", "import sqlmodel"),
    ("sql-door", "recovery", "from sqlalchemy import text"),
]


OPEN_DOORS = (
    ("cli", "import click"),
    ("catalog", "import jsonschema, pydantic, referencing"),
    ("store.sqlite", "import sqlite3, sqlalchemy, sqlmodel, alembic"),
    ("migrations", "import sqlalchemy, sqlmodel, alembic"),
    ("testing.plugin", "import pytest"),
)
TREES = [(), OPEN_DOORS, *(((module, line),) for _, module, line in PLANTED)]
"""What is planted in each tree: nothing, what is allowed, and each line that a rule is there for."""

LINT = """
import os, sys
from importlinter.cli import lint_imports_command
for folder in sys.argv[1:]:
    child = os.fork()
    if not child:
        os.chdir(folder)
        for stream in (1, 2):
            os.dup2(os.open("told", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
        lint_imports_command(["--no-cache", "--no-logo"])
    os.waitpid(child, 0)
"""
"""Looks at each tree in a process of its own, for which all that takes long is loaded already."""


def write(tree: Path) -> None:
    """Write a package with every layer, each a package that holds nothing, and the real rules beside it."""
    names = re.findall(r"\w+", " ".join(LAYERS))
    for name in ("", "migrations", *(name for name in names if name != "__main__")):
        folder = tree / "ledger" / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
    for name in ("__main__", "store/port", "store/memory", "store/sqlite", "store/postgres"):
        (tree / f"ledger/{name}.py").write_text("")
    (tree / "ledger/store/memory.py").write_text("import ledger.store.port\n")
    (tree / "pyproject.toml").write_text(text(Path("pyproject.toml")))


def plant(tree: Path, module: str, line: str) -> None:
    """Add a line to a module of the tree, or a module to the tree."""
    place = tree / "ledger" / module.replace(".", "/")
    place = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    place.write_text(f"{line}\n")


def verdict(told: str) -> set[str]:
    """Return the rules that a tree breaks, by what the linter said of it."""
    assert "broken." in told, told
    return {contract["id"] for contract in CONTRACTS if f"{contract['name']} BROKEN" in told}


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[tuple[str, str], ...], set[str]]:
    """The rules that each tree breaks, by what is planted in it."""
    trees = {planted: tmp_path_factory.mktemp("tree") for planted in TREES}
    for planted, tree in trees.items():
        write(tree)
        for module, line in planted:
            plant(tree, module, line)
    subprocess.run([sys.executable, "-c", LINT, *trees.values()], check=True)
    return {planted: verdict((tree / "told").read_text(encoding="utf-8")) for planted, tree in trees.items()}


def test_an_empty_tree_breaks_no_rule(broken: dict[Any, set[str]]) -> None:
    """The rules hold for a package whose modules import nothing."""
    assert broken[()] == set()


@pytest.mark.parametrize(("rule", "module", "line"), PLANTED)
def test_a_planted_import_breaks_its_rule(broken: dict[Any, set[str]], rule: str, module: str, line: str) -> None:
    """An import that a rule is there for breaks it, at the top of a module or hidden in a function."""
    assert rule in broken[((module, line),)]


def test_the_doors_are_open(broken: dict[Any, set[str]]) -> None:
    """The modules that a library belongs to may import it."""
    assert broken[OPEN_DOORS] == set()


def test_every_layer_of_the_package_is_ruled() -> None:
    """The rules are those of this package: its folder is the one that they name."""
    assert (ROOT / "ledger/__init__.py").is_file()
    assert {contract["id"] for contract in CONTRACTS} == {rule for rule, _, _ in PLANTED}
