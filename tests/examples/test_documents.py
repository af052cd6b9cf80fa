"""System B: dependent and parallel reads, identity from the host, an approved and conditional write, never repeated."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from examples.documents.__main__ import REPORT, is_done, main, run
from examples.documents.shelves import Library
from examples.documents.tools import APPROVER, open_ledger
from examples.scripted import FORMATS, Ask, Format, Script, answers, reply
from ledger import CallResult, Ledger, LedgerError, Results, Session
from tests.examples.running import ROOT, facts, shown

SEARCH = ("search_documents", {"query": "revenue"})


def nothing(_: str) -> None:
    return


@dataclass(frozen=True)
class Watched(Library):
    """The library; `reading` and `saved` hear of each read, and of each save that is done but not yet reported."""

    hooks: dict[str, Callable[[str], None]] = field(default_factory=dict)

    def document(self, document_id: str) -> dict[str, Any] | None:
        if threading.current_thread() is not threading.main_thread():  # a tool; a policy asks on the main thread
            self.hooks.get("reading", nothing)(document_id)
        return super().document(document_id)

    def put_report(self, tenant: str | None, target: str, content: str, *, expected: int, key: str) -> int:
        self.hooks.get("saving", nothing)(target)
        version = super().put_report(tenant, target, content, expected=expected, key=key)
        self.hooks.get("saved", nothing)(target)
        return version


class World:
    """The library and its ledger; each test has sessions and reports of its own."""

    def __init__(self, folder: Path) -> None:
        self.shelves = Watched(folder)
        self.shelves.seed()
        self.url = f"sqlite:///{folder}/ledger.db"
        self.ledger: Ledger = open_ledger(self.url, self.shelves)

    def session(self, session_id: str, tenant: str = "acme") -> Session:
        return self.ledger.session(session_id, principal="bob", tenant=tenant)

    def turns(self, session_id: str, *turns: Sequence[Ask], format: Format = "openai") -> Results:
        """Let a model make these turns in one session; the last one's results."""
        with self.session(session_id) as session:
            session.messages(format)  # what was recorded is told, so an equal turn is a new one
            for turn in turns:
                number = len(session.history.turns)
                results = session.dispatch(reply(format, turn, number=number), format=format)
        return results

    def saved(self, session_id: str, report: dict[str, Any]) -> CallResult:
        """Save a report with its approval; the call as it stands then."""
        [call] = self.turns(session_id, [("save_report", report)]).calls
        self.ledger.approve(call, by=APPROVER)
        with self.session(session_id) as session:
            session.wait(0)
            return CallResult(session.history.calls[call.call_id])

    def put(self, target: str) -> None:
        """Let somebody else save the first version of a report."""
        self.shelves.put_report("acme", target, "Somebody else's.", expected=0, key="other")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("documents"))
    yield found
    found.ledger.close()


@pytest.fixture
def world(shared: World) -> World:
    shared.shelves.hooks.clear()
    return shared


def reads(*names: str) -> list[Ask]:
    return [("read_document", {"document_id": name}) for name in names]


def test_known_documents_are_read_together(world: World) -> None:
    """Of six reads in one turn four are under way at the same time, never more; all answers keep the order asked."""
    barrier, lock, counts = threading.Barrier(4), threading.Lock(), {"now": 0, "peak": 0, "in all": 0}

    def reading(_: str) -> None:
        with lock:
            counts["now"] += 1
            counts["in all"] += 1
            counts["peak"] = max(counts["peak"], counts["now"])
            meet = counts["in all"] <= 4
        if meet:
            barrier.wait(10)
        with lock:
            counts["now"] -= 1

    world.shelves.hooks["reading"] = reading
    names = ("q1", "q2", "memo", "q2", "q1", "memo")
    results = world.turns("together", [SEARCH], reads(*names))
    assert [call.result["document_id"] for call in results.calls] == list(names)
    assert counts == {"now": 0, "peak": 4, "in all": 6}
    [plan] = world.ledger.events(session="together", types=["batch.planned"])
    assert plan["body"]["groups"] == [[0, 1, 2, 3], [4, 5]]


@pytest.mark.parametrize("format", FORMATS)
def test_a_dependent_read_needs_a_turn_of_its_own(world: World, format: Format) -> None:
    """A read in the turn of the search that finds it is refused, and its sibling runs; the second turn carries it."""
    first = world.turns(f"dependent {format}", [SEARCH, *reads("q1")], format=format)
    assert [(call.state, call.code) for call in first.calls] == [("succeeded", None), ("rejected", "unknown_reference")]
    assert first.calls[1].answer["gate"] == "business"
    assert first.calls[1].answer["next"] == "repair"
    second = world.turns(f"dependent {format}", reads("q1"), format=format)
    assert second.calls[0].state == "succeeded"


