"""The agent's loop on a ledger: the scripted story from the first decision to the trace."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.demo.agent import SESSION, WatchedTools, open_ledger, run, write_trace
from ledger.demo.model import ScriptedModel
from ledger.demo.place import Place
from ledger.errors import StartDiffers
from ledger.events import MessageRecorded, SessionClosed, SessionOpened
from ledger.session.results import Results
from tests.demo.agents import asked, events_of, opened, script


@pytest.fixture
def told(tmp_path: Path) -> list[Results]:
    """The turns of the scripted session, which stands in the folder afterwards, trace and all."""
    turns: list[Results] = []
    place = Place(tmp_path)
    tools = WatchedTools(place.begin(), edited=place.edited)
    with open_ledger(place.url, tools) as ledger:
        stopped = run(ledger, ScriptedModel.load(), told=turns.append)
        write_trace(ledger, place.trace)
    assert stopped.answer is not None
    assert stopped.answer.startswith("Fixed: page() counted pages from 0.")
    assert stopped.waiting == ()
    return turns


def test_six_decisions_seven_calls(told: list[Results]) -> None:
    """Three reads at once, a range the wrong way round, the same put right, a unique edit, a test, the answer."""
    assert [[(call.tool, call.state, call.code) for call in turn.calls] for turn in told] == [
        [("list_files", "succeeded", None), ("read_file", "succeeded", None), ("search_text", "succeeded", None)],
        [("read_lines", "rejected", "invalid_range")],
        [("read_lines", "succeeded", None)],
        [("edit_file", "succeeded", None)],
        [("run_test", "succeeded", None)],
        [],
    ]
    assert len({call.call_id for turn in told for call in turn.calls}) == 7


def test_the_wrong_range_is_put_right_by_a_new_call(told: list[Results]) -> None:
    """The business gate stops 6 to 2 and says how it is wrong; 4 to 6 is a call of its own, which repairs the first."""
    (wrong,), (right,) = told[1].calls, told[2].calls
    assert wrong.call.gate == "business"
    assert (
        wrong.answer["message"] == "end_line 2 is before start_line 6; lines count from 1 and both ends are included."
    )
    assert wrong.answer["next"] == "repair"
    assert right.call_id != wrong.call_id
    assert right.call.repair_of == wrong.call_id
    assert right.result["lines"] == [
        "def page(items: list[int], number: int, size: int) -> list[int]:",
        '    """Return the items of one page; pages count from 1."""',
        "    start = number * size",
    ]
    assert (right.result["start_line"], right.result["end_line"]) == (4, 6)


def test_the_edit_is_made_and_the_tests_pass(told: list[Results], tmp_path: Path) -> None:
    """The text is replaced in the real file, once, and a real process says that the tests pass."""
    assert "    start = (number - 1) * size\n" in (tmp_path / "work/pages.py").read_text()
    assert Place(tmp_path).times_edited() == 1
    (test,) = told[4].calls
    assert test.result["exit_code"] == 0
    assert "OK" in test.result["output"]


def test_the_trace_ends_with_the_final_answer(told: list[Results], tmp_path: Path) -> None:
    """The trace has one event a line, from the opening to the close after 6 turns and 7 calls."""
    lines = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[0]["type"] == "session.opened"
    assert lines[-1]["type"] == "session.closed"
    assert lines[-1]["body"] == {"reason": "final_answer", "turns": 6, "calls": 7}


def test_the_intent_stays_bare(told: list[Results], tmp_path: Path) -> None:
    """What the model sent stays as it was; the defaults that ran stand in the start, and only where they apply."""
    with opened(tmp_path) as ledger:
        asked_with = {event.call_id: event.body for event in events_of(ledger, SESSION, "call.proposed")}
        ran = {event.call_id: event.body for event in events_of(ledger, SESSION, "call.started")}
    listing, reading, search = (call.call_id for call in told[0].calls)
    bodies: dict[str, Any] = {key: (asked_with[key], ran[key]) for key in (listing, reading, search)}
    assert bodies[listing][0].arguments == {}
    assert bodies[listing][0].raw_arguments == "{}"
    assert bodies[listing][1].arguments == {"path": ".", "max_entries": 100}
    assert bodies[search][0].arguments == {"query": "number * size"}
    assert bodies[search][1].arguments == {"query": "number * size", "path": "."}
    assert bodies[reading][1].arguments is None


def test_a_session_that_ended_stays_as_it_is(told: list[Results], tmp_path: Path) -> None:
    """Running a finished session again asks nobody, runs nothing and gives the same answer."""
    with opened(tmp_path) as ledger:
        before = len(events_of(ledger, SESSION))
        again = run(ledger, ScriptedModel.load())
        assert again.answer == "".join(turn.messages[0]["content"] for turn in told[-1:])
        assert len(events_of(ledger, SESSION)) == before


def test_the_script_can_be_replaced(tmp_path: Path) -> None:
    """A script of one's own is what the model says, its task is what it is asked, and its name is recorded."""
    file = script(tmp_path, asked(("list_files", {})), asked(text="Three files."), task="Count the files.")
    with opened(tmp_path) as ledger:
        assert run(ledger, ScriptedModel.load(file), session_id="mine").answer == "Three files."
        (opening,) = events_of(ledger, "mine", "session.opened")
        (closing,) = events_of(ledger, "mine", "session.closed")
        task = events_of(ledger, "mine", "message.recorded")[1]
    assert isinstance(opening.body, SessionOpened)
    assert opening.body.model == "mine"
    assert isinstance(closing.body, SessionClosed)
    assert (closing.body.turns, closing.body.calls) == (2, 1)
    assert isinstance(task.body, MessageRecorded)
    assert task.body.message == {"role": "user", "content": "Count the files."}


def test_another_task_is_another_session(tmp_path: Path) -> None:
    """A session does not carry on with another task than it began with."""
    with opened(tmp_path) as ledger:
        run(ledger, ScriptedModel.load(script(tmp_path, asked(text="Done."))))
        with pytest.raises(StartDiffers):
            run(ledger, ScriptedModel.load(script(tmp_path, asked(text="Done."), task="Another.")))
