"""Sessions of any kind, for hypothesis: odd replies, odd messages of the host, calls that go any legal way."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import strategies as st

from ledger.errors import IllegalTransition
from ledger.events import (
    Body,
    CallAttemptFailed,
    CallDenied,
    CallFailed,
    CallNoted,
    CallOutcomeArrivedLate,
    CallProposed,
    CallRejected,
    CallReviewed,
    CallSucceeded,
    CallSuperseded,
    MessageRecorded,
)
from ledger.providers.port import ProposedCall, Reply
from tests.providers.recording import RUN, Recording, body, flagged, happened, ok, stopped

TEXTS = st.sampled_from(["", "Hello.", "a\0b", "caf\udce9", '{"tool_calls": [{}]}', "é" * 50])
IDS = st.sampled_from([None, "", "a", "b", "search:0", "i" * 200, "a b", "call_1"])
RAWS = st.sampled_from(['{"a": 1}', "{}", "", "null", "[1]", '{"path":"a.py","content":"impor', '{"id":1}{"id":2}'])
PARSED: dict[str, Any] = {'{"a": 1}': {"a": 1}, "{}": {}, "": {}, "null": {}}
NAMES = st.sampled_from(["send_email", "fs.read", "a" * 100, "", "rm -rf /"])
RESULTS = st.sampled_from([None, {"n": 1}, "a\0b", "caf\udce9", ["x" * 50] * 400, {"log": "y" * 20_000}, 2**70, 1.5])
PROPOSED = st.builds(ProposedCall, name=NAMES, raw=RAWS, provider_call_id=IDS)
ITEMS = st.sampled_from(
    [None, {"message": {"reasoning_content": "hm\0"}}, {"message": {"content": [{"type": "text", "text": "p"}]}}]
)
REPLIES = st.builds(
    Reply,
    kind=st.sampled_from(["tool_calls", "text", "incomplete"]),
    provider=st.sampled_from(["openai", "openai", "anthropic"]),
    calls=st.lists(PROPOSED, max_size=4).map(tuple),
    text=st.none() | TEXTS,
    items=ITEMS,
)
HOST_CALLS = st.lists(
    st.fixed_dictionaries(
        {"id": IDS, "function": st.fixed_dictionaries({"name": NAMES, "arguments": RAWS | st.just({"a": 1})})}
    ),
    max_size=3,
)
MESSAGES = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "developer"]), "content": TEXTS}),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": TEXTS, "tool_calls": HOST_CALLS}),
    st.fixed_dictionaries({"role": st.just("tool"), "content": TEXTS, "tool_call_id": IDS}),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": TEXTS}),
)
REFUSED: tuple[Body, ...] = (
    CallRejected(gate="decode", code="invalid_json", error_class="model", message="Cut\0 off.", model_can_repair=True),
    CallDenied(code="not_allowed", message="No."),
    stopped(),
    flagged("not-started"),
    body("call.approval_requested", {}),
)
LATE: tuple[Body, ...] = (
    CallNoted(by="ann", text="Look."),
    CallOutcomeArrivedLate(ended="succeeded", token=1, settles=True, result=3),
    CallAttemptFailed(code="unavailable", message="Closed.", backoff_seconds=1),
    CallFailed(code="tool_error", error_class="tool", message="It broke."),
    CallSucceeded(status="not_found", message="None."),
    flagged(),
    flagged("duplicate"),
    happened({"id": 7}),
    happened(known=False),
    CallReviewed(verdict="did-not-happen", by="ann"),
    CallReviewed(verdict="did-not-happen", by="ann", run=True, arguments_digest="d"),
    CallReviewed(verdict="run", by="ann", arguments_digest="d"),
    CallReviewed(verdict="abandon", by="ann"),
)
BODIES = st.sampled_from([*RUN, *RUN, *REFUSED, *LATE]) | st.builds(ok, RESULTS)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """Return a session of up to 25 steps, each a message, a turn, or one legal event of one of its calls."""
    recording = Recording(start=draw(st.integers(0, 1_000)))
    for step in draw(st.lists(st.sampled_from(["message", "turn", "call", "call", "call", "call"]), max_size=25)):
        calls = list(recording.history.calls.values())
        if step == "message":
            message: dict[str, Any] = draw(MESSAGES)
            provider = draw(st.sampled_from(["openai", "openai", "gemini"]))
            recording.add(MessageRecorded(role=message["role"], provider=provider, message=message))
        elif step == "turn":
            _turn(recording, draw(REPLIES), draw(st.sampled_from(["read", "write"])))
        elif calls:
            call = draw(st.sampled_from(calls))
            if draw(st.integers(0, 9)) == 0:
                _supersede(recording, call.call_id)
            else:
                _advance(recording, call.call_id, draw(BODIES))
    return recording


def _turn(recording: Recording, reply: Reply, effect: str) -> None:
    made = recording.turn(Reply(kind=reply.kind, provider=reply.provider, text=reply.text, items=reply.items))
    number = recording.history.turns[-1].number
    assert not made
    for index, sent in enumerate(reply.calls):
        proposed = CallProposed(
            raw_arguments=sent.raw,
            arguments=PARSED.get(sent.raw or ""),
            provider_call_id=sent.provider_call_id,
            effect=effect,  # type: ignore[arg-type]  # a Literal by its strategy
        )
        recording.add(proposed, call_id=recording.new_id(), tool=sent.name, turn=number, index=index, revision=0)


def _advance(recording: Recording, call_id: str, next_body: Body) -> None:
    with contextlib.suppress(IllegalTransition):
        recording.add(next_body, recording.history.calls[call_id])


def _supersede(recording: Recording, call_id: str) -> None:
    call = recording.history.calls[call_id]
    new = f"{call_id}-{call.revision + 1}"
    if new in recording.history.calls:
        return
    with contextlib.suppress(IllegalTransition):
        recording.add(CallSuperseded(superseded_by=new, by="ann", did_not_happen=True), call)
        recording.add(CallProposed(arguments={"b": 2}), call, call_id=new, revision=call.revision + 1)
