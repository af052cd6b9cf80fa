"""What differs between two sessions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from ledger import Ledger
from ledger.errors import UnknownSession
from ledger.events import CallDenied, MessageRecorded, SessionClosed
from ledger.providers.port import ProposedCall, Reply
from ledger.replay import compare
from ledger.replay.comparison import Difference
from ledger.store.memory import MemoryStore
from tests.providers.recording import Recording, flagged, happened, ok
from tests.providers.sessions import recordings


def session(
    session_id: str,
    *,
    start: int = 0,
    tool: str = "send",
    arguments: Any = None,
    result: Any = 1,
    question: str = "Send it.",
    text: str = "Sent.",
    extra: int = 0,
    closed: bool = False,
) -> Recording:
    """Return a session of a question, a turn with a call (or more), and a text."""
    recording = Recording(session_id, start)
    recording.say(question)
    sent = ProposedCall(name=tool, raw="{}", provider_call_id=f"id-{start}")
    calls = recording.turn(
        Reply(kind="tool_calls", provider="openai", calls=(sent,) * (1 + extra)), arguments=arguments or {"to": "b"}
    )
    for call in calls:
        recording.run(call, ok(result))
    recording.turn(Reply(kind="text", provider="openai", text=text))
    if closed:
        recording.add(SessionClosed(reason="final_answer", turns=2, calls=1))
    return recording


def differences(a: Recording, b: Recording) -> list[Difference]:
    """Return what differs, both sessions in one store."""
    store = a.stored()
    b.stored(store)
    return compare(store, a.history.session_id, b.history.session_id)


def test_equal_sessions_do_not_differ() -> None:
    """Other ids, other times, another session id: nothing differs; results are compared whole."""
    long = {"log": "x" * 50_000}
    assert differences(session("a", result=long), session("b", start=500, result=long)) == []


def limited(session_id: str, wait: float, start: int = 0) -> Recording:
    """Return a session whose call found no place under a limit."""
    recording = Recording(session_id, start)
    sent = ProposedCall(name="send", raw="{}", provider_call_id="id")
    (call,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(sent,)), arguments={})
    recording.add(CallDenied(code="rate_limited", message="Later.", retry_after=wait), call)
    return recording


def test_how_long_a_limit_lets_wait_is_no_difference() -> None:
    """It is a time of that moment: two runs alike never share it."""
    assert differences(limited("a", 59.972), limited("b", 59.99, 500)) == []


def test_results_are_compared_to_their_ends() -> None:
    """Two long results that differ in their last character differ, though the model read the same of both."""
    (found,) = differences(session("a", result="x" * 50_000), session("b", result="x" * 49_999 + "y"))
    assert (found.field, found.a["data"][-1], found.b["data"][-1]) == ("answer", "x", "y")


@given(recordings())
def test_a_session_equals_itself(recording: Recording) -> None:
    """Whatever a session holds, it does not differ from itself."""
    if recording.events:
        assert compare(recording.stored(), "s", "s") == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"tool": "mail"}, [(1, 0, "tool", "send", "mail")]),
        ({"arguments": {"to": "c"}}, [(1, 0, "arguments", {"to": "b"}, {"to": "c"})]),
        (
            {"result": True},
            [(1, 0, "answer", *({"status": "succeeded", "data": d, "next": "none"} for d in (1, True)))],
        ),
        ({"text": "Done."}, [(2, None, "text", "Sent.", "Done.")]),
        ({"closed": True}, [(None, None, "closed", None, "final_answer")]),
        ({"extra": 1}, [(1, 1, "tool", None, "send")]),
        (
            {"question": "Go."},
            [
                (1, None, "messages", *([{"role": "user", "content": text}] for text in ("Send it.", "Go."))),
            ],
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_each_difference_is_named_by_its_place(change: dict[str, Any], found: list[tuple[Any, ...]]) -> None:
    """Turn, index, field and both values, in both directions; 1 and true are two values."""
    forth = differences(session("a"), session("b", **change))
    assert [tuple(each.to_wire().values()) for each in forth] == found
    back = differences(session("b", **change), session("a"))
    assert [(*where[:3], where[4], where[3]) for where in map(astuple, back)] == found


def astuple(difference: Difference) -> tuple[Any, ...]:
    """Return the fields of a difference."""
    return tuple(difference.to_wire().values())


def test_a_turn_that_one_side_lacks_is_one_difference() -> None:
    """The turns of the longer session are named once each, not field by field."""
    longer = session("b")
    longer.turn(Reply(kind="text", provider="openai", text="Anything else?"))
    assert [astuple(each) for each in differences(session("a"), longer)] == [(3, None, "kind", None, "text")]
    assert [astuple(each) for each in differences(longer, session("a"))] == [(3, None, "kind", "text", None)]


def test_a_call_that_was_settled_later_is_compared_as_it_ended() -> None:
    """What counts is how the call ended, not when it was told; unparsable arguments are compared by their text."""
    at_once, later = Recording("a"), Recording("b")
    sent = ProposedCall(name="send", raw='{"to":')
    for recording in (at_once, later):
        (call,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(sent,)))
        recording.run(call, flagged())
        if recording is at_once:
            recording.add(happened(7), call)
        recording.turn(Reply(kind="text", provider="openai", text="Well."))
        if recording is later:
            recording.add(happened(7), call)
        recording.add(MessageRecorded(role="user", provider="x", message=[{"id": recording.history.session_id}]))
    assert differences(at_once, later) == []


def test_both_sessions_must_be_there() -> None:
    """An unknown session is an error, on either side."""
    store = session("a").stored()
    for pair in (("a", "x"), ("x", "a")):
        with pytest.raises(UnknownSession, match="no session 'x'"):
            compare(store, *pair)
    with pytest.raises(UnknownSession):
        compare(MemoryStore(), "a", "a")


def test_what_the_provider_executed_is_compared() -> None:
    """Another end of a provider's call is a difference, under the place that the call has."""
    with Ledger.open("memory://") as host:
        for name, error in (("a", "no"), ("b", "never"), ("c", "no")):
            call = {"type": "mcp_call", "id": "m1", "name": "ask", "arguments": '{"q": 1}', "error": error}
            with host.session(name) as hosted:
                hosted.dispatch({"output": [call]}, format="responses")
        assert compare(host.reader, "a", "c") == []
        assert compare(host.reader, "a", "b") == [
            Difference(1, 0, "result", "The provider says: no.", "The provider says: never.")
        ]