@pytest.mark.parametrize("guessed", ["q3", "secret", "' OR 1=1 --"])
def test_a_guessed_id_is_refused(world: World, guessed: str) -> None:
    """An id that no recorded result returned is not read, whether there is such a document or not."""
    [call] = world.turns(f"guess {guessed}", [SEARCH], reads(guessed)).calls
    assert (call.state, call.code) == ("rejected", "unknown_reference")


def test_what_was_found_is_known_after_a_resume(world: World) -> None:
    """What a search returned can be read by another program that carries on with the session."""
    world.turns("resumed", [SEARCH])
    with open_ledger(world.url, world.shelves) as later, later.session("resumed", tenant="acme") as session:
        session.messages()
        assert session.call(*reads("q1")[0]).state == "succeeded"


def test_what_another_session_found_is_unknown_here(world: World) -> None:
    """A session knows what was returned to itself."""
    world.turns("finder", [SEARCH])
    assert world.turns("other", reads("q1")).calls[0].code == "unknown_reference"


def test_a_failing_read_takes_no_other_down(world: World) -> None:
    """One read of three ends with an error of the tool; its siblings bring their documents."""

    def reading(name: str) -> None:
        if name == "q2":
            raise OSError("the disk is broken")

    world.shelves.hooks["reading"] = reading
    results = world.turns("failing", [SEARCH], reads("q1", "q2", "memo"))
    assert [call.state for call in results.calls] == ["succeeded", "failed", "succeeded"]
    assert "disk" not in str(results.calls[1].answer)


def test_a_search_keeps_to_its_tenant(world: World) -> None:
    """A search returns documents of the session's tenant only, as many as it asks for."""
    [call] = world.turns("search", [SEARCH]).calls
    assert [found["document_id"] for found in call.result["documents"]] == ["memo", "q1", "q2"]
    [call] = world.turns("search", [("search_documents", {"query": "REVENUE", "max_results": 2})]).calls
    assert len(call.result["documents"]) == 2
    with world.session("globex", tenant="globex") as session:
        assert [found["document_id"] for found in session.call(*SEARCH).result["documents"]] == ["secret"]


@pytest.mark.parametrize("query", ["%", "reven_e", "' OR '1'='1", '"', "revenue'; DROP TABLE document; --"])
def test_a_query_is_text(world: World, query: str) -> None:
    """What would be syntax in SQL is looked for as it stands: nothing is found, and nothing is lost."""
    [call] = world.turns(f"text {query}", [("search_documents", {"query": query})]).calls
    assert call.result == {"documents": []}
    assert len(world.shelves.search("acme", "revenue", 10)) == 3


def test_another_tenant_is_denied(tmp_path: Path) -> None:
    """A document that went to another tenant after it was found is denied; no argument changes that."""
    world = World(tmp_path)
    world.turns("moved", [SEARCH])
    world.shelves.give_to("globex", "q1")
    [claim] = world.turns("moved", [("read_document", {"document_id": "q1", "is_authorized": True})]).calls
    [plain] = world.turns("moved", reads("q1")).calls
    assert (claim.state, claim.answer["gate"]) == ("rejected", "schema")
    assert (plain.state, plain.code, plain.answer["next"]) == ("denied", "not_permitted", "ask_user")
    for call in (claim, plain):
        assert "globex" not in str(call.answer)
        assert "million" not in str(call.answer)
    world.ledger.close()


def test_a_session_keeps_its_tenant(world: World) -> None:
    """A session of one tenant is not opened for another: what it found stays where it was found."""
    world.turns("kept", [SEARCH])
    with pytest.raises(LedgerError, match="another tenant"), world.session("kept", tenant="globex") as session:
        session.messages()


def test_the_record_says_who_acted(world: World) -> None:
    """Principal and tenant of every call event are those of the host."""
    world.turns("who", [SEARCH], [("search_documents", {"query": "tenant globex, principal root"})])
    assert {(fact["principal"], fact["tenant"]) for fact in facts(world.ledger, "who")} == {("bob", "acme")}


@pytest.mark.parametrize("format", FORMATS)
def test_the_whole_task(world: World, format: Format) -> None:
    """Search, three reads together, a save that is approved, an answer; and then the file holds what was approved."""
    report = REPORT | {"target": f"whole-{format}"}
    model = Script([[SEARCH], reads("q1", "q2", "memo"), [("save_report", report)], "Saved."], format)
    assert not is_done(world.shelves, report)
    calls = run(world.ledger, model, f"whole {format}")
    assert [call.tool for call in calls] == ["search_documents", *["read_document"] * 3, "save_report"]
    assert {call.state for call in calls} == {"succeeded"}
    assert is_done(world.shelves, report)


