"""A model's turn through the public API: recorded, gated, run, answered."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ask, Deny, Invalid, Ledger, NotFound, Rejected, Unavailable
from ledger.errors import DivergentTurn, SessionClosed, StartDiffers, UsageError
from ledger.events import BatchPlanned, CallProposed, CallStarted, TurnRecorded
from tests.session.agents import answers, asked, opened, recorded, types


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with opened(tmp_path) as found:
        yield found


def reader(ledger: Ledger) -> list[int]:
    """Register a read that keeps what it was called with."""
    seen: list[int] = []

    @ledger.tool("look", effect="read")
    def look(number: int) -> dict[str, int]:
        """Look something up."""
        seen.append(number)
        return {"number": number}

    return seen


def writer(ledger: Ledger, **options: Any) -> list[str]:
    """Register a side-effecting tool that keeps what it was called with."""
    seen: list[str] = []

    @ledger.tool("send", effect="external", **options)
    def send(to: str, body: str = "") -> dict[str, str]:
        """Send something."""
        seen.append(to)
        return {"sent": to}

    return seen


def test_a_turn_is_recorded_gated_run_and_answered(ledger: Ledger) -> None:
    """A single call leaves turn, intent, gates, start and outcome, in this order, and one answer."""
    reader(ledger)
    with ledger.session("s") as session:
        results = session.dispatch(asked(("look", {"number": 7})))
    assert types(ledger, "s") == [
        "session.opened",
        "session.claimed",
        "turn.recorded",
        "call.proposed",
        "call.validated",
        "call.authorized",
        "call.started",
        "call.succeeded",
    ]
    assert [message["role"] for message in results.messages] == ["assistant", "tool"]
    assert answers(results.messages) == [{"status": "succeeded", "data": {"number": 7}, "next": "none"}]
    assert not results.waiting


def test_without_user_code_a_call_takes_two_commits(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything up to the start shares one commit, the outcome is the other; a policy adds one before it runs."""
    reader(ledger)
    batches: list[list[str]] = []
    append = ledger._wiring.store.append

    def counted(request: Any) -> Any:
        batches.append([draft.type for draft in request.drafts])
        return append(request)

    monkeypatch.setattr(ledger._wiring.store, "append", counted)
    session = ledger.session("s")
    session.dispatch(asked(("look", {"number": 1})))
    assert [len(batch) for batch in batches] == [7, 1]
    ledger.authorize(lambda call, principal: Allow())
    batches.clear()
    session.dispatch(asked(("look", {"number": 2})))
    assert batches == [
        ["turn.recorded", "call.proposed"],
        ["call.validated", "call.authorized", "call.started"],
        ["call.succeeded"],
    ]


def test_the_intent_is_kept_as_the_model_sent_it(ledger: Ledger) -> None:
    """Raw text, parsed arguments and what ran are three things."""
    seen = []

    @ledger.tool("page", effect="read", apply_defaults=True)
    def page(number: int, size: int = 20) -> int:
        """Show a page."""
        seen.append((number, size))
        return size

    ledger.session("s").dispatch(asked(("page", '{ "number" : 3 }')))
    events = recorded(ledger, "s")
    proposed = next(e.body for e in events if isinstance(e.body, CallProposed))
    started = next(e.body for e in events if isinstance(e.body, CallStarted))
    assert proposed.raw_arguments == '{ "number" : 3 }'
    assert proposed.arguments == {"number": 3}
    assert started.arguments == {"number": 3, "size": 20}
    assert seen == [(3, 20)]


@pytest.mark.parametrize(
    ("name", "arguments", "gate", "code"),
    [
        ("lok", {"number": 1}, "lookup", "unknown_tool"),
        ("look", '{"number": 1', "decode", "invalid_json"),
        ("look", '{"number":1}{"number":2}', "decode", "trailing_data"),
        ("look", "[1]", "decode", "not_an_object"),
        ("look", "", "decode", "missing_arguments"),
        ("look", {"number": "1"}, "schema", "schema_validation"),
        ("look", {"number": 1, "extra": 2}, "schema", "schema_validation"),
        ("look", {}, "schema", "schema_validation"),
        ("look", {"number": 13}, "business", "unlucky"),
        ("look", {"number": 66}, "authorization", "not_yours"),
    ],
)
def test_a_wrong_call_stops_at_its_gate(ledger: Ledger, name: str, arguments: Any, gate: str, code: str) -> None:
    """Each gate refuses with its own code; nothing runs, and the answer says what to do next."""
    seen = reader(ledger)

    @ledger.check("look")
    def lucky(arguments: dict[str, Any], context: Any) -> Invalid | None:
        return Invalid("unlucky", "Not this one.", "/number") if arguments["number"] == 13 else None

    @ledger.authorize
    def own(call: Any, principal: Any) -> Allow | Deny:
        return Deny("not_yours", "Not allowed.") if call.arguments["number"] == 66 else Allow()

    results = ledger.session("s").dispatch(asked((name, arguments)))
    (call,) = results.calls
    assert (call.call.gate, call.code) == (gate, code)
    assert seen == []
    assert answers(results.messages)[0]["next"] in ("repair", "ask_user", "stop")
    assert "call.started" not in types(ledger, "s")


