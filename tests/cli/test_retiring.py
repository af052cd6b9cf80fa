"""`ledger tool retire`: the file changes, where the ledger's open calls and sessions allow it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ask
from ledger.testing.empty import open_fresh
from tests.catalog.shelf import SCHEMA, Shelf
from tests.cli.running import data, failure, ledger
from tests.session.agents import asked

RETIRE = ("tool", "retire", "search_code", "--stage")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger in which sessions know a tool: by an open call, by an offer alone, by a finished call; one closed."""
    folder = tmp_path_factory.mktemp("lived")
    shelf = Shelf(folder / "schemas/tools")
    for name in ("search_code", "grep"):
        shelf.tool(name)
    with open_fresh(folder, catalog=str(shelf.root)) as host:

        @host.tool("search_code")
        def search_code(path: str) -> str:
            """Look at search_code."""
            return path

        host.authorize(lambda call, principal: Ask() if call.arguments["path"] == "ask" else Allow())
        for name, path in (("asks", "ask"), ("did", "a"), ("offered", None), ("over", "a"), ("stopped", "ask")):
            with host.session(name) as session:
                session.tools()
                asks = [("search_code", {"path": path})] * (2 if name == "stopped" else 1)
                session.dispatch(asked(*asks) if path else asked(text="No."))
                if name in ("over", "stopped"):
                    session.close("aborted")
        with host.session("knows nothing") as session:
            session.dispatch(asked(text="No."))
    return folder


@pytest.fixture
def here(lived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """The current folder: the catalog for this test alone, and the ledger."""
    for file in lived.rglob("*"):
        target = tmp_path / file.relative_to(lived)
        if file.is_dir():
            target.mkdir(exist_ok=True)
        else:
            target.write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return Shelf(tmp_path / "schemas/tools")


def file_of(shelf: Shelf) -> Any:
    return json.loads((shelf.root / "search_code/tool.json").read_text(encoding="utf-8"))


def test_hidden_then_compat(here: Shelf) -> None:
    """Stage by stage it goes on with open calls; the page says what that means and what comes next."""
    said = ("--use", "grep", "--when", "grep=the text is known", "--example", 'grep={"path": "a"}', "--hint", "Use it.")
    done = ledger(*RETIRE, "hidden", *said)
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        [
            "search_code is hidden now (was active).",
            "New sessions are not offered it; those that had it keep it, and its calls run as before.",
            "  instead  grep: the text is known",
            "1 call of it not ended yet: `ledger resume` goes by the new stage.",
            "written  schemas/tools/search_code/tool.json",
            "What may follow:",
            "  ledger tool check",
            "  ledger tool retire search_code --stage compat",
        ],
    )
    assert file_of(here)["retirement"] == {
        "replacements": [{"tool": "grep", "when": "the text is known", "example": {"path": "a"}}],
        "hint": "Use it.",
    }
    found = data(*RETIRE, "compat")
    assert (found["from"], found["stage"], found["openCalls"], found["written"]) == ("hidden", "compat", 1, True)
    assert (file_of(here)["stage"], found["hint"], found["replacements"][0]["tool"]) == ("compat", "Use it.", "grep")
    assert here.report().findings == ()


def test_a_stage_is_not_skipped_while_calls_are_open(here: Shelf) -> None:
    """The refusal names them and the next step, and nothing is written; a closed session's calls do not count."""
    before = file_of(here)
    status, code, message = failure(*RETIRE, "compat")
    [row] = data("audit", "calls", "--session", "asks")
    assert (status, code) == (1, "open_calls")
    assert message == f"1 call of search_code is open, and hidden would be skipped: {row['callId']}"
    assert "--stage hidden" in ledger(*RETIRE, "removed").stderr
    assert file_of(here) == before
    assert ledger("review", "deny", row["callId"], "--by", "ada").exit_code == 0
    assert ledger(*RETIRE, "compat").exit_code == 0


def test_it_is_not_removed_while_open_sessions_know_it(here: Shelf) -> None:
    """By a call, or by an offer alone; the list names them. Closed, or quiet for longer than the retention, is over."""
    here.edit("search_code/tool.json", stage="compat")
    assert failure(*RETIRE, "removed") == (
        1,
        "known_by_sessions",
        "3 open sessions know search_code: asks, did, offered",
    )
    message = failure(*RETIRE, "removed", "--retention-days", "30")[2]
    assert message == "3 open sessions know search_code and lived in the last 30 days: asks, did, offered"
    for name in ("asks", "did"):
        assert ledger("session", "close", name).exit_code == 0
    assert failure(*RETIRE, "removed")[2] == "1 open session knows search_code: offered"
    assert ledger("session", "close", "offered").exit_code == 0
    done = data(*RETIRE, "removed")
    assert (done["stage"], done["openCalls"], len(done["next"])) == ("removed", 0, 1)
    assert failure(*RETIRE, "hidden")[1] == "tool_removed"