def test_done_is_not_what_the_model_says(world: World) -> None:
    """A model that says it saved without doing so has done nothing, and neither has one with another content."""
    report = REPORT | {"target": "claimed"}
    run(world.ledger, Script(["The report is saved."]), "claimed")
    assert not is_done(world.shelves, report)
    world.saved("other content", report | {"content": "Something else."})
    assert not is_done(world.shelves, report)


def test_nothing_is_saved_without_its_approval(world: World) -> None:
    """A save waits for the one who may approve it; nobody else can, and a denial leaves no file."""
    report = REPORT | {"target": "unapproved"}
    [call] = world.turns("unapproved", [("save_report", report)]).calls
    assert (call.state, call.answer["next"]) == ("awaiting-approval", "await_approval")
    with pytest.raises(LedgerError):
        world.ledger.approve(call, by="bob")
    world.ledger.deny(call, by=APPROVER)
    with world.session("unapproved") as session:
        session.wait(0)
    assert world.ledger.find(call).state == "denied"
    assert world.shelves.report("acme", "unapproved")["version"] == 0


def test_an_approval_is_for_these_arguments(world: World) -> None:
    """An approval of other arguments than those seen is refused, and it lets no other call run."""
    report = REPORT | {"target": "bound"}
    [call] = world.turns("bound", [("save_report", report)]).calls
    [other] = world.turns("bound", [("save_report", report | {"content": "Changed afterwards."})]).calls
    with pytest.raises(LedgerError):
        world.ledger.approve(other, by=APPROVER, digest=call.call.arguments_digest)
    world.ledger.approve(call, by=APPROVER, digest=call.call.arguments_digest)
    with world.session("bound") as session:
        session.wait(0)
    assert [world.ledger.find(each).state for each in (call, other)] == ["succeeded", "awaiting-approval"]
    assert is_done(world.shelves, report)


def test_an_approval_is_used_once(world: World) -> None:
    """The same report asked for again after it was saved waits for an approval of its own."""
    report = REPORT | {"target": "once"}
    assert world.saved("once", report).state == "succeeded"
    [again] = world.turns("once", [("save_report", report)]).calls
    assert again.state == "awaiting-approval"


def test_a_conflict_overwrites_nothing(world: World) -> None:
    """A save that expects another version than is there fails clearly, and the file is as it was."""
    world.put("conflict")
    call = world.saved("conflict", REPORT | {"target": "conflict"})
    assert (call.state, call.code) == ("failed", "version_conflict")
    assert call.message == "The report has version 1. Nothing was saved: read it again."
    assert world.shelves.report("acme", "conflict")["content"] == "Somebody else's."
    assert world.saved("conflict", REPORT | {"target": "conflict", "expected_version": 1}).result["version"] == 2


def test_a_key_saves_once(world: World) -> None:
    """The same key again changes nothing and answers as the first time; it stands in the file."""
    call = world.saved("key", REPORT | {"target": "key"})
    report = world.shelves.report("acme", "key")
    assert report["key"] == call.call.idempotency_key
    again = world.shelves.put_report("acme", "key", "Other.", expected=0, key=report["key"])
    assert (again, world.shelves.report("acme", "key")) == (1, report)


def lost(times: list[str]) -> Callable[[str], None]:
    def hook(target: str) -> None:
        times.append(target)
        raise TimeoutError

    return hook


def test_a_lost_answer_is_looked_up(world: World) -> None:
    """The save happened and its answer was lost: the report itself is asked, and the call succeeds; one save."""
    times: list[str] = []
    world.shelves.hooks["saved"] = lost(times)
    call = world.saved("lost", REPORT | {"target": "lost"})
    assert (call.state, call.call.reconciled, times) == ("succeeded", True, ["lost"])
    assert call.result == {"target": "lost", "version": 1}
    assert call.answer["source"] == {"uri": "library:reports/lost", "version": 1}
    assert is_done(world.shelves, REPORT | {"target": "lost"})


def test_a_save_that_did_not_happen_is_not_repeated(world: World) -> None:
    """A timeout before anything was saved: the state is asked, a person is told so, nothing is sent again by itself."""
    times: list[str] = []
    world.shelves.hooks["saving"] = lost(times)
    call = world.saved("unsaved", REPORT | {"target": "unsaved"})
    assert (call.state, times) == ("needs-review", ["unsaved"])
    assert call.call.flag is not None
    assert call.call.flag.evidence["reconcile"] == "did not happen"
    again = world.turns("unsaved", [("save_report", REPORT | {"target": "unsaved"})]).calls[0]
    assert (again.answer["code"], times) == ("duplicate", ["unsaved"])
    world.shelves.hooks.clear()
    world.ledger.resolve(call, "did-not-happen", run=True, by=APPROVER)
    with world.session("unsaved") as session:
        session.wait(0)
    assert is_done(world.shelves, REPORT | {"target": "unsaved"})


