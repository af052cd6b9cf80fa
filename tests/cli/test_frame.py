"""Commands, nouns and the lazy root."""

import json
import sys

import pytest

from tests.cli.running import ask, process
from tests.cli.sample import NOUNS


@pytest.mark.parametrize(
    "arguments",
    [
        ["thing"],
        ["thing", "list"],
        ["thing", "--no-color"],
        ["thing", "--count", "2"],
        ["thing", "--db", "sqlite:///x.db", "list"],
        ["--no-color", "thing", "list", "--no-color"],
    ],
)
def test_a_bare_noun_is_its_list(arguments: list[str]) -> None:
    """A noun without a command lists, with the list's options as well."""
    assert ask(*arguments).stdout == ask("thing", "list").stdout


def test_a_noun_without_a_default_needs_a_command() -> None:
    """Where there is nothing to list, a command must be named."""
    result = ask("bare")
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: Missing command. (usage)\nUsage: ledger bare [OPTIONS] COMMAND [ARGS]...\nTry: ledger bare --help\n"
    )
    assert ask("bare", "go").exit_code == 0


@pytest.mark.parametrize("arguments", [["thinng"], ["thing", "lsit"]])
def test_a_mistyped_command_is_named(arguments: list[str]) -> None:
    """An unknown noun or command is wrong usage, and the nearest one is offered."""
    result = ask(*arguments)
    assert result.exit_code == 2
    assert f"No such command '{arguments[-1]}'" in result.stderr


def test_an_unknown_noun_has_its_neighbour() -> None:
    """The nearest noun is offered without importing any."""
    assert "Did you mean 'thing'?" in ask("thinng").stderr


def test_a_noun_is_found_by_its_module() -> None:
    """A hyphen in a name is an underscore in the module's name."""
    assert ask("say-hello", "Ada").stdout == "Hi Ada\n"


def test_help_names_the_nouns_in_their_order() -> None:
    """The root's help lists each noun with its sentence, in the order of the table."""
    text = ask("--help").stdout
    places = [text.index(f"  {name}") for name in NOUNS]
    assert places == sorted(places)
    assert "say-hello  Say hello." in text


@pytest.mark.parametrize("arguments", [["thing", "--help"], ["thing", "-h"], ["thing", "--json", "--help"]])
def test_help_of_a_noun(arguments: list[str]) -> None:
    """A noun's help has its commands as written, an example of each, its default and the global options in short."""
    text = ask(*arguments).stdout
    assert text.index("  list ") < text.index("  show ") < text.index("  fail ")
    assert (
        "Examples:\n  ledger thing\n  ledger thing show 1\n  ledger thing fail ledger\n\nWithout a command: list.\n"
        in text
    )
    assert text.endswith("\nGlobal options, here too: --db URL, --catalog DIR, --json, --no-color.\n")


def test_help_of_a_command_has_its_examples() -> None:
    """A command's help ends with examples, if it has any, and doesn't explain the global options again."""
    text = ask("thing", "list", "--help").stdout
    assert "Examples:\n  ledger thing\n  ledger thing list --count 3\n\nGlobal options" in text
    assert "The ledger." not in text
    assert "Examples" not in ask("bare", "--help").stdout
    assert "Without" not in ask("bare", "--help").stdout


def test_help_loads_no_command() -> None:
    """The root's help imports no noun, and running one imports no other."""
    for name in [name for name in sys.modules if name.startswith("tests.cli.sample.")]:
        del sys.modules[name]
    ask("--help")
    assert "tests.cli.sample.say_hello" not in sys.modules
    ask("say-hello")
    assert "tests.cli.sample.say_hello" in sys.modules
    assert "tests.cli.sample.thing" not in sys.modules


def test_the_process_exits_by_the_kind() -> None:
    """A real process has the status, the answer on stdout and the words on stderr."""
    done = process("thing", "fail", "integrity", "--json")
    assert done.returncode == 4
    assert json.loads(done.stdout)["error"]["code"] == "integrity"
    assert done.stderr.count(b"\n") == 2


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ledger th", "plain,thing"),
        ("ledger thing sh", "plain,show"),
        ("ledger --help th", "plain,thing"),
        ("ledger nothing sh", ""),
    ],
)
def test_the_shell_completes(words: str, offered: str) -> None:
    """A shell that was set up for it gets the names, nouns and commands."""
    env = {"_LEDGER_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    result = ask(env=env)
    assert result.stdout.partition("\n")[0] == offered


def test_the_door_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """It tells its version, or that nobody installed it; without a command it shows its help; `--json` wants one."""
    from importlib import metadata

    from ledger.cli import main

    assert ask("--version", command=main).stdout.startswith("ledger ")
    assert "Usage:" in ask(command=main).stdout
    assert ask("--json", command=main).exit_code == 2

    def gone(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", gone)
    assert ask("--version", command=main).stdout == "ledger unknown\n"
