"""The command line reference."""

import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from ledger.cli import main
from ledger.cli.frame import Command, Noun
from ledger.cli.reference import contexts, reference
from tests.cli.running import ROOT
from tests.cli.sample import root

ALL = [(context.command_path, context.command) for tree in (main, root) for context in contexts(tree)]
REAL = [(context.command_path, context.command) for context in contexts(main)]


def test_the_reference_is_up_to_date() -> None:
    """docs/cli.md is what the commands' help says; `make docs` writes it."""
    assert Path(ROOT, "docs/cli.md").read_text("utf-8") == reference(main)


def test_it_writes_the_page(tmp_path: Path) -> None:
    """Run as a module, it writes the page where it is told."""
    page = tmp_path / "new" / "cli.md"
    subprocess.run([sys.executable, "-m", "ledger.cli.reference", str(page)], cwd=ROOT, check=True)
    assert page.read_bytes() == reference(main).encode("utf-8")


def test_every_command_has_its_section() -> None:
    """Each noun and each command is in the reference, the parents before their children."""
    text = reference(root)
    places = [
        text.index(f"\n### {path}\n")
        for path in ("ledger", "ledger thing", "ledger thing list", "ledger thing fail", "ledger say-hello")
    ]
    assert places == sorted(places)
    assert "\n```text\nUsage: ledger thing list [OPTIONS]\n" in text


def undocumented(path: str, command: click.Command) -> list[str]:
    """Return what a command lacks: a sentence, an example, help for an option."""
    lacks = [] if command.help else ["help"]
    if isinstance(command, Command | Noun) and not command.examples:
        lacks.append("example")
    options = [option for option in command.params if isinstance(option, click.Option)]
    return [path + ": " + lack for lack in [*lacks, *(str(option.name) for option in options if not option.help)]]


def test_an_undocumented_command_is_seen() -> None:
    """What lacks an example or an option's help is found."""
    found = [lack for context in contexts(root) for lack in undocumented(context.command_path, context.command)]
    assert "ledger bare: example" in found
    assert "ledger bare go: example" in found
    assert "ledger thing list: count" in found
    assert undocumented("x", click.Command("x")) == ["x: help"]


@pytest.mark.parametrize(("path", "command"), REAL, ids=[path for path, _ in REAL])
def test_every_command_is_documented(path: str, command: click.Command) -> None:
    """Each command has a sentence and an example, each option its help."""
    assert undocumented(path, command) == []


EXAMPLES = [
    (tree, example)
    for tree in (main, root)
    for context in contexts(tree)
    if isinstance(context.command, Command)
    for example in context.command.examples
]


@pytest.mark.parametrize(("tree", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_every_example_parses(tree: click.Group, example: str) -> None:
    """An example is a command line that the command takes; nothing is run."""
    door, *arguments = shlex.split(example, comments=True)
    assert door == "ledger"
    name: str | None = door
    command: click.Command | None = tree
    context = None
    while isinstance(command, click.Group):
        context = command.make_context(name, arguments, parent=context)
        name, command, arguments = command.resolve_command(context, [*context._protected_args, *context.args])
    assert isinstance(command, Command)
    assert command.make_context(name, arguments, parent=context).command is command