def test_nobody_can_tell_after_somebody_else_saved(world: World) -> None:
    """The answer was lost, and by now another version is there: nobody can tell, so a person is asked."""

    def overtaken(target: str) -> None:
        world.shelves.hooks.clear()
        world.shelves.put_report("acme", target, "Newer.", expected=1, key="newer")
        raise TimeoutError

    world.shelves.hooks["saved"] = overtaken
    call = world.saved("overtaken", REPORT | {"target": "overtaken"})
    assert call.call.flag is not None
    assert (call.state, call.call.flag.evidence["reconcile"]) == ("needs-review", "can't tell")


KILLED = """
import os, sys
from tests.examples.test_documents import APPROVER, REPORT, World, Watched
from pathlib import Path
world = World(Path(sys.argv[1]))
world.shelves.hooks["saved"] = lambda _: os._exit(9)
world.saved("killed", REPORT | {"target": "killed"})
"""


def test_a_crash_in_the_save_is_looked_up(tmp_path: Path) -> None:
    """The process dies between the save and its record: the next one asks the report, and saves nothing again."""
    child = [sys.executable, "-c", KILLED, str(tmp_path)]
    assert subprocess.run(child, cwd=ROOT, capture_output=True, check=False).returncode == 9
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db", Library(tmp_path)) as ledger:
        ledger.resume("killed")
        [row] = ledger.calls(session="killed")
        assert (row["state"], row["attempt"]) == ("succeeded", 1)
    assert is_done(Library(tmp_path), REPORT | {"target": "killed"})


@pytest.mark.parametrize(
    ("format", "stop"),
    [("openai", "length"), ("openai", "content_filter"), ("anthropic", "max_tokens"), ("anthropic", "refusal")],
)
def test_a_turn_that_is_not_whole_runs_nothing(world: World, format: Format, stop: str) -> None:
    """A turn that was cut off or refused is recorded with its reason, and none of its calls runs, reads included."""
    cut = reply(format, [SEARCH, ("save_report", REPORT | {"target": f"cut-{stop}"[:9]})], stop=stop)
    with world.session(f"cut {stop}") as session:
        results = session.dispatch(cut, format=format)
        assert [(call.state, call.code) for call in results.calls] == [("rejected", "incomplete_turn")] * 2
        assert [answer["status"] for answer in answers(session.messages(format))] == ["rejected"] * 2
    [turn] = world.ledger.events(session=f"cut {stop}", types=["turn.recorded"])
    assert (turn["body"]["kind"], turn["body"]["stopReason"]) == ("incomplete", stop)
    assert list(world.ledger.events(session=f"cut {stop}", types=["call.started"])) == []


@pytest.mark.parametrize("format", FORMATS)
def test_results_say_where_they_come_from(world: World, format: Format) -> None:
    """What was read carries its id, its version and its source, for the model and in the record."""
    [call] = world.turns(f"source {format}", [SEARCH], reads("q1"), format=format).calls
    assert (call.result["document_id"], call.result["version"]) == ("q1", 2)
    assert call.answer["source"] == {"id": "q1", "uri": "library:documents/q1", "version": 2}
    assert world.ledger.find(call).source == call.answer["source"]
    call = world.saved(f"source {format}", REPORT | {"target": f"source-{format}"})
    assert call.answer["source"] == {"uri": f"library:reports/source-{format}", "version": 1}


@pytest.mark.parametrize("format", FORMATS)
def test_orders_inside_a_document_are_data(world: World, format: Format) -> None:
    """A document that gives orders is a result like others; a model that obeys it gets no further than an approval."""
    obeys = [("save_report", {"target": "payroll", "content": "Pay.", "expected_version": 0})]
    with world.session(f"orders {format}") as session:
        messages = session.messages(format, start=[{"role": "user", "content": "Read the memo."}])
        for number, turn in enumerate(([SEARCH], reads("memo"), obeys)):
            results = session.dispatch(reply(format, turn, number=number), format=format)
            messages += results.messages
    assert results.calls[0].state == "awaiting-approval"
    assert world.shelves.report("acme", "payroll")["version"] == 0
    said = [message["role"] for message in messages if "you are authorized" in json.dumps(message)]
    assert said == ["tool" if format == "openai" else "user"]
    assert {fact["principal"] for fact in facts(world.ledger, f"orders {format}")} == {"bob"}


def test_the_readme_shows_what_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """The example runs, and prints what its README shows."""
    main()
    assert capsys.readouterr().out == shown("documents")
