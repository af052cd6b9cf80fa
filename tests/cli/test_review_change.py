"""`ledger review show` of a call that a change of its tool's meaning stopped."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ask, Ledger
from ledger.testing import crash
from ledger.testing.empty import open_fresh
from tests.catalog.shelf import Shelf
from tests.cli.running import data, ledger
from tests.recovery.deploys import ASKS, Deploy


@pytest.fixture(scope="module")
def deploy(tmp_path_factory: pytest.TempPathFactory) -> Deploy:
    """A call of version 1 that version 3 stopped at version 2."""
    found = Deploy(tmp_path_factory.mktemp("deploy"))
    found.policy = lambda call, principal: Allow()
    found.first(crash.after("call.proposed"))
    found.write(3)
    found.open(3).session("s").messages()
    found.close()
    return found


def page(deploy: Deploy, monkeypatch: pytest.MonkeyPatch, **upcast: Any) -> tuple[Any, str]:
    """Return the page for programs and for people, with this file for the step."""
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    file = Path("catalog/charge/v2-v3.upcast.json")
    file.write_text(json.dumps({key: value for key, value in (ASKS | upcast).items() if value is not None}))
    [row] = data("audit", "calls")
    return data("review", "show", row["callId"]), ledger("review", "show", row["callId"]).stdout


def test_what_is_carried_and_what_is_asked(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both stand on the page, and the command to copy holds what is carried, with null for what is asked."""
    found, shown = page(deploy, monkeypatch)
    assert found["upcast"] == {
        "reached": 2,
        "to": 3,
        "why": "A currency has to be named now.",
        "draft": {"amount": 5},
        "ask": [{"pointer": "/currency", "question": "Which currency?"}],
    }
    assert "What is carried to v3\n  amount  5\n" in shown
    assert "What is asked\n  - /currency: Which currency?\n" in shown
    assert '--arguments \'{"amount": 5, "currency": null}\'' in shown
    assert "put your answers where it says null" in shown


