"""The global options."""

import json
from typing import Any

import pytest

from ledger.cli.shell import DEFAULT_CATALOG, DEFAULT_DB, Shell
from tests.cli.running import ask


def seen(*arguments: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(ask(*arguments, "--json", env=env).stdout)["data"]
    return data


@pytest.mark.parametrize(
    ("arguments", "env", "db", "given"),
    [
        (["say-hello"], {}, DEFAULT_DB, ["json"]),
        (["say-hello"], {"LEDGER_DB": "sqlite:///env.db"}, "sqlite:///env.db", ["json"]),
        (["say-hello"], {"LEDGER_DB": ""}, DEFAULT_DB, ["json"]),
        (["--db", "sqlite:///a.db", "say-hello"], {"LEDGER_DB": "sqlite:///env.db"}, "sqlite:///a.db", ["db", "json"]),
        (["say-hello", "--db", "sqlite:///b.db"], {"LEDGER_DB": "sqlite:///env.db"}, "sqlite:///b.db", ["db", "json"]),
        (["--db", "sqlite:///a.db", "say-hello", "--db", "sqlite:///b.db"], {}, "sqlite:///b.db", ["db", "json"]),
    ],
)
def test_the_nearest_db_wins(arguments: list[str], env: dict[str, str], db: str, given: list[str]) -> None:
    """The command's own option beats the root's, the option the environment, that the default."""
    found = seen(*arguments, env=env)
    assert (found["db"], found["given"]) == (db, given)


def test_the_catalog_is_found_alike() -> None:
    """The catalog comes from the option, else LEDGER_CATALOG, else the default."""
    assert seen("say-hello")["catalog"] == DEFAULT_CATALOG
    assert seen("say-hello", env={"LEDGER_CATALOG": "c"})["catalog"] == "c"
    assert seen("say-hello", "--catalog", "d", env={"LEDGER_CATALOG": "c"})["catalog"] == "d"


@pytest.mark.parametrize(
    "arguments", [["--json", "thing", "show", "1"], ["thing", "--json", "show", "1"], ["thing", "show", "1", "--json"]]
)
def test_json_may_stand_anywhere(arguments: list[str]) -> None:
    """The global options are taken before and after noun and command."""
    assert json.loads(ask(*arguments).stdout)["data"]["number"] == 1


def test_a_shell_has_a_door() -> None:
    """Each run's door obeys its options."""
    assert not Shell(no_color=True).out._color_out