def test_the_retention_counts_from_the_sessions_last_event(here: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """After that long an open session keeps nothing any more."""

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Later":
            del tz
            return cls(2200, 1, 1, tzinfo=UTC)

    here.edit("search_code/tool.json", stage="compat", retirement={"retentionDays": 30})
    assert failure(*RETIRE, "removed")[1] == "known_by_sessions"
    monkeypatch.setattr("ledger.cli.retiring.datetime", Later)
    assert ledger(*RETIRE, "removed").exit_code == 0


def test_many_sessions_are_counted_and_some_are_named(here: Shelf, tmp_path: Path) -> None:
    """Ten names are enough to see what it is about."""
    here.edit("search_code/tool.json", stage="compat")
    with open_fresh(tmp_path, catalog=str(here.root)) as host:
        host.tool("grep")(lambda path: path)
        for number in range(12):
            with host.session(f"s{number:02}") as session:
                session.call("search_code", {"path": "a"})
    message = failure(*RETIRE, "removed")[2]
    assert message.startswith("15 open sessions know search_code: asks, did, offered, s00, ")
    assert message.endswith(", s06 and 5 more")


def test_without_a_ledger(shelf_alone: Shelf) -> None:
    """The file changes, and the page says that nobody looked; a ledger that was named must be there."""
    done = ledger(*RETIRE, "removed", "--no-replacement")
    assert (done.exit_code, file_of(shelf_alone)["stage"]) == (0, "removed")
    assert "No ledger was looked at: open calls and sessions are not known here." in done.stdout
    assert failure("--db", "sqlite:///none.db", *RETIRE, "removed")[1] == "no_database"


@pytest.fixture
def shelf_alone(empty: Path) -> Shelf:
    """A catalog in the current folder, without a ledger."""
    shelf = Shelf(empty / "schemas/tools")
    for name in ("search_code", "grep"):
        shelf.tool(name)
    return shelf


def test_a_dry_run_writes_nothing_and_nothing_is_written_twice(shelf_alone: Shelf) -> None:
    """What is asked for and is there already leaves the file alone."""
    before = file_of(shelf_alone)
    done = ledger(*RETIRE, "hidden", "--use", "grep", "--dry-run")
    assert done.stdout.splitlines()[0] == "search_code: hidden (was active)."
    assert "Nothing is written." in done.stdout
    assert file_of(shelf_alone) == before
    assert data(*RETIRE, "hidden", "--use", "grep")["written"] is True
    again = ledger(*RETIRE, "hidden", "--use", "grep")
    assert again.stdout == "search_code is hidden already, as it is asked for: nothing to write.\n"


def test_a_whole_replacement(shelf_alone: Shelf) -> None:
    """As one JSON object: so that one tool can stand twice, for two parts."""
    first, second = ({"tool": "grep", "when": when, "example": {"path": when}} for when in ("a", "b"))
    done = data(*RETIRE, "hidden", "--use", json.dumps(first), "--use", json.dumps(second))
    assert done["replacements"] == [first, second]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--use", "grep", "--no-replacement"], "usage"),
        (["--use", "{}"], "usage"),
        (["--use", '{"tool": "grep", "until": 1}'], "usage"),
        (["--use", '{"tool": "grep", "when": 1}'], "usage"),
        (["--use", "{"], "usage"),
        (["--when", "grep"], "usage"),
        (["--when", "grep= "], "usage"),
        (["--when", "=a"], "usage"),
        (["--use", "grep", "--when", "glob=a"], "usage"),
        (["--use", "grep", "--example", "grep={"], "usage"),
        (["--retention-days", "0"], "usage"),
        (["--use", "rg"], "bad_replacement"),
    ],
)
def test_what_does_not_fit_together(shelf_alone: Shelf, options: list[str], code: str) -> None:
    """It is refused, and nothing is written."""
    before = file_of(shelf_alone)
    assert failure(*RETIRE, "hidden", *options)[1] == code
    assert file_of(shelf_alone) == before


def test_a_tool_that_is_not_there(shelf_alone: Shelf) -> None:
    """The names that are near, or where to look; one with a fault is told with its place."""
    assert failure("tool", "retire", "search_cod", "--stage", "hidden")[:2] == (1, "unknown_tool")
    assert "Did you mean search_code?" in ledger("tool", "retire", "search_cod", "--stage", "hidden").stderr
    assert "See `ledger tool list`." in ledger("tool", "retire", "x", "--stage", "hidden").stderr
    shelf_alone.write("other/tool.json", "{}")
    shelf_alone.write("another/tool.json", "{}")
    assert failure("tool", "retire", "other", "--stage", "hidden")[1] == "catalog_fault"


def test_calls_of_the_old_name_hold_a_renamed_tool(here: Shelf) -> None:
    """They are its calls: no stage is skipped while they are open, and the sessions that know it count."""
    (here.root / "search_code").rename(here.root / "find_code")
    here.tool("find_code", schemas=(SCHEMA, SCHEMA), reserved=["search_code"])
    names = {"op": "rename_tool", "from": "search_code", "to": "find_code"}
    step = {"tool": "find_code", "from": 1, "to": 2, "assertedBy": "ada", "ops": [names]}
    here.write("find_code/v1-v2.upcast.json", step)
    assert failure("tool", "retire", "find_code", "--stage", "compat")[:2] == (1, "open_calls")
    for stage in ("hidden", "compat"):
        assert data("tool", "retire", "find_code", "--stage", stage)["openCalls"] == 1
    assert failure("tool", "retire", "find_code", "--stage", "removed")[:2] == (1, "known_by_sessions")