@pytest.mark.parametrize("rule", ["run_rest", "run_none"])
def test_siblings_of_a_refused_call(ledger: Ledger, rule: str) -> None:
    """`run_rest` runs the others, `run_none` ends them as cancelled before their start."""
    seen = reader(ledger)
    reply = asked(("look", {"number": 1}), ("nobody", {}), ("look", {"number": 2}))
    results = ledger.session("s").dispatch(reply, on_rejection=rule)
    states = [call.state for call in results.calls]
    assert states == (
        ["succeeded", "rejected", "succeeded"] if rule == "run_rest" else ["failed", "rejected", "failed"]
    )
    assert sorted(seen) == ([1, 2] if rule == "run_rest" else [])
    if rule == "run_none":
        assert results.calls[0].call.not_started


def test_nobody_is_asked_about_the_sibling_of_a_refused_call(ledger: Ledger) -> None:
    """With `run_none` a call that a policy asks about ends as well: no later approval runs a part of the turn."""
    writer(ledger)

    @ledger.authorize
    def ask(call: Any, principal: Any) -> Ask:
        return Ask()

    reply = asked(("send", {"to": "ada"}), ("nobody", {}))
    results = ledger.session("s").dispatch(reply, on_rejection="run_none")
    assert [call.state for call in results.calls] == ["failed", "rejected"]
    assert (results.waiting, list(ledger.reviews())) == (False, [])


def test_an_unknown_rule_for_rejections_is_refused(ledger: Ledger) -> None:
    """A misspelt option runs nothing."""
    with pytest.raises(UsageError, match="run_rest or run_none"):
        ledger.session("s").dispatch(asked(text="x"), on_rejection="run_all")


def test_results_keep_the_order_asked_whatever_ended_first(ledger: Ledger) -> None:
    """Three reads overlap (all are inside at once), and the first one asked may end last."""
    inside = threading.Barrier(3)
    ends = [threading.Event() for _ in range(3)]

    @ledger.tool("wait", effect="read")
    def wait(number: int) -> int:
        """Wait for the others, then for the next one to end."""
        inside.wait(10)
        if number < 2:
            ends[number + 1].wait(10)
        ends[number].set()
        return number

    results = ledger.session("s").dispatch(asked(*(("wait", {"number": n}) for n in range(3))))
    assert [call.result for call in results.calls] == [0, 1, 2]
    assert [answer["data"] for answer in answers(results.messages)] == [0, 1, 2]
    plan = next(e.body for e in recorded(ledger, "s") if isinstance(e.body, BatchPlanned))
    assert (plan.mode, plan.size, plan.groups) == ("parallel", 3, ([0, 1, 2],))


def test_writes_on_the_same_resource_keep_their_order(ledger: Ledger) -> None:
    """Side effects with a shared key run one after the other, with disjoint keys at once."""
    inside: list[int] = []
    most: list[int] = []
    lock = threading.Lock()
    both = threading.Barrier(2)

    @ledger.tool("put", effect="write", resource_keys=("/path",))
    def put(path: str, *, meet: bool) -> str:
        """Write a file."""
        with lock:
            inside.append(1)
            most.append(len(inside))
        if meet:
            both.wait(10)
        with lock:
            inside.pop()
        return path

    session = ledger.session("s")
    session.dispatch(asked(("put", {"path": "a", "meet": False}), ("put", {"path": "a", "meet": False})))
    assert max(most) == 1
    session.dispatch(asked(("put", {"path": "a", "meet": True}), ("put", {"path": "b", "meet": True})))
    assert max(most) == 2
    modes = [e.body.mode for e in recorded(ledger, "s") if isinstance(e.body, BatchPlanned)]
    assert modes == ["sequential", "parallel"]


