"""An answer that must fit a schema: judged, asked for again three times, kept; it is no tool call."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from ledger import Invalid, Ledger, Limits
from ledger.errors import CatalogFault, SessionClosed, UsageError
from ledger.events import TurnRecorded
from ledger.providers.check import check as refused_by
from ledger.testing.empty import open_fresh
from tests.session.agents import asked, recorded, types

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1}},
    "required": ["n"],
    "additionalProperties": False,
}
START = [{"role": "user", "content": "A number, please."}]


@pytest.fixture
def ledger() -> Any:
    with Ledger.open("memory://") as found:
        yield found


def said(text: Any) -> dict[str, Any]:
    """A model's answer; what is no text goes out as JSON."""
    return asked(text=text if isinstance(text, str) else json.dumps(text))


def turns(ledger: Ledger) -> list[TurnRecorded]:
    return [event.body for event in recorded(ledger, "s") if isinstance(event.body, TurnRecorded)]


def told(found: Any) -> list[tuple[str, str]]:
    return [(violation.pointer, violation.keyword) for violation in found.violations]


def test_a_valid_answer_is_recorded_and_given_back(ledger: Ledger) -> None:
    """One turn of the kind `structured`, no call; the session's last word is this answer."""
    session = ledger.session("s")
    messages = session.messages(start=START)
    found = session.structured(said({"n": 3}), SCHEMA)
    assert (found.status, found.valid, found.again, found.repair) == ("valid", True, False, None)
    assert (found.value, found.text, found.attempt, found.turn) == ({"n": 3}, '{"n": 3}', 1, 1)
    assert [(turn.kind, turn.calls, turn.text) for turn in turns(ledger)] == [("structured", 0, '{"n": 3}')]
    assert [*messages, *found.messages] == session.messages()
    assert session.final
    assert not [name for name in types(ledger, "s") if name.startswith("call.")]


@pytest.mark.parametrize(
    ("reply", "violations"),
    [
        ("", [("", "invalid_json")]),
        ("Here it is.", [("", "invalid_json")]),
        ('```json\n{"n": 1}\n```', [("", "invalid_json")]),  # nothing is guessed
        ('{"n": 1} {"n": 2}', [("", "trailing_data")]),
        ('{"n": 1, "n": 2}', [("", "duplicate_key")]),
        ("[1]", [("", "type")]),
        ({"n": 0, "m": 1}, [("/m", "additionalProperties"), ("/n", "minimum")]),
        ({}, [("/n", "required")]),
    ],
)
def test_what_does_not_fit_is_asked_for_again(ledger: Ledger, reply: Any, violations: list[tuple[str, str]]) -> None:
    """With every place and rule, in a message that is recorded in the same commit and that a provider takes."""
    session = ledger.session("s")
    session.messages(start=START)
    found = session.structured(said(reply), SCHEMA)
    assert (found.status, found.value, told(found)) == ("invalid", None, violations)
    assert types(ledger, "s")[-2:] == ["turn.recorded", "message.recorded"]
    assert found.repair == session.messages()[-1]
    assert not session.final
    text = found.repair["content"]
    assert text.startswith("[Note from the tool-call ledger")
    facts = json.loads(text[text.index("{") :])
    assert [(each["pointer"], each["keyword"]) for each in facts["violations"]] == violations
    assert (facts["triesLeft"], facts["next"]) == (3, "repair")
    assert refused_by("openai", session.messages()) == []


def test_the_fourth_answer_is_kept_whatever_it_is(tmp_path: Path) -> None:
    """Three regenerations, counted from the record: a new process each time resets nothing."""
    seen = []
    for number in range(1, 6):
        with open_fresh(tmp_path) as ledger:
            session = ledger.session("s")
            session.messages()
            found = session.structured(said(f"no {number}"), SCHEMA)
            seen.append((found.attempt, found.status, session.final))
    assert seen == [
        (1, "invalid", False),
        (2, "invalid", False),
        (3, "invalid", False),
        (4, "unstructured", True),
        (1, "invalid", False),  # the next answer is a new one
    ]
    assert [turn.text for turn in turns(open_fresh(tmp_path))] == [f"no {number}" for number in range(1, 6)]


