"""What the model reads for each end of a call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.calls import FOLLOWS, Call, State
from ledger.providers import answer, answer_bytes, answer_text, texts
from ledger.providers.answer import Next, Status, unrecorded
from ledger.strictjson import canonical, decode, resolve
from tests.providers.recording import Recording, body

CASES = json.loads(Path("tests/suite/answers.json").read_text(encoding="utf-8"))


def case_call(case: dict[str, Any]) -> Call:
    """Return the call that the case's events lead to."""
    recording = Recording()
    place = {"turn": 1, "index": 0, "revision": case.get("revision", 0), "schema_version": 1}
    for kind, wire in case["events"]:
        recording.add(body(kind, wire), call_id="c1", tool="t", **place)
    return recording.history.calls["c1"]


def succeeded(result: Any) -> Call:
    """Return a call that ended with this result."""
    return Call(call_id="c1", state="succeeded", arguments={}, result=result)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_end_has_its_answer(case: dict[str, Any]) -> None:
    """The model reads exactly this for a call that ended (or stands) so."""
    assert answer(case_call(case)) == case["answer"]


def test_the_table_holds_every_state() -> None:
    """No state of a call is without a case, nor is a status or a next step; only `validated` looks like `proposed`."""
    states = {case_call(case).state for case in CASES}
    assert states == set(get_args(State)) - {"unknown", "validated"} == set(FOLLOWS) - {"unknown", "validated"}
    assert {case["answer"]["status"] for case in CASES} == set(get_args(Status))
    assert {case["answer"]["next"] for case in CASES} == set(get_args(Next))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_answer_is_never_a_success_unless_it_succeeded(case: dict[str, Any]) -> None:
    """Only a recorded success is told as one, and what has no recorded end is marked."""
    call, told = case_call(case), answer(case_call(case))
    assert (told["status"] in {"succeeded", "not_found"}) == (call.state == "succeeded")
    assert not {"OUTCOME UNKNOWN", "NOT EXECUTED"} <= {
        part.split(":")[0] for part in told.get("message", "").split(". ")
    }
    ended = call.state in {"succeeded", "failed", "rejected", "denied", "abandoned"}
    assert told.get("synthetic", False) == (not ended)


def test_unknown_and_not_executed_are_two_fixed_texts() -> None:
    """Both texts are fixed, differ, and begin each message that uses them."""
    assert len({texts.OUTCOME_UNKNOWN, texts.NOT_EXECUTED}) == 2
    assert texts.UNDER_REVIEW.startswith(texts.OUTCOME_UNKNOWN)
    assert texts.IN_FLIGHT.startswith(texts.OUTCOME_UNKNOWN)
    assert texts.HELD.startswith(texts.NOT_EXECUTED)


def test_a_call_the_ledger_does_not_know_did_not_run_through_it() -> None:
    """What the ledger has no record of is told as just that, and marked."""
    told = unrecorded()
    assert told["code"] == "not_recorded"
    assert told["synthetic"]
    assert told["message"].startswith("NOT EXECUTED: the ledger has no record")


def test_a_call_allowed_again_may_still_have_happened() -> None:
    """A call in doubt is in doubt in every state: an earlier attempt may have had its effect."""
    call = Call(call_id="c1", state="authorized", arguments={}, attempt=1, in_doubt=True)
    assert answer(call)["code"] == "outcome_unknown"
    stopped = call.changed(state="failed", code="cancelled", message="It was stopped.", not_started=True)
    assert "NOT EXECUTED" not in answer(stopped)["message"]


@pytest.mark.parametrize("repairs", [0, 1, 5])
def test_the_host_may_set_how_often_the_model_repairs(repairs: int) -> None:
    """The limit of repairs is a parameter, for rejections and for tools that refuse."""
    call = Call(call_id="c1", state="rejected", arguments={}, gate="schema", model_can_repair=True, repairs=1)
    wanted = "repair" if repairs > 1 else "ask_user"
    assert answer(call, repairs=repairs)["next"] == wanted
    assert answer(call.changed(state="failed"), repairs=repairs)["next"] == wanted


