"""System G: a whole round trip in two wire forms: long results, tools on demand, wishes, structured answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.roundtrip.__main__ import HASTY, LOOKS, SOUGHT, SOUND, _step, main, read_on, write_log
from examples.roundtrip.plan import PLAN, is_sound
from examples.roundtrip.tools import ADMINISTRATOR, LOOKING, open_ledger
from examples.scripted import FORMATS, Format, Script, answers, reply
from ledger import Ledger, Results, Session
from ledger.demo.workspace import Workspace
from ledger.providers import get_format
from ledger.providers.check import check
from ledger.providers.export import export
from ledger.session.structured import Structured
from ledger.strictjson import canonical
from tests.examples.running import shown

READ, LOST = ("read_file", {"path": "server.log"}), ("read_file", {"path": "error.log"})
FIND = ("find_tools", {"query": "delete a file"})
DELETE = ("delete_file", {"path": "server.log"})
NONE: dict[str, Any] = {"openai": "none", "anthropic": {"type": "none"}}
REQUIRED: dict[str, Any] = {"openai": "required", "anthropic": {"type": "any"}}
NAMED: dict[str, Any] = {
    "openai": {"type": "function", "function": {"name": "delete_file"}},
    "anthropic": {"type": "tool", "name": "delete_file"},
}


class World:
    """A workspace with the log, and a ledger with the tools on it."""

    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite:///{folder}/ledger.db"
        (folder / "work").mkdir()
        self.workspace = Workspace(folder / "work")
        self.log = write_log(self.workspace)
        self.ledger: Ledger = open_ledger(self.url, self.workspace)

    def has_log(self) -> bool:
        return (self.workspace.root / "server.log").exists()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("roundtrip"))
    yield found
    found.ledger.close()


def names(tools: list[dict[str, Any]]) -> set[str]:
    """The names of offered tools, in either form."""
    return {tool["function"]["name"] if "function" in tool else tool["name"] for tool in tools}


def turn(session: Session, format: Format, number: int, *asks: Any, **options: Any) -> Results:
    """Let the model make these calls as its turn of this number."""
    return session.dispatch(reply(format, asks, number=number), format=format, **options)


@pytest.mark.parametrize("format", FORMATS)
def test_calls_first_then_one_answer_for_each(world: World, format: Format) -> None:
    """The assistant's message comes first, then one answer for each id in the order asked."""
    with world.ledger.session(f"order {format}") as session:
        session.messages(format, start=[{"role": "user", "content": "Look."}])
        first, *rest = turn(session, format, 0, READ, LOST).messages
        turn(session, format, 1, ("list_files", {}))
        body = export(session.history, get_format(format))
    assert first["role"] == "assistant"
    if format == "openai":
        assert [call["id"] for call in first["tool_calls"]] == [message["tool_call_id"] for message in rest]
        assert [message["role"] for message in rest] == ["tool", "tool"]
    else:
        [results] = rest
        assert [block["id"] for block in first["content"]] == [block["tool_use_id"] for block in results["content"]]
        assert results["role"] == "user"
    assert check(format, body) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_missing_file_is_an_answer(world: World, format: Format) -> None:
    """A file that is not there is told as not found; the turn's other call is answered as ever."""
    with world.ledger.session(f"missing {format}") as session:
        results = turn(session, format, 0, LOST, ("list_files", {}))
    assert [call.answer["status"] for call in results.calls] == ["not_found", "succeeded"]
    assert results.calls[0].state == "succeeded"


@pytest.mark.parametrize("format", FORMATS)
def test_a_long_result_is_cut_and_kept(world: World, format: Format) -> None:
    """Of a 50 KB log the model is shown valid JSON within 8 KiB and a pointer; the ledger keeps the whole."""
    with world.ledger.session(f"long {format}") as session:
        [call] = turn(session, format, 0, READ).calls
    assert len(world.log) > 50_000
    answer = call.answer
    assert (answer["truncated"], answer["pointer"]["tool"]) == (True, "read_result")
    assert len(canonical(answer["data"])) <= 8 * 1024
    assert world.log.startswith(answer["data"]["text"].rstrip("…"))
    assert SOUGHT not in answer["data"]["text"]
    assert world.ledger.find(call).result["text"] == world.log


@pytest.mark.parametrize("format", FORMATS)
def test_pages_make_up_the_whole(world: World, format: Format) -> None:
    """Page by page a model reads all that was cut, from the pointer it was given; each page is a recorded call."""
    with world.ledger.session(f"pages {format}") as session:
        messages = session.messages(format, start=[{"role": "user", "content": "Read it all."}])
        messages += turn(session, format, 0, READ).messages
        text, number = world.log[: answers(messages)[0]["pointer"]["offset"]], 1
        while number == 1 or answers(messages)[-1]["data"]["nextOffset"] is not None:
            assert "read_result" in names(session.tools(format))
            messages += turn(session, format, number, *read_on(messages)).messages
            text += answers(messages)[-1]["data"]["text"]
            number += 1
    assert text == world.log
    rows = list(world.ledger.calls(session=f"pages {format}", tool="read_result"))
    assert [(row["state"], row["effect"]) for row in rows] == [("succeeded", "read")] * (number - 1)
    assert number > 6