def test_another_schema_counts_apart_and_calls_between_do_not(ledger: Ledger) -> None:
    """A try is one for this schema; what the model does between two tries changes nothing."""
    session = ledger.session("s")
    assert session.structured(said("a"), SCHEMA).attempt == 1
    assert session.structured(said("b"), {"type": "string"}).attempt == 1
    session.dispatch(asked(("nobody", {})))
    assert session.structured(said("c"), SCHEMA).attempt == 2
    assert session.structured(said({"n": 1}), SCHEMA).attempt == 3
    assert session.structured(said("d"), SCHEMA).attempt == 1


def test_a_reply_that_was_recorded_is_not_recorded_again(tmp_path: Path) -> None:
    """After a crash behind the commit the same reply gets the same answer; the host's check is not asked again."""
    found = []
    for reply, check in ((said("no"), None), (said({"n": 2}), lambda value: None)):
        with open_fresh(tmp_path) as ledger:
            found.append(ledger.session("s").structured(reply, SCHEMA, check))
            before = len(recorded(ledger, "s"))
        with open_fresh(tmp_path) as ledger:
            again = ledger.session("s").structured(reply, SCHEMA, lambda value: 1 / 0)
            assert again == found[-1]
            assert len(recorded(ledger, "s")) == before
    with open_fresh(tmp_path) as ledger:
        session = ledger.session("s")
        assert session.structured(said("no"), SCHEMA, turn=1) == found[0]
        session.dispatch(said("plain"))
        with pytest.raises(UsageError, match="recorded by dispatch"):
            session.structured(said("plain"), SCHEMA, turn=3)


def test_a_reply_that_was_cut_off_is_no_answer(ledger: Ledger) -> None:
    """Half a number is a number: what the provider cut is asked for again, even where it fits."""
    reply = {
        "choices": [{"index": 0, "message": said("12"), "finish_reason": "length"}],
        "object": "chat.completion",
        "id": "c",
    }
    found = ledger.session("s").structured(reply, {"type": "integer"})
    assert told(found) == [("", "incomplete")]
    assert [(turn.kind, turn.stop_reason) for turn in turns(ledger)] == [("structured", "length")]


def test_tool_calls_are_no_answer(ledger: Ledger) -> None:
    """They belong to dispatch; nothing is recorded."""
    with pytest.raises(UsageError, match="asks for tools"):
        ledger.session("s").structured(asked(("look", {})), SCHEMA)
    assert recorded(ledger, "s") == []


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({}, CatalogFault),
        ({"type": "objekt"}, CatalogFault),
        ({"$ref": "https://example.org/x"}, CatalogFault),
        ("any", UsageError),
        (None, UsageError),
        (complex, UsageError),
    ],
)
def test_a_bad_schema_is_refused_before_anything_is_recorded(ledger: Ledger, schema: Any, error: type) -> None:
    """As in the catalog: schemas are input too."""
    with pytest.raises(error):
        ledger.session("s").structured(said("1"), schema)
    assert recorded(ledger, "s") == []


# -- the host's own check


PLAN = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "start": {"type": "integer"},
            "end": {"type": "integer"},
            "does": {"enum": ["read", "write", "approve"]},
            "needs": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["id", "start", "end", "does", "needs"],
    },
}


def plan_holds(plan: list[dict[str, Any]]) -> list[Invalid]:
    """Task ids exist, start is before end, every write needs an approval."""
    kinds = {task["id"]: task["does"] for task in plan}
    found = []
    for n, task in enumerate(plan):
        if task["start"] >= task["end"]:
            found.append(Invalid("ends_too_early", "start must be before end", f"/{n}/end"))
        found += [
            Invalid("unknown_task", f"there is no task {need}", f"/{n}/needs")
            for need in task["needs"]
            if need not in kinds
        ]
        if task["does"] == "write" and "approve" not in [kinds.get(need) for need in task["needs"]]:
            found.append(Invalid("not_approved", "a write needs an approval", f"/{n}/needs"))
    return found


def step(name: str, start: int, end: int, does: str, *needs: str) -> dict[str, Any]:
    return {"id": name, "start": start, "end": end, "does": does, "needs": list(needs)}


def test_a_plan_is_checked_beyond_its_schema(ledger: Ledger) -> None:
    """Every fault at once, each with its place, and the plan that was repaired is the answer."""
    session = ledger.session("s")
    wrong = [step("a", 1, 2, "read"), step("b", 4, 3, "write", "a", "c")]
    found = session.structured(said(wrong), PLAN, plan_holds)
    assert told(found) == [("/1/end", "ends_too_early"), ("/1/needs", "unknown_task"), ("/1/needs", "not_approved")]
    right = [step("a", 1, 2, "read"), step("c", 2, 3, "approve", "a"), step("b", 3, 4, "write", "c")]
    assert session.structured(said(right), PLAN, plan_holds).value == right


