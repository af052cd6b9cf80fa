"""The import rules of pyproject.toml are kept by lint; here they are shown to catch what they are there for."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

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


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a package with every layer, each a package that holds nothing, and the real rules beside it."""
    names = re.findall(r"\w+", " ".join(LAYERS))
    for name in ("", "migrations", *(name for name in names if name != "__main__")):
        folder = tmp_path / "ledger" / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
    for name in ("__main__", "store/port", "store/memory", "store/sqlite", "store/postgres"):
        (tmp_path / f"ledger/{name}.py").write_text("")
    (tmp_path / "ledger/store/memory.py").write_text("import ledger.store.port\n")
    (tmp_path / "pyproject.toml").write_text(text(Path("pyproject.toml")))
    return tmp_path


def broken(tree: Path) -> set[str]:
    """Return the rules that the tree breaks."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run([*command, "--no-cache", "--no-logo"], cwd=tree, capture_output=True, text=True, check=False)
    verdicts = {contract["id"]: f"{contract['name']} BROKEN" in done.stdout for contract in CONTRACTS}
    assert "broken." in done.stdout, done.stdout + done.stderr
    return {rule for rule, is_broken in verdicts.items() if is_broken}


def plant(tree: Path, module: str, line: str) -> None:
    """Add a line to a module of the tree, or a module to the tree."""
    place = tree / "ledger" / module.replace(".", "/")
    place = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    place.write_text(f"{line}\n")


def test_an_empty_tree_breaks_no_rule(tree: Path) -> None:
    """The rules hold for a package whose modules import nothing."""
    assert broken(tree) == set()


@pytest.mark.parametrize(("rule", "module", "line"), PLANTED)
def test_a_planted_import_breaks_its_rule(tree: Path, rule: str, module: str, line: str) -> None:
    """An import that a rule is there for breaks it, at the top of a module or hidden in a function."""
    plant(tree, module, line)
    assert rule in broken(tree)


def test_the_doors_are_open(tree: Path) -> None:
    """The modules that a library belongs to may import it."""
    for module, line in [
        ("cli", "import click"),
        ("catalog", "import jsonschema, pydantic, referencing"),
        ("store.sqlite", "import sqlite3, sqlalchemy, sqlmodel, alembic"),
        ("migrations", "import sqlalchemy, sqlmodel, alembic"),
        ("testing.plugin", "import pytest"),
    ]:
        plant(tree, module, line)
    assert broken(tree) == set()


def test_every_layer_of_the_package_is_ruled() -> None:
    """The rules are those of this package: its folder is the one that they name."""
    assert (ROOT / "ledger/__init__.py").is_file()
    assert {contract["id"] for contract in CONTRACTS} == {rule for rule, _, _ in PLANTED}
