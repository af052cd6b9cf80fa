"""What a session's model reads of a tool on its way out, stage by stage."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ledger
from ledger.events import ToolStageChanged, read_event
from ledger.providers.answer import answer
from ledger.testing import crash
from ledger.testing.empty import open_fresh
from tests.recovery.scenes import Gone, gone
from tests.session.agents import asked

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}
INSTEAD = [{"tool": "grep", "when": "the text is known", "example": {"path": "a"}}]


class Host:
    """A program with two tools, whose catalog says in which stage one of them is; it is started again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.effect = "read"
        self.started: list[Ledger] = []
        self.ran: list[str] = []

    def write(self, stage: str, **retirement: Any) -> None:
        for name in ("search", "grep"):
            place = self.folder / "catalog" / name
            place.mkdir(parents=True, exist_ok=True)
            (place / "v1.json").write_text(json.dumps(SCHEMA))
            document = {"name": name, "description": "Look.", "versions": {"1": {"contract": {"effect": self.effect}}}}
            if name == "search":
                document |= {"stage": stage, "retirement": retirement or {"replacements": INSTEAD, "hint": "Use grep."}}
            (place / "tool.json").write_text(json.dumps(document))

    def open(self, stage: str, **retirement: Any) -> Ledger:
        self.write(stage, **retirement)
        ledger = open_fresh(self.folder, catalog=str(self.folder / "catalog"))
        self.started.append(ledger)
        for name in ("search", "grep"):
            ledger.tool(name)(self.look)
        return ledger

    def look(self, path: str = "") -> str:
        """Look."""
        self.ran.append(path)
        return path


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    found = Host(tmp_path)
    yield found
    for ledger in found.started:
        ledger.close()


def ask(ledger: Ledger, session: str = "s", *, tools: bool = True) -> Any:
    """Let the model call the old tool, after it was offered what there is; return the call's answer."""
    with ledger.session(session) as opened_session:
        opened_session.messages()
        if tools:
            opened_session.tools()
        return opened_session.dispatch(asked(("search", {"path": "a"}))).calls[0].answer


def test_a_read_in_compat_runs_with_what_is_there_instead(host: Host) -> None:
    """Where its session knew it; the answer holds the data, the replacement with its example, and the hint."""
    ask(host.open("active"))
    assert ask(host.open("compat")) == {
        "status": "succeeded",
        "data": "a",
        "next": "none",
        "replacement": INSTEAD,
        "hint": "Use grep.",
    }
    new = ask(host.started[-1], "new")
    assert (new["status"], new["code"], host.ran) == ("rejected", "not_offered", ["a", "a"])


def test_a_read_in_compat_says_at_least_that_it_goes(host: Host) -> None:
    """Without a word of its author the hint is a fixed sentence."""
    told = ask(host.open("compat", retentionDays=3), tools=False)
    assert told["hint"] == "This tool is being retired; prefer another one."
    assert "replacement" not in told


def test_a_write_in_compat_is_answered_with_its_replacement(host: Host) -> None:
    """Structured: what, when, an example, a hint and what to do; it did not run. So it is once the tool is removed."""
    host.effect = "write"
    ask(host.open("active"))
    for stage in ("compat", "removed"):
        assert ask(host.open(stage)) == {
            "status": "retired",
            "gate": "lookup",
            "code": "tool_retired",
            "message": "The tool search is retired and was not executed.",
            "modelCanRepair": True,
            "replacement": INSTEAD,
            "hint": "Use grep.",
            "next": "use_replacement",
        }
    assert host.ran == ["a"]


def cut_off(host: Host, point: str, stage: str, **retirement: Any) -> Ledger:
    """Let a read be cut off at this point; return the program that resumed it in this stage."""
    ledger = host.open("active")
    ledger.authorize(lambda call, principal: Allow())
    crash.arm(ledger, crash.after(point), end=gone)
    with pytest.raises(Gone):
        ask(ledger)
    head = ledger.reader.head("s")
    assert head is not None
    ledger._wiring.store.release("s", token=head.token)
    ledger = host.open(stage, **retirement)
    ledger.session("s").messages()
    return ledger


@pytest.mark.parametrize(
    ("stage", "point", "status", "then"),
    [
        ("compat", "call.proposed", "succeeded", "none"),
        ("compat", "call.started", "succeeded", "none"),
        ("removed", "call.proposed", "retired", "use_replacement"),
        ("removed", "call.started", "retired", "use_replacement"),
    ],
)
def test_a_read_that_was_under_way(host: Host, stage: str, point: str, status: str, then: str) -> None:
    """It was asked for while the tool was active: whatever becomes of it, the model reads what is there instead."""
    ledger = cut_off(host, point, stage)
    [row] = ledger.calls()
    found = answer(ledger.find(str(row["callId"])))
    assert (found["status"], found["next"]) == (status, then)
    assert (found["replacement"], found["hint"]) == (INSTEAD, "Use grep.")


def test_a_read_of_a_removed_tool_with_nothing_instead(host: Host) -> None:
    """Its end says that the tool is retired, and to stop: there is no word about another one."""
    ledger = cut_off(host, "call.started", "removed", retentionDays=3)
    [row] = ledger.calls()
    found = answer(ledger.find(str(row["callId"])))
    assert (found["status"], found["next"]) == ("retired", "stop")
    assert not {"replacement", "hint"} & found.keys()


def test_a_transcript_from_elsewhere_keeps_what_it_called(host: Host) -> None:
    """No offer is recorded there: what its model called it knows, and it is offered that while it is hidden."""
    session = host.open("active").session("s")
    session.dispatch(asked(("search", {}), ("nothing", {})))
    session = host.open("hidden").session("s")
    names = {tool["function"]["name"] for tool in session.tools()}
    assert {"search", "grep"} <= names
    assert "nothing" not in names


def test_the_ledger_records_what_is_there_instead(host: Host) -> None:
    """Once for each stage and each wording; an active tool has nothing to tell until it comes back."""
    for stage in ("active", "hidden", "hidden", "active", "active"):
        host.open(stage)
    host.open("compat", hint="Use it.")
    host.open("compat", replacements=[{"tool": "grep"}], hint="Use it.")
    events = [read_event(row.record) for row in host.started[0].reader.read("_catalog", limit=100)]
    bodies = [event.body for event in events if isinstance(event.body, ToolStageChanged)]
    assert [(body.stage, body.hint, len(body.replacements)) for body in bodies] == [
        ("hidden", "Use grep.", 1),
        ("active", "Use grep.", 1),
        ("compat", "Use it.", 0),
        ("compat", "Use it.", 1),
    ]