@pytest.mark.parametrize(
    ("answer", "status", "violations"),
    [
        (None, "valid", []),
        ([], "valid", []),
        (Invalid("odd", "an even number"), "invalid", [("", "odd")]),
        (Invalid("odd", "an even number", "/n"), "invalid", [("/n", "odd")]),
        (Invalid("closed", "no numbers any more", repairable=False), "unstructured", [("", "closed")]),
        (False, "unstructured", [("", "gate_error")]),
        (Invalid("odd", 3), "unstructured", [("", "gate_error")]),  # type: ignore[arg-type]  # a host's mistake
    ],
)
def test_what_a_check_may_say(ledger: Ledger, answer: Any, status: str, violations: list[tuple[str, str]]) -> None:
    """Nothing, or what is wrong; what the model cannot repair is not asked for again; anything else fails closed."""
    found = ledger.session("s").structured(said({"n": 3}), SCHEMA, lambda value: answer)
    assert (found.status, told(found)) == (status, violations)
    assert (found.value is None) == (status != "valid")


def test_a_check_that_raises_fails_closed(ledger: Ledger) -> None:
    """The model is not blamed for the host's code: the text is kept, the value is not given."""
    found = ledger.session("s").structured(said({"n": 3}), SCHEMA, lambda value: value["m"])
    assert (found.status, told(found)) == ("unstructured", [("", "gate_error")])
    assert "KeyError" in found.violations[0].message


def test_a_check_cannot_change_the_answer(ledger: Ledger) -> None:
    """It sees a copy."""
    found = ledger.session("s").structured(said({"n": 3}), SCHEMA, lambda value: value.clear())
    assert found.value == {"n": 3}


# -- types


class Even(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value == 13:
            raise RuntimeError
        if value % 2:
            raise ValueError("n is odd")
        return value


def test_a_model_class_is_a_schema(tmp_path: Path) -> None:
    """The value is an instance; its validators count as violations, their bugs do not reach the model."""
    with open_fresh(tmp_path) as ledger:
        session = ledger.session("s")
        assert told(session.structured(said({"n": "2"}), Even)) == [("/n", "type")]
        assert told(session.structured(said({"n": 3}), Even)) == [("/n", "schema_validation")]
        assert session.structured(said({"n": 4}), Even).value == Even(n=4)
        assert session.structured(said({"n": 13}), Even).status == "unstructured"
        assert session.structured(said([1, 2]), list[int]).value == [1, 2]
        assert session.structured(said({"n": 6}), Even, lambda even: None).value == Even(n=6)
    with open_fresh(tmp_path) as ledger:
        assert ledger.session("s").structured(said({"n": 6}), Even).value == Even(n=6)


# -- what is recorded


def test_a_secret_that_is_a_word_of_ours_breaks_no_answer(tmp_path: Path) -> None:
    """The keys of what is wrong with an answer stay what they are."""
    schema = {"type": "object", "properties": {"pin": {"x-sensitive": True}, "n": {"type": "integer"}}}
    with open_fresh(tmp_path) as ledger:
        found = ledger.session("s").structured(said({"pin": ["pointer", "keyword"], "n": "x"}), schema)
        assert [violation.pointer for violation in found.violations] == ["/n"]


def test_sensitive_answers_are_masked_before_disk(tmp_path: Path) -> None:
    """The host gets the value; the record, the conversation and the violations hold no secret."""
    schema = {
        "type": "object",
        "properties": {"pin": {"type": "string", "x-sensitive": True}, "n": {"type": "integer"}},
    }
    secret = "hunter2-and-more"
    with open_fresh(tmp_path) as ledger:
        session = ledger.session("s")
        cut = session.structured(said(f'{{"pin": "{secret}", '), schema)
        wrong = session.structured(said({"pin": secret, "n": secret}), schema)
        right = session.structured(said({"pin": secret, "n": 1}) | {"audio": {"transcript": secret}}, schema)
        assert right.value == {"pin": secret, "n": 1}
        assert [turn.text for turn in turns(ledger)] == [
            "[redacted]",
            '{"n":"[redacted]","pin":"[redacted]"}',
            '{"n":1,"pin":"[redacted]"}',
        ]
        for found in (cut, wrong):
            assert found.again
            assert secret not in json.dumps(found.messages)
    assert all(secret.encode() not in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"pin": f"canary4711{'x' * 100}"}),
        json.dumps({"pin": {"canary4711": 1}}),
        '{"pin": {"canary4711": 1, "canary4711": 2}}',
        '{"pin": {"canary4711": "\\ud800"}}',
    ],
    ids=["cut in the words", "a name inside", "a name twice", "a name on the way"],
)
def test_no_violation_of_an_answer_quotes_a_secret(tmp_path: Path, answer: str) -> None:
    """Neither the schema's words nor those of a text that is no strict JSON; the model may try again."""
    pin = {"x-sensitive": True, "type": ["string", "object"], "maxLength": 9, "additionalProperties": False}
    with open_fresh(tmp_path) as ledger:
        found = ledger.session("s").structured(said(answer), {"type": "object", "properties": {"pin": pin}})
        assert found.again
        assert "canary4711" not in json.dumps(found.messages)
    assert all(b"canary4711" not in path.read_bytes() for path in tmp_path.iterdir())


