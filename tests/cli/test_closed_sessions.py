"""`ledger review show` of what a closed session left to a person."""

from pathlib import Path

import pytest

from ledger import Ask
from ledger.testing import crash
from tests.cli.running import data, ledger
from tests.recovery.deploys import Deploy
from tests.session.agents import asked


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with two closed sessions: of one a call is in doubt, of the other one waits for approval."""
    deploy = Deploy(tmp_path_factory.mktemp("closed"))
    deploy.first(crash.after("call.started"))
    deploy.policy = lambda call, principal: Ask()
    program = deploy.open(1)
    program.session("asked").dispatch(asked(("charge", {"amt": 6})))
    for name in ("s", "asked"):
        session = program.session(name)
        session.resume()
        session.close("aborted")
    deploy.close()
    return deploy.folder


def test_no_command_is_offered_that_is_refused(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a closed session runs any more: the page says so, and each verdict that it offers is taken."""
    monkeypatch.chdir(left)
    closed = "Its session is closed: nothing of it runs any more.\n"
    offered = {}
    for row in data("review"):
        page = data("review", "show", row["callId"])
        assert page["sessionClosed"]
        assert closed in ledger("review", "show", row["callId"]).stdout
        verbs = [each["command"].replace(row["callId"][-8:], "ID") for each in page["commands"]]
        offered[row["sessionId"]] = [verb.removeprefix("ledger review ") for verb in verbs]
    assert offered == {
        "s": ["resolve ID --happened", "resolve ID --did-not-happen", "resolve ID --abandon", "note ID TEXT"],
        "asked": ["deny ID", "note ID TEXT"],
    }
    for row in data("review"):
        answer = ("deny",) if row["sessionId"] == "asked" else ("resolve", "--did-not-happen")
        assert ledger("review", *answer, row["callId"]).exit_code == 0
        settled = ledger("review", "show", row["callId"]).stdout
        assert (closed in settled, "It asks nothing of anybody." in settled) == (False, True)