def test_the_first_violations_are_shown() -> None:
    """Of many violations the model reads the first ones, each bounded."""
    many = tuple({"pointer": f"/{n}", "keyword": "type", "message": "x" * 600} for n in range(20))
    told = answer(Call(call_id="c1", state="rejected", arguments={}, violations=many))
    assert [each["pointer"] for each in told["violations"]] == ["/0", "/1", "/2", "/3"]
    assert all(len(each["message"]) < 600 for each in told["violations"])


def test_an_answer_is_a_copy() -> None:
    """Whoever changes an answer changes nothing that is recorded."""
    call = succeeded({"lines": [1]})
    answer(call)["data"]["lines"].append(2)
    assert call.result == {"lines": [1]}


def test_text_and_bytes_are_canonical() -> None:
    """The text is canonical JSON; NUL and lone surrogates stand escaped, so it is valid UTF-8 without either."""
    call = succeeded({"b": "a\0b", "a": "caf\udce9"})
    text = answer_text(call)
    assert text == r'{"data":{"a":"caf\udce9","b":"a\u0000b"},"next":"none","status":"succeeded"}'
    assert answer_bytes(call) == text.encode()


def test_a_long_text_is_cut_with_a_pointer() -> None:
    """A result above the limit is one valid object still, and says where the rest is read."""
    told = answer(succeeded("x" * 10_000))
    assert told["truncated"] is True
    kept = len(told["data"])
    assert told["pointer"] == {
        "tool": "read_result",
        "pointer": "result:c1",
        "offset": kept,
        "unit": "characters",
        "returned": kept,
        "total": 10_000,
    }
    assert kept == 8 * 1024 - 2


def test_only_the_long_place_is_cut() -> None:
    """What is short beside the log of a run stays whole; the pointer leads to the log."""
    result = {"exit": 1, "steps": [{"name": "test", "log": "line\n" * 10_000}]}
    told = answer(succeeded(result))
    assert told["data"]["exit"] == 1
    assert told["data"]["steps"][0]["name"] == "test"
    place = told["pointer"]["pointer"].removeprefix("result:c1")
    assert place == "/steps/0/log"
    rest = resolve(result, place)[told["pointer"]["offset"] :]
    assert told["data"]["steps"][0]["log"] + rest == "line\n" * 10_000


def test_a_list_is_cut_between_its_items() -> None:
    """The first items stay whole, and the units are items."""
    told = answer(succeeded([{"n": n} for n in range(5_000)]), 100)
    assert told["data"] == [{"n": n} for n in range(len(told["data"]))]
    assert (told["pointer"]["unit"], told["pointer"]["total"]) == ("items", 5_000)
    rest = canonical([{"n": n} for n in range(5_000)]).decode()[told["pointer"]["offset"] :]
    assert decode("[" + rest.removeprefix(",")) == [{"n": n} for n in range(len(told["data"]), 5_000)]


@given(
    message=st.text(max_size=5_000),
    pointers=st.lists(st.text(max_size=2_000), max_size=25),
    raw=st.text(max_size=3_000),
    limit=st.integers(64, 9_000),
)
def test_every_answer_is_bounded_and_strict(message: str, pointers: list[str], raw: str, limit: int) -> None:
    """However long the parts are, the answer is strict JSON of a few KiB beside its data."""
    violations = tuple({"pointer": p, "keyword": "required", "message": message} for p in pointers)
    rejected = Call(call_id="c1", state="rejected", code="x", violations=violations, raw_arguments=raw)
    rejected = rejected.changed(message=message, hint=message, requires_user_action=message)
    for call in (
        rejected,
        rejected.changed(replacement=message, revision=1, executed={"a": raw}),
        rejected.changed(state="denied"),
        rejected.changed(state="failed"),
        succeeded({"a": message, "b": [raw] * 5}).changed(source=raw, encodings=violations),
    ):
        text = answer_bytes(call, limit)
        assert len(text) <= limit + 10 * 1024
        assert decode(text)["status"]
        assert b"\0" not in text


@pytest.mark.parametrize(
    ("said", "read"),
    [("Not there", "Not there."), ("Not there.", "Not there."), ("Really?", "Really?"), ("不行。", "不行。"), ("", "")],
)
def test_a_denial_is_made_of_sentences(said: str, read: str) -> None:
    """A policy's words end with a stop, one and not two, before the ledger's own begin."""
    found = answer(Call(call_id="c1", state="denied", code="no", message=said))
    assert found["message"] == f"{read} {texts.DENIED}".strip()