def test_nothing_is_asked(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that only says why: there is no question, and the person writes all."""
    found, shown = page(deploy, monkeypatch, carry=None, ask=None)
    assert (found["upcast"]["draft"], found["upcast"]["ask"]) == ({}, [])
    assert "What is carried to v3\n  nothing\n" in shown
    assert "What is asked" not in shown
    assert "put your answers" not in shown


def test_the_operations_do_not_go_through(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be drafted is not: the questions stand alone."""
    found, shown = page(deploy, monkeypatch, ops=[{"op": "map_values", "path": "/amount", "values": {"a": "b"}}])
    assert found["upcast"]["draft"] is None
    assert "What is carried" not in shown
    assert "--arguments '{...}'" in shown


def test_no_file_describes_the_step(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the catalog there is nothing to draft by, and the page has no such part."""
    page(deploy, monkeypatch)
    monkeypatch.setenv("LEDGER_CATALOG", "schemas/tools")
    [row] = data("audit", "calls")
    found = data("review", "show", row["callId"])
    assert found["upcast"] == {"reached": 2, "to": None, "why": None, "draft": None, "ask": []}
    shown = ledger("review", "show", row["callId"]).stdout
    assert "carried to" not in shown
    assert "--arguments '{...}'" in shown


def test_what_a_person_sent_again_and_a_change_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was started once: the page says whose word it is that nothing happened, and not that it never started."""
    deploy = Deploy(tmp_path)
    call_id = deploy.first(crash.after("call.started")).call_id
    again = deploy.open(1)
    again.session("s").messages()
    again.resolve(call_id, "did-not-happen", run=True, by="ada")
    deploy.write(3)
    deploy.open(3).session("s").messages()
    deploy.close()
    monkeypatch.chdir(tmp_path)
    shown = ledger("review", "show", call_id).stdout
    assert "A person said that it did not happen; it has not been sent again: " in shown
    assert "Arguments that would run\n  amount  5\n" in shown
    assert "It never started" not in shown


def test_an_approval_that_will_not_run_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a person says yes they read why that is not enough, what is asked next, and a command that answers it."""
    deploy = Deploy(tmp_path)
    deploy.policy = lambda call, principal: Ask(who=["ada"])
    call_id = deploy.first().call_id
    deploy.close()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    words = 'is current in the catalog here, and the meaning changed: "A currency has to be named now."'
    assert data("review", "show", call_id)["ifApproved"] is None
    deploy.write(3)
    shown = ledger("review", "show", call_id).stdout
    assert f"Approving it will not run it as it is: version 3 of charge {words}" in shown
    assert "it is put to a person once more, who is asked: Which currency?" in shown
    assert "What is carried to v3\n  amount  5\n" in shown
    assert '--arguments \'{"amount": 5, "currency": null}\' --by ada' in shown
    assert "      allow exactly these arguments, which run only where their version still does\n" in shown
    ledger("review", "approve", call_id, "--by", "ada")
    assert data("review", "show", call_id)["ifApproved"] is None


LAPSES = "A verdict with --run will not run it as it is: version 2 of charge is current in the catalog here"


@pytest.mark.parametrize(
    ("point", "verdict"),
    [("call.proposed", ["--run"]), ("call.started", ["--did-not-happen", "--run"])],
    ids=["never ran", "in doubt"],
)
def test_a_verdict_that_lapses_once_the_call_is_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: Any, verdict: list[str]
) -> None:
    """Where the commands stand a person reads it beforehand, and it is so: a resume asks them anew in the new form."""
    deploy = Deploy(tmp_path)
    deploy.policy = lambda call, principal: Allow()
    call_id = deploy.first(crash.after(point)).call_id
    deploy.open(1).session("s").messages()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    assert data("review", "show", call_id)["ifApproved"] is None
    deploy.write(2)
    found = data("review", "show", call_id)
    assert found["ifApproved"].startswith(LAPSES)
    meanings = {each["command"].partition(call_id[-8:])[2].strip(): each["meaning"] for each in found["commands"]}
    assert "is asked about anew elsewhere" in meanings.pop(" ".join(verdict))
    assert not any("elsewhere" in meaning for meaning in meanings.values())
    assert LAPSES in ledger("review", "show", call_id).stdout
    ledger("review", "resolve", call_id, *verdict, "--by", "ada")
    newer = deploy.open(2)
    newer.session("s").messages()
    call = newer.find(call_id)
    assert (call.state, call.reason, call.schema_version) == ("needs-review", "approval-mismatch", 2)
    deploy.close()
    assert data("review", "show", call_id)["ifApproved"] is None  # of the new form it holds
    for page in (ledger("review", "show", call_id).stdout, ledger("audit", "call", call_id).stdout):
        assert " ada, which does not hold any more\n" in page


def test_a_call_that_is_carried_first_runs_by_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page offers to carry it; it is then asked about in the form that runs."""
    deploy = Deploy(tmp_path)
    deploy.policy = lambda call, principal: Allow()
    call_id = deploy.first(crash.after("call.proposed")).call_id
    deploy.open(1).session("s").messages()
    deploy.close()
    deploy.write(2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    [carry, *_] = data("review", "show", call_id)["commands"]
    assert carry["command"] == "ledger migrate-schemas --tool charge --apply"
    assert ledger(*carry["command"].split()[1:]).exit_code == 0
    assert data("review", "show", call_id)["ifApproved"] is None
    ledger("review", "resolve", call_id, "--run", "--by", "ada")
    newer = deploy.open(2)
    newer.session("s").messages()
    assert (newer.find(call_id).state, deploy.effects) == ("succeeded", [(2, 5)])
    deploy.close()


def test_a_verdict_that_goes_along_is_no_reason_to_warn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file says that an approval holds for the new form: the page offers the command as ever."""
    deploy = Deploy(tmp_path)
    deploy.policy = lambda call, principal: Allow()
    call_id = deploy.first(crash.after("call.proposed")).call_id
    deploy.open(1).session("s").messages()
    deploy.close()
    deploy.write(2, keepsApproval=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    found = data("review", "show", call_id)
    assert (found["ifApproved"], found["commands"][0]["meaning"]) == (None, "let it run now")


def test_what_is_there_instead_of_a_retired_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that was left behind: the page names the replacements, and no answer maps the call onto them."""
    shelf = Shelf(tmp_path / "schemas/tools")
    external = {"1": {"contract": {"effect": "external"}}}
    for name in ("deploy", "prepare", "publish"):
        shelf.tool(name, versions=external)

    def host() -> Ledger:
        found = open_fresh(tmp_path, catalog=str(shelf.root))
        found.tool("deploy")(lambda path: path)
        return found

    with host() as first:
        first.session("s").propose("deploy", {"path": "a"})
    instead = [{"tool": "prepare", "when": "first", "example": {"path": "a"}}, {"tool": "publish"}]
    shelf.edit("deploy/tool.json", stage="compat", retirement={"replacements": instead})
    with host() as second:
        second.session("s").messages()
    monkeypatch.chdir(tmp_path)
    [row] = data("review")
    found = data("review", "show", row["callId"])
    assert (found["reason"], found["instead"]) == (
        "tool-retired",
        [instead[0], {"tool": "publish", "when": None, "example": None}],
    )
    shown = ledger("review", "show", row["callId"]).stdout
    assert "What is there instead of the tool\n  - prepare: first\n  - publish\n" in shown
    assert "--run" not in " ".join(each["command"] for each in found["commands"])
    monkeypatch.setenv("LEDGER_CATALOG", str(tmp_path / "empty"))
    (tmp_path / "empty").mkdir()
    assert data("review", "show", row["callId"])["instead"] == []
