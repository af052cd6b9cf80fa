"""System E: search_code and deploy go through all stages, beside an old transcript and a deployment left behind."""

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from examples.retirement.__main__ import INSTEAD, OLD, PENDING, Shop, ask, offered, story
from examples.retirement.tools import APPROVER
from ledger import Ledger
from ledger.catalog import load_catalog
from ledger.events import ToolStageChanged, read_event
from ledger.providers.answer import answer
from ledger.providers.formats import FORMATS, get_format
from ledger.replay import replay_json, replay_messages
from tests.examples.running import shown


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shop, str]:
    """The program after all stages, and what the example printed on the way."""
    with redirect_stdout(io.StringIO()) as out:
        shop = story(tmp_path_factory.mktemp("retirement"))
    return shop, out.getvalue()


@pytest.fixture(scope="module")
def ledger(told: tuple[Shop, str]) -> Iterator[Ledger]:
    with told[0].program() as found:
        yield found


def started(ledger: Ledger, tool: str) -> list[str]:
    """The sessions in which a tool was started here, once for each start."""
    return [row["sessionId"] for row in ledger.events(types=["call.started"], tool=tool)]


def test_the_readme_shows_what_it_prints(told: tuple[Shop, str]) -> None:
    """The example runs, and prints what its README shows."""
    assert told[1] == shown("retirement")


def test_a_deployment_is_never_mapped_past_the_approval(told: tuple[Shop, str], ledger: Ledger) -> None:
    """Nothing was deployed in any stage; what is public was prepared and approved by a person, and ran once."""
    assert started(ledger, "deploy") == []
    assert started(ledger, "publish_release") == [OLD]
    [call] = ledger.calls(session=OLD, tool="publish_release")
    assert ledger.find(str(call["callId"])).approval.person == APPROVER  # type: ignore[union-attr]  # it was approved
    assert told[0].releases.public() == {"site": "1.5.0"}
    [left] = ledger.calls(session=PENDING)
    assert (left["tool"], left["state"], left["reason"]) == ("deploy", "abandoned", "tool-retired")


def test_a_search_runs_until_the_tool_is_removed(ledger: Ledger) -> None:
    """Once in stage hidden and once in compat, in the session that knew it; never after that."""
    assert started(ledger, "search_code") == [OLD, OLD]
    assert {row["code"] for row in ledger.calls(session="new in removed")} == {"tool_retired"}


def test_the_model_is_told_what_is_there_instead(ledger: Ledger) -> None:
    """What, for which part, an example that is a call of it, a hint, and to use it: beside data, and alone."""
    in_old = [ledger.find(str(row["callId"])) for row in ledger.calls(session=OLD, tool="search_code")]
    imported, hidden, compat = map(answer, in_old)
    assert "replacement" not in imported | hidden
    assert (compat["data"], compat["replacement"]) == (hidden["data"], INSTEAD["search_code"])
    assert (compat["hint"], compat["next"]) == ("One search became two.", "none")
    [removed] = ledger.calls(session="new in removed", tool="deploy")
    alone = answer(ledger.find(str(removed["callId"])))
    assert alone["replacement"] == INSTEAD["deploy"]
    assert (alone["status"], alone["next"]) == ("retired", "use_replacement")


def test_new_sessions_never_see_them(ledger: Ledger) -> None:
    """Neither of the old tools is offered, even by name; the new ones are."""
    assert offered(ledger, "new again") == {"grep", "glob", "prepare_release", "publish_release"}
    assert ledger.session("new again").tools(only=["search_code", "grep"])[0]["function"]["name"] == "grep"


def test_the_old_transcript_is_told_in_every_format(ledger: Ledger) -> None:
    """With the tools removed, each format tells the session, and the calls of then are as they were."""
    document = json.loads("".join(replay_json(ledger.reader, OLD)))
    search, deploy = (turn["calls"][0] for turn in document["turns"][:2])
    assert (search["arguments"]["query"], search["state"]) == ("def page_of", "succeeded")
    assert (deploy["arguments"], deploy["state"]) == ({"service": "site", "version": "1.4.0"}, "succeeded")
    for name in FORMATS:
        assert any("1.4.0" in json.dumps(each) for each in replay_messages(ledger.reader, OLD, get_format(name)))


def test_the_ledger_knows_the_stages_by_itself(told: tuple[Shop, str], ledger: Ledger) -> None:
    """Each stage of each tool is recorded once, with what is there instead; and the files are all still there."""
    events = [read_event(row.record) for row in ledger.reader.read("_catalog", limit=1000)]
    stages = [(event.tool, event.body.stage) for event in events if isinstance(event.body, ToolStageChanged)]
    assert stages == [(tool, stage) for stage in ("hidden", "compat", "removed") for tool in ("deploy", "search_code")]
    catalog = load_catalog(told[0].catalog)
    assert catalog.faults == ()
    assert {tool: sorted(catalog.tools[tool].versions) for tool in INSTEAD} == {"search_code": [1], "deploy": [1]}


def test_audit_compares_two_wordings(ledger: Ledger) -> None:
    """How often each was chosen, with its interval, and how often it was called wrongly."""
    rows = [row for row in ledger.stats(by="description", tool="grep") if row["tool"] == "grep"]
    found = {row["description"]: (row["calls"], row["rejected"]) for row in rows}
    assert found["Search."] == (2, 2)
    assert found["Find the lines of the code that hold a text."] == (3, 0)
    assert all(row["shareLow"] < row["share"] < row["shareHigh"] for row in rows)


def test_a_hidden_tool_goes_on_in_its_sessions(tmp_path: Path) -> None:
    """While it is hidden even a deployment of the old session runs as ever; a new session's is not offered."""
    shop = Shop(tmp_path)
    with shop.program() as ledger, ledger.session("knew") as session:
        session.tools()
        session.dispatch({"role": "assistant", "content": "Hello."})
    shop.retire("deploy", "hidden")
    call = ("deploy", {"service": "site", "version": "1.5.0"})
    with shop.program() as ledger:
        assert ask(ledger, "knew", call)["status"] == "succeeded"
        assert ask(ledger, "new", call)["code"] == "not_offered"
    assert shop.releases.public() == {"site": "1.5.0"}