def test_without_texts_only_the_verdict_is_kept(tmp_path: Path) -> None:
    """`transcript="calls"`: no answer, no message; the tries are counted all the same."""
    with open_fresh(tmp_path) as ledger:
        session = ledger.session("s", transcript="calls")
        found = session.structured(said('{"n": "my secret"}'), SCHEMA)
        assert "my secret" in found.violations[0].message
        assert (session.final, found.repair is not None) == (False, True)
        assert session.structured(said("no"), SCHEMA).attempt == 2
        assert "message.recorded" not in types(ledger, "s")
    assert all(b"my secret" not in path.read_bytes() for path in tmp_path.iterdir())


def test_it_speaks_every_form(ledger: Ledger) -> None:
    """An answer in Anthropic's form, asked for again in it, and told to another provider later."""
    session = ledger.session("s")
    session.messages("anthropic", start=START)

    def reply(text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        return {"role": "assistant", "type": "message", "content": content, "stop_reason": "end_turn", "id": text}

    found = session.structured(reply("no"), SCHEMA, format="anthropic")
    assert session.structured(reply('{"n": 1}'), SCHEMA, format="anthropic").value == {"n": 1}
    assert refused_by("anthropic", session.messages("anthropic")) == []
    assert found.repair is not None
    assert found.repair["role"] == "user"
    assert [message["role"] for message in session.messages()] == ["user", "assistant", "user", "assistant"]


def test_what_the_provider_did_meanwhile_is_recorded(ledger: Ledger) -> None:
    """Its own searches stand beside the answer, as they do beside every turn."""
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "n"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    text = {"type": "text", "text": '{"n": 1}'}
    reply = {"role": "assistant", "type": "message", "content": [search, found, text], "stop_reason": "end_turn"}
    assert ledger.session("s").structured(reply, SCHEMA, format="anthropic").valid
    assert [(row["tool"], row["state"]) for row in ledger.calls()] == [("web_search", "succeeded")]


def test_the_async_twin(ledger: Ledger) -> None:
    """The same, and the check may be async."""

    async def checked(value: Any) -> Invalid:
        return Invalid("odd", "an even number")

    async def main() -> str:
        async with ledger.asession("s") as session:
            return (await session.astructured(said({"n": 1}), SCHEMA, checked)).violations[0].keyword

    assert asyncio.run(main()) == "odd"


@pytest.mark.parametrize("limits", [Limits(turns=2), Limits(cost=2.0)], ids=["turns", "cost"])
def test_limits_end_the_tries(ledger: Ledger, limits: Limits) -> None:
    """Once they are reached the model is not asked again, and the session is closed; an answer that fits stands."""
    session = ledger.session("s", limits=limits)
    found = [session.structured(said(f"no {n}"), SCHEMA, cost=0.9) for n in range(3)]
    assert [each.status for each in found] == ["invalid", "invalid", "unstructured"]
    assert session.closed in ("max_turns", "budget")
    other = ledger.session("t", limits=Limits(turns=1))
    assert other.structured(said("no"), SCHEMA).again
    assert other.structured(said({"n": 1}), SCHEMA).valid
    assert other.closed is None


def test_a_closed_session_takes_no_answer(ledger: Ledger) -> None:
    """As it takes no turn."""
    session = ledger.session("s")
    session.dispatch(said("bye"))
    session.close()
    with pytest.raises(SessionClosed):
        session.structured(said({"n": 1}), SCHEMA)