def test_resource_keys_from_a_function_that_fails_conflict_with_everything(ledger: Ledger) -> None:
    """Unknown keys are the safe side: the calls run one after the other."""

    def keys(arguments: dict[str, Any]) -> Any:
        if arguments["path"] == "?":
            raise ValueError
        return arguments["path"]  # one text is one key, not its letters

    @ledger.tool("put", effect="write", resource_keys=keys)
    def put(path: str) -> str:
        """Write a file."""
        return path

    session = ledger.session("s")
    session.dispatch(asked(("put", {"path": "a"}), ("put", {"path": "?"})))
    session.dispatch(asked(("put", {"path": "abc"}), ("put", {"path": "cba"})))
    plans = [e.body for e in recorded(ledger, "s") if isinstance(e.body, BatchPlanned)]
    assert [plan.mode for plan in plans] == ["sequential", "parallel"]
    assert plans[0].resource_keys == (["a"], None)


def test_the_words_of_a_tool(ledger: Ledger) -> None:
    """NotFound is a success without data; Rejected and Unavailable assert that nothing happened."""

    @ledger.tool("say", effect="external")
    def say(word: str) -> str:
        """Say how it ends."""
        if word == "missing":
            raise NotFound("No such thing.")
        if word == "rejected":
            raise Rejected("too_long", "Shorter, please.")
        raise Unavailable("down", retry_after=3)

    results = ledger.session("s").dispatch(asked(*(("say", {"word": w}) for w in ("missing", "rejected", "down"))))
    assert [(call.state, call.code) for call in results.calls] == [
        ("succeeded", "not_found"),
        ("failed", "too_long"),
        ("failed", "unavailable"),
    ]
    found = answers(results.messages)
    assert [answer["status"] for answer in found] == ["not_found", "failed", "failed"]
    assert found[2]["retryAfter"] == 3


def test_a_finished_turn_given_again_is_answered_from_the_record(ledger: Ledger) -> None:
    """The same response id with equal calls, or the turn's number, runs nothing twice."""
    seen = writer(ledger)
    reply = asked(("send", {"to": "a"}))
    completion = {"id": "resp_1", "choices": [{"message": reply, "finish_reason": "tool_calls"}]}
    session = ledger.session("s")
    first = session.dispatch(completion)
    again = session.dispatch(completion)
    by_number = session.dispatch(asked(("send", {"to": "a"}), ids=("other",)), turn=1)
    assert seen == ["a"]
    assert first.messages == again.messages == by_number.messages
    assert session.dispatch(reply).turn == 2
    assert seen == ["a", "a"]


def test_a_turn_that_was_not_delivered_is_the_same_turn(ledger: Ledger) -> None:
    """A new handle that gets the last turn's calls again, under new ids, is answered from the record."""
    seen = writer(ledger)
    ledger.session("s").dispatch(asked(("send", {"to": "a"})))
    again = ledger.session("s").dispatch(asked(("send", {"to": "a"}), ids=("new",)))
    assert (again.turn, seen) == (1, ["a"])
    other = ledger.session("s")
    other.messages()
    assert other.dispatch(asked(("send", {"to": "a"}))).turn == 2


@pytest.mark.parametrize(
    "reply",
    [
        asked(("look", {"number": 1})),
        asked(("send", {"to": "b"})),
        asked(("send", {"to": "a"}), ("send", {"to": "a"})),
        asked(text="hi"),
    ],
)
def test_other_content_at_a_recorded_turn_diverges(ledger: Ledger, reply: dict[str, Any]) -> None:
    """A recorded outcome never serves another call: tool, arguments and count have to be the same."""
    seen = writer(ledger)
    reader(ledger)
    session = ledger.session("s")
    session.dispatch(asked(("send", {"to": "a"})))
    with pytest.raises(DivergentTurn, match="turn 1 is recorded with calls of send"):
        session.dispatch(reply, turn=1)
    assert seen == ["a"]


def test_a_turn_number_out_of_reach_is_refused(ledger: Ledger) -> None:
    """Turns count from 1, without gaps."""
    session = ledger.session("s")
    for turn in (0, 2, -1):
        with pytest.raises(UsageError, match="the next one is 1"):
            session.dispatch(asked(text="x"), turn=turn)


def test_a_turn_cut_off_by_the_provider_is_recorded_and_not_executed(ledger: Ledger) -> None:
    """`finish_reason: length` rejects every call of the turn at lookup."""
    seen = writer(ledger)
    cut = {"choices": [{"message": asked(("send", {"to": "a"})), "finish_reason": "length"}]}
    results = ledger.session("s").dispatch(cut)
    assert [(call.state, call.code) for call in results.calls] == [("rejected", "incomplete_turn")]
    assert seen == []
    assert next(e.body for e in recorded(ledger, "s") if isinstance(e.body, TurnRecorded)).kind == "incomplete"


