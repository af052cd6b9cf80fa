"""`ledger review` of a call that waits as it may repeat another one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import data, ledger
from tests.recovery.deploys import Deploy
from tests.session.agents import asked

EURO = {"amount": 5, "currency": "EUR"}


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A call of version 1 in doubt, and one of version 3 that may repeat it; the folder and the ids of both."""
    from ledger.testing import crash

    deploy = Deploy(tmp_path_factory.mktemp("beside"))
    first = deploy.first(crash.after("call.started")).call_id
    deploy.write(3)
    session = deploy.open(3).session("s")
    session.messages()
    second = session.dispatch(asked(("charge", EURO))).calls[0].call.call_id
    deploy.close()
    return deploy.folder, first, second


@pytest.fixture
def here(beside: tuple[Path, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The current folder, with a copy of that ledger and without its catalog; the ids of both calls."""
    shutil.copytree(beside[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return beside[1:]


def asks(call_id: str) -> Any:
    return data("review", "show", call_id)["question"]


@pytest.mark.parametrize(
    ("verdict", "now"),
    [
        ((), "That one is still in doubt: settle it first; shall this one run beside it?"),
        (("--happened",), "That one happened (says ada). Running this one would do it once more."),
        (("--did-not-happen",), "That one did not happen (says ada). Shall this one run?"),
        (
            ("--did-not-happen", "--run"),
            "That one did not happen so far, and may still run: settle it first; shall this one run beside it?",
        ),
        (("--abandon",), "That one has ended (abandoned), and nobody knows whether it happened. Shall this one run?"),
    ],
)
def test_the_question_says_how_the_other_call_stands_now(here: tuple[str, str], verdict: Any, now: str) -> None:
    """A verdict on the one is seen on the page of the other, and not what was so when that was flagged."""
    first, second = here
    if verdict:
        ledger("review", "resolve", first, *verdict, "--by", "ada")
    assert asks(second).endswith(now)
    assert data("review", "show", second)["commands"][0]["command"] == f"ledger review show {first}"


@pytest.mark.parametrize(
    ("verdict", "standing"),
    [
        ("--happened", "happened (says ada)"),
        ("--did-not-happen", "did not happen (says ada)"),
        ("--abandon", "has ended (abandoned), and nobody knows whether it happened"),
    ],
)
def test_who_settles_a_call_hears_which_one_still_waits_for_it(
    here: tuple[str, str], verdict: str, standing: str
) -> None:
    """The other call may repeat it: it is named, with what is known now and the command that shows it."""
    first, second = here
    told = ledger("review", "resolve", first, verdict, "--by", "ada")
    words = (
        f"Call {second[-8:]} still waits: it may repeat this one, which {standing}: ledger review show {second[-8:]}"
    )
    assert words in told.stdout
    assert "still waits" not in ledger("review", "note", first, "Asked the bank.").stdout


def test_a_program_gets_the_same(here: tuple[str, str]) -> None:
    """`heldBack` are the ids; nothing is held back by a call that is not settled, or that nobody repeats."""
    first, second = here
    assert data("review", "resolve", first, "--happened")["heldBack"] == [second]
    assert data("review", "note", first, "Asked the bank.")["heldBack"] == []
    assert data("review", "resolve", second, "--abandon")["heldBack"] == []


@pytest.mark.parametrize("happened", [True, False])
def test_to_run_what_repeats_something_that_happened_is_warned_of(here: tuple[str, str], happened: bool) -> None:
    """It is a person's word, so it is taken; the warning says who said that the other one happened."""
    first, second = here
    ledger("review", "resolve", first, "--happened" if happened else "--did-not-happen", "--by", "ada")
    told = ledger("review", "resolve", second, "--run")
    words = (
        f"Warning: call {first[-8:]}, which this one may repeat, happened (says ada): running this one would do it once"
    )
    assert (told.exit_code, words in told.stderr) == (0, happened)
    assert "Warning" not in ledger("review", "note", second, "Yes, once more.").stderr


def test_other_arguments_beside_something_that_happened_are_warned_of(here: tuple[str, str]) -> None:
    """The new call stands for one that may repeat it, though it may be on another amount."""
    first, second = here
    ledger("review", "resolve", first, "--happened", "--by", "ada")
    told = ledger("review", "resolve", second, "--arguments", '{"amount": 7, "currency": "EUR"}')
    words = f"Warning: call {first[-8:]}, which the old one may repeat, happened (says ada): the new one runs beside it"
    assert (told.exit_code, words in told.stderr) == (0, True)


@pytest.mark.parametrize(("folder", "told"), [("catalog", True), ("schemas/tools", False)])
def test_how_two_versions_compare_is_told_where_a_file_says_it(
    here: tuple[str, str], monkeypatch: pytest.MonkeyPatch, folder: str, told: bool
) -> None:
    """The file's words and what it carries stand in the question; without the catalog nothing says how they compare."""
    monkeypatch.setenv("LEDGER_CATALOG", folder)
    words = (
        'the meaning changed between the versions: "A currency has to be named now.",'
        " and what is carried is the same in both: /amount. That one is still in doubt"
    )
    asked = asks(here[1])
    assert (words in asked, "nothing says how the two versions compare" in asked) == (told, not told)


def test_what_took_the_place_of_the_other_call_counts(here: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A person replaced the call in doubt, and that one was done: the page and the verdicts say so of the second."""
    first, second = here
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    ledger("review", "resolve", first, "--did-not-happen", "--arguments", json.dumps(EURO), "--by", "ada")
    [heir] = [row["callId"] for row in data("audit", "calls") if row["state"] == "authorized"]
    assert asks(second).endswith("may still run: settle it first; shall this one run beside it?")
    deploy = Deploy(Path.cwd())
    deploy.open(3).session("s").messages()
    deploy.close()
    assert deploy.effects == [(3, (5, "EUR"))]
    assert asks(second).endswith(
        f"That one did not happen; call {heir} took its place, which happened. Running this one would do it once more."
    )
    assert "running this one would do it once more" in ledger("review", "resolve", second, "--run").stderr
