"""The command `init`, and the project that it makes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.catalog import load_catalog
from tests.cli.running import ROOT, data, failure, ledger
from tests.helpers.counting import untraced

META = [f"schemas/meta/{file.name}" for file in sorted((ROOT / "schemas/meta").iterdir())]
FILES = [
    "app.py",
    "schemas/tools/catalog.json",
    "schemas/tools/add_note/tool.json",
    "schemas/tools/add_note/v1.json",
    *META,
]


def test_a_project_is_made(empty: Path) -> None:
    """A program, a catalog that is in order, and an empty database; what to try comes with it."""
    made = data("init")
    assert (made["made"], made["kept"]) == ([*FILES, "ledger.db"], [])
    catalog = load_catalog("schemas/tools")
    assert (list(catalog.tools), catalog.faults) == (["add_note"], ())
    assert data("session", "list") == []
    assert made["next"][0]["command"] == "python app.py"
    assert all(len(line) < 120 for line in Path("app.py").read_text().splitlines())


def test_its_catalog_is_checked_and_completed_by_editors(empty: Path) -> None:
    """Each file names a meta-schema that is there; a check has nothing to say once it is locked."""
    ledger("init")
    assert [each["code"] for each in data("tool", "check")["warnings"]] == ["not_locked"]
    ledger("tool", "lock")
    assert ledger("tool", "check", "--strict").exit_code == 0
    for file in ("catalog.json", "catalog.lock.json", "add_note/tool.json"):
        path = Path("schemas/tools", file)
        named = path.parent / json.loads(path.read_text())["$schema"]
        assert named.resolve().parent == empty / "schemas/meta"
        assert named.is_file()


def test_nothing_is_overwritten(empty: Path) -> None:
    """What is there already stays as it is; what is missing is made."""
    Path("app.py").write_text("mine")
    result = ledger("init")
    assert "kept  app.py\nmade  schemas" not in result.stdout
    assert "made  schemas/tools/catalog.json\n" in result.stdout
    assert "kept  app.py\n" in result.stdout
    assert Path("app.py").read_text() == "mine"
    assert data("init")["kept"] == [*FILES, "ledger.db"]


def test_a_project_in_another_folder(empty: Path) -> None:
    """Everything lies in the folder that is named, the database too."""
    made = data("init", "deep/er")
    assert sorted(path.name for path in Path("deep/er").iterdir()) == [
        "app.py",
        "ledger.db",
        "ledger.db.lock",
        "schemas",
    ]
    assert (made["folder"], made["next"][0]["command"]) == (str(empty / "deep" / "er"), "cd deep/er")


def test_names_of_ones_own(empty: Path) -> None:
    """The program knows the database and the catalog that were named."""
    data("init", "p", "--db", f"sqlite:///{empty}/else.db", "--catalog", "tools")
    source = Path("p/app.py").read_text()
    assert f'Ledger.open("sqlite:///{empty}/else.db", catalog="tools")' in source
    assert (Path("else.db").is_file(), Path("p/tools/add_note").is_dir()) == (True, True)


@pytest.mark.parametrize("url", ["memory://", "postgresql://h/db"])
def test_a_database_that_cannot_be_made(empty: Path, url: str) -> None:
    """Nothing is made where the database cannot be."""
    assert failure("init", "p", "--db", url)[:2] == (2, "usage")
    assert not Path("p/app.py").exists()


def test_the_project_is_a_tour(empty: Path) -> None:
    """As the next steps say: it runs, waits for a person, is approved, resumed, carried to its end and replayed."""
    env = untraced() | {"PYTHONPATH": str(ROOT)}

    def python(*arguments: str) -> str:
        done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=True)
        return done.stdout

    ledger("init")
    assert python("app.py") == "A call waits for a person. Look at it: ledger review\n"
    assert python("app.py") == "A call waits for a person. Look at it: ledger review\n"  # it asks the model nothing
    (row,) = data("review", "list")
    assert data("review", "show", row["callId"])["runbook"] == "Look whether notes.txt ends with milk."
    ledger("review", "approve", row["callId"])
    resumed = json.loads(python("-m", "ledger", "resume", "first", "--app", "app:ledger", "--json"))
    assert [each["state"] for each in resumed["data"]["decisions"]] == ["succeeded"]
    assert Path("notes.txt").read_text() == "milk\n"
    assert python("app.py") == "Done.\n"
    assert data("replay", "session", "first")["closed"]["reason"] == "final_answer"


def test_the_databases_folder_is_made_too(empty: Path) -> None:
    """A project may keep its ledger in a folder of its own; the other commands make none."""
    made = data("init", "project", "--db", "sqlite:///data/agent.db")
    assert "data/agent.db" in made["made"]
    assert (empty / "project" / "data" / "agent.db").exists()
    assert failure("db", "upgrade", "--db", "sqlite:///data/agent.db")[1:] == (
        "store_unavailable",
        f"the ledger's folder {empty}/data does not exist",
    )


def test_what_to_try_names_what_was_named(empty: Path) -> None:
    """The steps work when pasted: with the ledger and the catalog of the line, except where the program brings them."""
    made = data("init", "--db", "sqlite:///my.db", "--catalog", "tools")
    lines = [step["command"] for step in made["next"]]
    assert "ledger review --db sqlite:///my.db --catalog tools" in lines
    assert "ledger resume first --app app:ledger" in lines
    assert "ledger review --db sqlite:///my.db --catalog tools" in (empty / "app.py").read_text()
    plain = [step["command"] for step in data("init", "my project")["next"]]
    assert plain[:3] == ["cd 'my project'", "python app.py", "ledger review"]