def test_a_tool_that_was_not_offered_is_rejected(ledger: Ledger) -> None:
    """After `tools()` only what it named may be called, and `tool_choice` none is a wish that is kept."""
    reader(ledger)
    session = ledger.session("s")
    offered = session.tools()
    assert [tool["function"]["name"] for tool in offered] == ["look"]
    writer(ledger)
    assert session.dispatch(asked(("send", {"to": "a"}))).calls[0].code == "not_offered"
    assert session.dispatch(asked(("send", {"to": "a"}))).calls[0].state == "succeeded"
    none = session.dispatch(asked(("look", {"number": 1})), tool_choice="none")
    assert none.calls[0].code == "not_offered"


def test_two_user_turns_killed_and_reopened_come_back(tmp_path: Path) -> None:
    """The host's whole list is recorded: a new process gets the same messages, byte for byte."""
    start = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Look up 1."}]
    with opened(tmp_path) as first:
        reader(first)
        session = first.session("s")
        messages = session.messages(start=start)
        messages += session.dispatch(asked(("look", {"number": 1}))).messages
        messages += session.dispatch(asked(text="It is 1.")).messages
        assert session.final is True
        question = {"role": "user", "content": "And 2?"}
        session.add(question, key="q2")
        session.add(question, key="q2")
        messages.append(question)
        assert [session.final] == [False]  # in a list: mypy would take the rest for unreachable
        messages += session.dispatch(asked(("look", {"number": 2}))).messages
    with opened(tmp_path) as second:
        reader(second)
        again = second.session("s")
        assert again.messages(start=start) == messages
        with pytest.raises(StartDiffers, match=r"session\.add"):
            again.messages(start=[{"role": "user", "content": "Something else."}])
        with pytest.raises(UsageError, match="another message was added"):
            again.add({"role": "user", "content": "Changed."}, key="q2")


def test_a_message_without_a_role_is_refused(ledger: Ledger) -> None:
    """A message is an object with a role; nothing else is recorded."""
    session = ledger.session("s")
    for wrong in ("hi", {"content": "hi"}, {"role": 1}):
        with pytest.raises(UsageError, match="an object with a role"):
            session.add(wrong)  # type: ignore[arg-type]  # that is the point


def test_a_session_that_keeps_only_calls_keeps_no_text(ledger: Ledger) -> None:
    """`transcript="calls"`: no message and no text of the model reaches the disk."""
    reader(ledger)
    start = [{"role": "user", "content": "secret question"}]
    session = ledger.session("s", transcript="calls")
    assert session.messages(start=start) == start
    session.dispatch(asked(("look", {"number": 1}), text="secret thought"))
    session.add({"role": "user", "content": "secret again"})
    stored = b"".join(row.record for row in ledger.reader.read("s", limit=100))
    assert b"secret" not in stored
    assert session.messages(start=start)[0] == start[0]


def test_a_closed_session_takes_no_more_turns(ledger: Ledger) -> None:
    """Closing twice is once; afterwards a turn or a message raises, and nothing is recorded."""
    session = ledger.session("s")
    session.dispatch(asked(text="done"))
    session.close()
    session.close()
    assert types(ledger, "s")[-1] == "session.closed"
    for attempt in (
        lambda: session.dispatch(asked(text="more")),
        lambda: session.add({"role": "user", "content": "?"}),
    ):
        with pytest.raises(SessionClosed, match="final_answer"):
            attempt()


def test_the_policy_sees_the_principal_of_the_host_and_not_the_arguments_word(ledger: Ledger) -> None:
    """Whatever the arguments claim, the principal comes from the host; Deny over Ask over Allow."""
    writer(ledger)
    seen: list[Any] = []

    @ledger.authorize
    def first(call: Any, principal: Any) -> Ask:
        return Ask()

    @ledger.authorize
    def second(call: Any, principal: Any) -> Deny | Allow:
        seen.append(principal)
        return Allow() if principal["id"] == "root" else Deny("forbidden", "Not allowed.")

    user = {"id": "u-1", "roles": []}
    results = ledger.session("s", principal=user, tenant="acme").dispatch(asked(("send", {"to": "root"})))
    assert results.calls[0].state == "denied"
    assert seen == [user]
    assert {e.principal for e in recorded(ledger, "s")} == {"u-1"}
    assert {e.tenant for e in recorded(ledger, "s")} == {"acme"}
    root = ledger.session("t", principal={"id": "root"}).dispatch(asked(("send", {"to": "x"})))
    assert root.calls[0].state == "awaiting-approval"
    assert root.waiting
