"""The real command line: what it loads, how fast it helps, what it knows."""

import importlib.metadata
import json
import subprocess
import sys
from inspect import cleandoc
from pathlib import Path

import click
import pytest

from ledger.cli import NOUNS, main
from tests.cli.running import ROOT, ask
from tests.helpers.counting import untraced

HEAVY = ("sqlmodel", "sqlalchemy", "alembic", "pydantic", "jsonschema")


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=untraced(), capture_output=True, text=True, check=True
    )


def test_help_imports_nothing_heavy() -> None:
    """`ledger --help` loads no database, validation or model library."""
    done = python("-X", "importtime", "-m", "ledger", "--help")
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_no_nouns_help_imports_anything_heavy() -> None:
    """The help of a noun, and of each of its commands, loads none of them either."""
    code = (
        "import sys; from ledger.cli import main; from ledger.cli.reference import reference; "
        "assert '### ledger review list' in reference(main); print(*{name.partition('.')[0] for name in sys.modules})"
    )
    assert set(python("-c", code).stdout.split()).isdisjoint(HEAVY)


def test_every_door_opens_the_same() -> None:
    """`python -m ledger` and `python cli.py` are the same command line."""
    shown = python("-m", "ledger", "--help").stdout
    assert python("cli.py", "--help").stdout == shown
    assert shown.startswith("Usage: ledger [OPTIONS] COMMAND [ARGS]...\n")


def test_without_a_command_the_help_is_shown() -> None:
    """`ledger` alone explains itself."""
    result = ask(command=main)
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: ledger [OPTIONS] COMMAND [ARGS]...\n\n  Record, replay and repair")
    assert "Exit status: 0 done" in result.stdout


def test_the_root_runs_the_nouns_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Besides the noun's own output the root prints nothing."""
    monkeypatch.setattr(main, "nouns", {"say-hello": "Say hello."})
    monkeypatch.setattr(main, "package", "tests.cli.sample")
    assert ask("say-hello", "Ada", command=main).output == "Hi Ada\n"


def test_the_version_is_that_of_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """--version tells what is installed, for programs as well; a checkout that was never installed has none."""
    installed = importlib.metadata.version("toolcall-ledger")
    assert ask("--version", command=main).stdout == f"ledger {installed}\n"
    assert json.loads(ask("--version", "--json", command=main).stdout) == {"data": {"version": installed}}

    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert ask("--version", command=main).stdout == "ledger unknown\n"


def test_each_noun_says_what_the_table_says() -> None:
    """The table of nouns, which exists so that help loads nothing, has each noun's own first sentence."""
    commands = {name: main.get_command(click.Context(main), name) for name in NOUNS}
    said = {
        name: cleandoc(command.help or "").split("\n\n")[0].replace("\n", " ")
        for name, command in commands.items()
        if command
    }
    assert said == NOUNS


def test_every_module_of_a_noun_is_listed() -> None:
    """No module with a command was forgotten in the table."""
    folder = Path(ROOT, "ledger", "cli")
    found = {path.stem.replace("_", "-") for path in folder.glob("*.py") if "\ndef command(" in path.read_text("utf-8")}
    assert found == set(NOUNS)