@pytest.mark.parametrize("format", FORMATS)
def test_a_call_against_the_wish_for_none_does_not_run(world: World, format: Format) -> None:
    """Where the host asked for no call, one that is made is not offered, reads included; the wish is recorded."""
    with world.ledger.session(f"none {format}", principal=ADMINISTRATOR) as session:
        session.tools(format)
        results = turn(session, format, 0, READ, DELETE, tool_choice=NONE[format])
    assert [(call.state, call.code) for call in results.calls] == [("rejected", "not_offered")] * 2
    assert world.has_log()
    [recorded] = world.ledger.events(session=f"none {format}", types=["turn.recorded"])
    assert recorded["body"]["toolChoice"] == NONE[format]


@pytest.mark.parametrize("wish", [REQUIRED, NAMED], ids=["required", "named"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_wish_is_no_permission(world: World, format: Format, wish: dict[str, Any]) -> None:
    """A call that the host itself forced is denied like any other, and the file stays."""
    with world.ledger.session(f"forced {format} {wish[format]}", principal="bob") as session:
        session.tools(format)
        [call] = turn(session, format, 0, DELETE, tool_choice=wish[format]).calls
    assert (call.state, call.code, call.answer["gate"]) == ("denied", "not_permitted", "authorization")
    assert world.has_log()


@pytest.mark.parametrize("format", FORMATS)
def test_a_named_tool_is_not_offered_by_its_name(world: World, format: Format) -> None:
    """Naming a tool offers it no more than its stage does; another tool than the named one may be called."""
    with world.ledger.session(f"stage {format}", principal=ADMINISTRATOR) as session:
        session.tools(format, only=LOOKING)
        results = turn(session, format, 0, DELETE, LOST, tool_choice=NAMED[format])
    assert [(call.state, call.code) for call in results.calls] == [
        ("rejected", "not_offered"),
        ("succeeded", "not_found"),
    ]
    assert world.has_log()


@pytest.mark.parametrize("format", FORMATS)
def test_a_stage_offers_what_it_needs(world: World, format: Format) -> None:
    """A stage's tools and no others are offered, and about how many tokens they take is known; more tools take more."""
    with world.ledger.session(f"tokens {format}") as session:
        assert names(session.tools(format, only=LOOKING)) == set(LOOKING)
        few = session.tools_tokens
        assert names(session.tools(format)) == {"delete_file", "list_files", "read_file", "read_lines"}
        assert 100 < few < session.tools_tokens
        assert names(session.tools(format, only=[])) == set()
        assert session.tools_tokens == 0


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_found_is_offered_from_the_next_turn_on(world: World, format: Format) -> None:
    """A search is a recorded read; its tools can be called in the next turn, not in its own, and after a resume too."""
    session_id = f"found {format}"
    with world.ledger.session(session_id, principal="bob") as session:
        session.tools(format, only=LOOKING)
        results = turn(session, format, 0, FIND, DELETE)
        assert [(call.state, call.code) for call in results.calls] == [("succeeded", None), ("rejected", "not_offered")]
        assert "delete_file" in names(session.tools(format, only=LOOKING))
        assert turn(session, format, 1, DELETE).calls[0].code == "not_permitted"
    [row] = world.ledger.calls(session=session_id, tool="find_tools")
    assert (row["state"], row["effect"]) == ("succeeded", "read")
    with open_ledger(world.url, world.workspace) as later, later.session(session_id, principal="bob") as session:
        session.messages(format)
        assert "delete_file" in names(session.tools(format, only=LOOKING))
        assert turn(session, format, 2, DELETE).calls[0].code == "not_permitted"
    with world.ledger.session(f"fresh {format}") as session:
        assert "delete_file" not in names(session.tools(format, only=LOOKING))


def test_an_administrator_deletes(tmp_path: Path) -> None:
    """Who may, can: the file is gone, and a second time it is not found."""
    world = World(tmp_path)
    with world.ledger.session("clean", principal=ADMINISTRATOR) as session:
        assert session.call(*DELETE).state == "succeeded"
        assert not world.has_log()
        assert session.call(*DELETE).answer["status"] == "not_found"
        (world.workspace.root / "logs").mkdir()
        assert session.call("delete_file", {"path": "logs"}).code == "not_deleted"
    world.ledger.close()


@pytest.mark.parametrize("format", FORMATS)
def test_a_plan_is_no_tool_call(world: World, format: Format) -> None:
    """A hasty plan is sent back with what is wrong at its place, a sound one is taken; no call is recorded."""
    model = Script([json.dumps(HASTY), json.dumps(SOUND)], format)
    with world.ledger.session(f"plan {format}") as session:
        messages = session.messages(format, start=[{"role": "user", "content": "Plan it."}])
        hasty = session.structured(model.chat(messages), PLAN, is_sound, format=format)
        messages += hasty.messages
        sound = session.structured(model.chat(messages), PLAN, is_sound, format=format)
        body = export(session.history, get_format(format))
    assert (hasty.status, hasty.value) == ("invalid", None)
    assert [(fault.pointer, fault.keyword) for fault in hasty.violations] == [("/steps/1/needs", "not_approved")]
    assert "/steps/1/needs" in str(hasty.repair)
    assert (sound.status, sound.value, sound.attempt) == ("valid", SOUND, 2)
    assert list(world.ledger.calls(session=f"plan {format}")) == []
    assert check(format, body) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_plan_that_stays_wrong_is_kept_as_text(world: World, format: Format) -> None:
    """After three regenerations the fourth answer is kept as it is, marked unstructured: in the record too."""
    model = Script([json.dumps(HASTY)] * 3 + ["I cannot."], format)
    found: list[Structured] = []
    with world.ledger.session(f"stubborn {format}") as session:
        messages = session.messages(format, start=[{"role": "user", "content": "Plan it."}])
        while not found or found[-1].again:
            found.append(session.structured(model.chat(messages), PLAN, is_sound, format=format))
            messages += found[-1].messages
    assert [answer.status for answer in found] == ["invalid"] * 3 + ["unstructured"]
    assert (found[-1].text, found[-1].value) == ("I cannot.", None)
    *_, last = world.ledger.events(session=f"stubborn {format}", types=["turn.recorded"])
    assert (last["body"]["kind"], last["body"]["text"]) == ("structured", "I cannot.")
    assert last["body"]["structured"]["status"] == "unstructured"


ASK = _step("ask", "approval", 0, 1)
PLANS = [
    ("one step", [_step("a", "read", 0, 1)], []),
    ("approved", [ASK, _step("w", "write", 1, 2, "ask")], []),
    ("no such step", [_step("a", "read", 0, 1, "b")], [("/steps/0/needs/0", "unknown_step")]),
    ("ends at its start", [_step("a", "read", 1, 1)], [("/steps/0/end", "ends_too_early")]),
    ("ends before its start", [_step("a", "read", 2, 1)], [("/steps/0/end", "ends_too_early")]),
    ("not approved", [ASK, _step("w", "write", 1, 2)], [("/steps/1/needs", "not_approved")]),
    (
        "approved by a read",
        [_step("r", "read", 0, 1), _step("w", "write", 1, 2, "r")],
        [("/steps/1/needs", "not_approved")],
    ),
    ("approved too late", [ASK, _step("w", "write", 0, 2, "ask")], [("/steps/1/needs", "not_approved")]),
    ("one id twice", [_step("a", "read", 0, 1), _step("a", "read", 1, 2)], [("", "repeated_id")]),
]


@pytest.mark.parametrize(("steps", "faults"), [plan[1:] for plan in PLANS], ids=[plan[0] for plan in PLANS])
def test_what_is_wrong_with_a_plan(world: World, steps: list[Any], faults: list[tuple[str, str]]) -> None:
    """Each fault of a plan that fits its schema is found at its place, and no other."""
    assert [(fault.pointer or "", fault.code) for fault in is_sound({"steps": steps})] == faults
    with world.ledger.session() as session:
        answer = session.structured(reply("openai", json.dumps({"steps": steps})), PLAN, is_sound)
    assert answer.valid is (faults == [])
    assert [(fault.pointer, fault.keyword) for fault in answer.violations] == faults


def test_the_model_finds_what_it_looks_for(world: World) -> None:
    """The scripted pages reach the line that says what happened: the shown beginning does not hold it."""
    with world.ledger.session("sought") as session:
        model = Script(LOOKS)
        messages = session.messages(start=[{"role": "user", "content": "Why?"}])
        for _ in LOOKS[:-2]:
            messages += session.dispatch(model.chat(messages)).messages
    assert [SOUGHT in str(answer) for answer in answers(messages)] == [False] * 5 + [True]


@pytest.mark.parametrize("format", FORMATS)
def test_the_readme_shows_what_it_prints(capsys: pytest.CaptureFixture[str], format: Format) -> None:
    """The example runs in both forms, and in OpenAI's prints what its README shows."""
    main(format)
    printed = capsys.readouterr().out
    assert (printed == shown("roundtrip")) is (format == "openai")
    assert printed.count("\n") == shown("roundtrip").count("\n")
