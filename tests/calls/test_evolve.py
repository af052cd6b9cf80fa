"""One event more: the call as it is after it, or a refusal."""

import dataclasses
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calls import FOLLOWS, TERMINAL, Call, State, evolve, fold, refusal
from ledger.errors import IllegalTransition
from ledger.events import (
    BODIES,
    CallApprovalRequested,
    CallAttemptFailed,
    CallAuthorized,
    CallBody,
    CallFlagged,
    CallOutcomeArrivedLate,
    CallProposed,
    CallReviewed,
    CallStarted,
    CallUpcast,
    CallValidated,
    Event,
    SessionClaimed,
    encode,
    read_event,
)
from ledger.events.call_bodies import Authority
from tests.calls.stories import said, tell
from tests.events.samples import AT, CALL, EVENT_ID, choices, event

STARTED = ("proposed", "validated", "authorized", "started")
UNKNOWN = ["flagged", {"reason": "outcome-unknown", "evidence": {"seen": 1}}]
CALL_CLASSES: tuple[type[CallBody], ...] = get_args(CallBody)


def fields(call: Call, *names: str) -> tuple[Any, ...]:
    """Return some fields of a call."""
    return tuple(getattr(call, name) for name in names)


# -- what each event leaves behind


def test_a_proposal_gives_the_call_its_identity_and_intent() -> None:
    """Every field of a proposal and of its place is kept on the call."""
    body = CallProposed(
        raw_arguments='{"a":1}',
        arguments={"a": 1},
        provider_call_id="p1",
        provider="openai",
        model="m",
        description_digest="dd",
        stage="hidden",
        effect="write",
        recovery="retry",
        supports_idempotency=True,
        reconciles=True,
        idempotency_key="k7",
        repair_of="c0",
        repairs=2,
        executor="provider",
        imported=True,
        redacted=True,
    )
    place = CALL | {"schema_digest": "sd", "turn": 2, "index": 3, "revision": 1, "principal": "ann", "tenant": "acme"}
    call = evolve(Call(), event(body, **place), 9)
    same = {field.name for field in dataclasses.fields(body)} - {"idempotency_key"}
    assert fields(call, *same) == tuple(getattr(body, name) for name in same)
    assert fields(call, *place) == tuple(place.values())
    assert fields(call, "host_key", "proposed_at", "sequence", "state") == ("k7", AT, 9, "proposed")
    assert call.session_id == "s1"


def test_a_call_without_its_part_of_the_envelope_has_the_defaults() -> None:
    """A proposal that lacks its place in the conversation still folds."""
    call = evolve(Call(), Event(session_id="s", event_id="e", recorded_at=AT, body=CallProposed()))
    assert fields(call, "call_id", "tool", "turn", "index", "revision") == ("", "", 0, 0, 0)


def test_a_rejection_says_what_the_model_may_do() -> None:
    """Gate, code, class, message, violations, replacement and hint of a rejection are kept; its key is free again."""
    wire = {
        "gate": "schema",
        "code": "c",
        "errorClass": "tool",
        "message": "m",
        "violations": [{"pointer": "/a"}],
        "modelCanRepair": True,
        "requiresUserAction": "u",
        "replacement": ["other"],
        "hint": "h",
    }
    call = tell(["proposed", {"idempotencyKey": "k7"}], ["rejected", wire])
    found = fields(call, "gate", "code", "error_class", "message", "violations", "model_can_repair")
    assert found == ("schema", "c", "tool", "m", ({"pointer": "/a"},), True)
    found = fields(call, "requires_user_action", "replacement", "hint", "ended_at", "host_key")
    assert found == ("u", ["other"], "h", AT, None)


def test_a_denial_is_the_policys_word() -> None:
    """A denial has the class policy, and says when to come again; the person's wait is over."""
    call = tell("proposed", "validated", "approval_requested", ["denied", {"code": "no", "retryAfter": 3}])
    found = fields(call, "gate", "code", "error_class", "retry_after", "waiting_since", "ended_at")
    assert found == ("authorization", "no", "policy", 3, None, AT)


def test_an_approval_keeps_who_was_asked() -> None:
    """An answered request still says who was asked and with which words, and until when the answer holds."""
    asked = ["approval_requested", {"who": ["ann", "bob"], "message": "sure?", "expiresAt": "e1"}]
    call = tell("proposed", "validated", asked)
    assert call.approval is not None
    assert fields(call, "state", "waiting_since") == ("awaiting-approval", AT)
    assert (call.approval.by, call.approval.who, call.approval.expires_at) == (None, ("ann", "bob"), "e1")
    call = tell(["authorized", {"by": "person", "person": "bob", "expiresAt": "e2"}], call=call)
    assert call.approval is not None
    assert (call.approval.by, call.approval.person, call.approval.who) == ("person", "bob", ("ann", "bob"))
    assert (call.approval.message, call.approval.expires_at, call.approval.at) == ("sure?", "e2", AT)
    assert call.waiting_since is None


def test_a_policys_word_names_nobody() -> None:
    """What a policy allowed names neither who was asked nor a message."""
    call = tell("proposed", "validated", "authorized")
    assert call.approval is not None
    assert (call.approval.who, call.approval.message, call.approval.by) == (None, None, "policy")


def test_passing_the_gates_again_takes_the_permission_back() -> None:
    """After the gates were passed again the authorization is asked again."""
    call = tell("proposed", "validated", "authorized", ["validated", {"argumentsDigest": "d2"}])
    assert fields(call, "approval", "arguments_digest") == (None, "d2")


def test_starts_are_counted_and_keep_what_runs() -> None:
    """A start counts the attempt, and keeps key, worker, token and the arguments that differ from the intent."""
    start = ["started", {"arguments": {"a": 2}, "worker": "w1", "token": 4}]
    call = tell(["proposed", {"effect": "read"}], "validated", "authorized", start)
    found = fields(call, "attempt", "idempotency_key", "worker", "token", "executed", "started_at")
    assert found == (1, "k", "w1", 4, {"a": 2}, AT)
    call = tell(["attempt_failed", {"code": "unavailable", "message": "busy"}], call=call)
    assert fields(call, "state", "attempt_failed", "code", "message") == ("started", True, "unavailable", "busy")
    call = tell(["started", {"token": 5}], call=call)
    found = fields(call, "attempt", "token", "attempt_failed", "code", "message", "executed")
    assert found == (2, 5, False, None, None, {"a": 2})


def test_a_success_keeps_the_result_and_nothing_of_earlier_attempts() -> None:
    """Result, status, sizes and source are kept; the code of a refused attempt is not."""
    wire = {
        "status": "not_found",
        "result": [1],
        "encodings": [{"pointer": ""}],
        "code": "nf",
        "message": "m",
        "source": {"uri": "u"},
        "size": 3,
        "truncatedForModel": True,
        "durationMs": 1.5,
        "reconciled": True,
    }
    read = ["proposed", {"effect": "read"}]
    call = tell(read, *STARTED[1:], "attempt_failed", "started", ["succeeded", wire])
    found = fields(call, "status", "result", "encodings", "code", "message", "source")
    assert found == ("not_found", [1], ({"pointer": ""},), "nf", "m", {"uri": "u"})
    found = fields(call, "size", "truncated_for_model", "duration_ms", "reconciled", "ended_at")
    assert found == (3, True, 1.5, True, AT)


def test_a_failure_keeps_what_the_model_may_do() -> None:
    """Code, class, message, whether to retry and whether to repair are kept."""
    wire = {
        "code": "busy",
        "errorClass": "environment",
        "message": "m",
        "retryable": True,
        "retryAfter": 2,
        "modelCanRepair": True,
        "durationMs": 7,
    }
    call = tell(*STARTED, ["failed", wire])
    found = fields(call, "code", "error_class", "message", "retryable", "retry_after", "model_can_repair")
    assert found == ("busy", "environment", "m", True, 2, True)
    assert fields(call, "duration_ms", "ended_at", "not_started") == (7, AT, False)


def test_a_flag_makes_a_person_wait() -> None:
    """A flagged call keeps reason and evidence, and since when it waits."""
    call = tell(*STARTED, UNKNOWN)
    assert call.flag == CallFlagged(reason="outcome-unknown", evidence={"seen": 1})
    assert fields(call, "reason", "waiting_since", "ended_at") == ("outcome-unknown", AT, None)


def test_a_verdict_that_it_happened_gives_the_result() -> None:
    """The person's result is the call's, also where nobody knows what it was; what the review hid is gone."""
    read = ["proposed", {"effect": "read"}]
    flagged = tell(read, *STARTED[1:], "attempt_failed", ["flagged", {"reason": "attempts-exhausted"}])
    known = tell(["reviewed", {"verdict": "happened", "result": 5, "resultKnown": True}], call=flagged)
    assert fields(known, "state", "result", "result_known", "code", "message") == ("succeeded", 5, True, None, None)
    assert fields(known, "ended_at", "waiting_since") == (AT, None)
    unknown = tell(["reviewed", {"verdict": "happened"}], call=flagged)
    assert fields(unknown, "result", "result_known") == (None, False)
    assert unknown.review == CallReviewed(verdict="happened", by="ann")


def test_a_verdict_that_it_did_not_happen_fails_the_call() -> None:
    """The model reads a fixed sentence, and the host's key is free again."""
    call = tell(
        ["proposed", {"idempotencyKey": "k7"}], *STARTED[1:], UNKNOWN, ["reviewed", {"verdict": "did-not-happen"}]
    )
    assert fields(call, "state", "code", "error_class", "host_key") == ("failed", "did_not_happen", "environment", None)
    assert call.message == "A person found that it did not happen."
    flag = ["flagged", {"reason": "duplicate", "duplicateOf": "c0"}]
    copy = tell("proposed", flag, ["reviewed", {"verdict": "did-not-happen", "settledBy": "c0"}])
    assert (copy.state, copy.message) == ("failed", "It repeats an earlier call.")  # nobody was asked about this one


def test_a_verdict_to_run_allows_exactly_these_arguments() -> None:
    """A verdict to run is an authorization by that person, with its own end, bound to the call's arguments."""
    run = ["reviewed", {"verdict": "did-not-happen", "run": True, "expiresAt": "e1"}]
    call = tell(*STARTED, UNKNOWN, run)
    assert call.approval is not None
    assert (call.approval.by, call.approval.person, call.approval.arguments_digest) == ("verdict", "ann", "d")
    assert (call.approval.expires_at, call.state, call.ended_at) == ("e1", "authorized", None)


@pytest.mark.parametrize(("given_digest", "bound"), [("d9", "d9"), (None, None)])
def test_a_verdict_gives_the_digest_where_none_is_known(given_digest: str | None, bound: str | None) -> None:
    """A call that was flagged before validation is bound by the verdict itself, and starts only with that."""
    run = ["reviewed", {"verdict": "run", "argumentsDigest": given_digest}]
    call = tell("proposed", ["flagged", {"reason": "not-started"}], run)
    assert call.arguments_digest == bound
    assert tell("started", call=call).state == "started"


@pytest.mark.parametrize(
    ("story", "free"),
    [
        (("rejected",), True),
        (("validated", "denied"), True),
        ((["failed", {"notStarted": True}],), True),
        ((["flagged", {"reason": "not-started"}], ["reviewed", {"verdict": "abandon"}]), True),
        ((["flagged", {"reason": "not-started"}], "superseded"), True),
        ((*STARTED[1:], "succeeded"), False),
        ((*STARTED[1:], "failed"), False),
        ((*STARTED[1:], UNKNOWN, ["reviewed", {"verdict": "abandon"}]), False),
        ((*STARTED[1:], UNKNOWN, ["reviewed", {"verdict": "happened"}]), False),
        ((*STARTED[1:], UNKNOWN, ["superseded", {"didNotHappen": True}]), True),
        ((*STARTED[1:], ["failed", {"notStarted": True}]), True),
        ((*STARTED[1:], "started", ["failed", {"notStarted": True}]), False),
    ],
)
def test_what_surely_never_ran_frees_the_hosts_key(story: tuple[Any, ...], free: bool) -> None:
    """The host's idempotency key can be used again only if no attempt can have had an effect."""
    call = tell(["proposed", {"idempotencyKey": "k7", "recovery": "retry"}], *story)
    assert call.state in TERMINAL
    assert (call.host_key is None) is free


def test_an_upcast_changes_what_runs_and_not_the_intent() -> None:
    """The carried arguments, version and digests are the new ones; the intent stays as the model sent it."""
    proposal = ["proposed", {"arguments": {"old": 1}, "rawArguments": '{"old":1}'}]
    call = tell(proposal, "validated", ["upcast", {}, {"schema_digest": "sd2"}])
    assert fields(call, "arguments", "raw_arguments", "to_run") == ({"old": 1}, '{"old":1}', {"new": 1})
    found = fields(call, "schema_version", "schema_digest", "arguments_digest", "state")
    assert found == (2, "sd2", "new", "validated")


@pytest.mark.parametrize(("keeps", "bound"), [(True, "d"), (False, "")])
def test_an_approval_is_of_one_form(keeps: bool, bound: str) -> None:
    """Even where an upcast leaves the arguments as they were, only a file that keeps approvals binds it anew."""
    same = {"digestBefore": "d", "digestAfter": "d", "keepsApproval": keeps}
    call = tell("proposed", "validated", "approval_requested", ["upcast", same])
    assert call.approval is not None
    assert call.approval.arguments_digest == bound


def test_a_superseded_call_names_its_successor() -> None:
    """A call that a person answered with other arguments names the new call and waits for nobody."""
    call = tell("proposed", "validated", "approval_requested", "superseded")
    assert fields(call, "superseded_by", "waiting_since", "ended_at") == ("c2", None, AT)


def test_a_late_success_is_the_outcome_where_it_settles() -> None:
    """A late outcome that settles the review gives the call its result."""
    wire = {
        "settles": True,
        "status": "not_found",
        "result": [1],
        "encodings": [{"pointer": ""}],
        "size": 3,
        "truncatedForModel": True,
        "code": "nf",
        "message": "m",
        "durationMs": 9,
    }
    call = tell(*STARTED, UNKNOWN, ["outcome_arrived_late", wire])
    found = fields(call, "state", "status", "result", "encodings", "size", "truncated_for_model")
    assert found == ("succeeded", "not_found", [1], ({"pointer": ""},), 3, True)
    found = fields(call, "code", "message", "duration_ms", "ended_at", "waiting_since")
    assert found == ("nf", "m", 9, AT, None)
    assert call.late is not None
    assert call.late.result == [1]


def test_a_late_failure_is_the_outcome_where_it_settles() -> None:
    """A late failure that settles the review gives the call its code and class."""
    wire = {"ended": "failed", "settles": True, "code": "c9", "errorClass": "tool", "message": "m9"}
    call = tell(*STARTED, UNKNOWN, ["outcome_arrived_late", wire])
    assert fields(call, "state", "code", "error_class", "message") == ("failed", "c9", "tool", "m9")


def test_a_late_outcome_is_evidence_otherwise() -> None:
    """A late outcome that settles nothing is kept for the reviewer and changes no other field."""
    before = tell(*STARTED, UNKNOWN)
    after = tell(["outcome_arrived_late", {"result": 1}], call=before)
    assert after.late == CallOutcomeArrivedLate(ended="succeeded", token=1, result=1)
    assert after.changed(late=None, sequence=before.sequence) == before


def test_the_place_is_that_of_the_event() -> None:
    """A stored event brings its own sequence; a new one is given the place that it will have."""
    assert evolve(Call(), event(CallProposed(), sequence=4), 9).sequence == 4
    assert evolve(Call(), event(CallProposed()), 9).sequence == 9


def test_other_events_leave_a_call_as_it_is() -> None:
    """An event of the session is none of the call's business."""
    call = tell("proposed")
    assert evolve(call, event(SessionClaimed(owner="w", token=1))) is call


def test_a_refusal_names_the_call() -> None:
    """The error names event, state and call, and says why where the state alone does not forbid it."""
    with pytest.raises(IllegalTransition) as first:
        evolve(Call(), said("started"))
    assert str(first.value) == "call.started cannot follow unknown (call c1)"
    assert first.value.why is None
    with pytest.raises(IllegalTransition) as second:
        evolve(tell("proposed"), said("failed"))
    assert (second.value.event, second.value.state, second.value.call_id) == ("call.failed", "proposed", "c1")
    assert second.value.why == "it was never started, and does not say so (`notStarted`)"


# -- any events in any order


def aligned(body: CallBody, call: Call) -> CallBody:
    """Return the body bound to the call as honest events are, so that random ones are often legal."""
    digest = call.arguments_digest or "d"
    match body:
        case CallProposed():
            return dataclasses.replace(body, idempotency_key="host-key")
        case CallValidated():
            return dataclasses.replace(body, arguments_digest=digest)
        case CallAuthorized():
            by: Authority = "person" if call.state == "awaiting-approval" else "policy"
            return dataclasses.replace(body, arguments_digest=digest, by=by)
        case CallApprovalRequested():
            return dataclasses.replace(body, arguments_digest=digest)
        case CallReviewed():
            return dataclasses.replace(body, arguments_digest=digest, settled_by=None)
        case CallFlagged():
            return dataclasses.replace(body, reason="outcome-unknown" if call.attempt else "not-started")
        case CallStarted():
            return dataclasses.replace(body, idempotency_key=call.idempotency_key or "k")
        case CallUpcast():
            return dataclasses.replace(body, from_version=call.schema_version or 1, digest_before=digest)
        case _:
            return body


ONWARD: dict[State, tuple[type[CallBody], ...]] = {
    "proposed": (CallValidated, CallFlagged),
    "validated": (CallAuthorized, CallApprovalRequested),
    "awaiting-approval": (CallAuthorized,),
    "authorized": (CallStarted,),
    "started": (CallStarted, CallAttemptFailed, CallFlagged, CallFlagged),
    "needs-review": (CallReviewed, CallOutcomeArrivedLate),
}


@st.composite
def lives(draw: Callable[..., Any], steps: int = 20) -> list[Event]:
    """Draw a legal life of a call: at each step any event that may follow, most often one that leads on."""
    call = Call()
    found: list[Event] = []
    for number in range(draw(st.integers(1, steps))):
        follow = FOLLOWS[call.state] if draw(st.integers(0, 4)) == 0 else ONWARD.get(call.state, FOLLOWS[call.state])
        body = aligned(draw(st.sampled_from(follow).flatmap(choices)), call)
        new = event(body, event_id=f"e{number}", sequence=len(found) + 1)
        if refusal(call, new) is None:
            found.append(new)
            call = evolve(call, new)
    return found


@given(lives())
def test_a_life_folds_the_same_at_once_step_by_step_and_after_storage(life: list[Event]) -> None:
    """Folding at once, one event at a time, and from what was stored give equal calls."""
    stepwise = Call()
    for each in life:
        stepwise = evolve(stepwise, each)
    stored = [read_event(encode(each).record(each.sequence)) for each in life]
    assert fold(life) == stepwise == fold(stored)


@given(lives())
def test_promises_hold_in_every_legal_life(life: list[Event]) -> None:
    """No second start of a plain side effect without a person's word, none without a permission, none after the end."""
    call, words, starts = Call(), 1, 0
    for each in life:
        after = evolve(call, each)
        if isinstance(each.body, CallReviewed) and after.state == "authorized":
            words += 1
        if isinstance(each.body, CallStarted):
            starts += 1
            assert call.state in ("authorized", "started")
            assert call.approval is not None
            assert after.repeatable or starts <= words
        if call.state in TERMINAL:
            assert after.state == call.state
            assert fields(after, "result", "status", "code") == fields(call, "result", "status", "code")
        assert after.arguments == call.arguments or call.state == "unknown"
        keyless = after.never_ran or after.ran_elsewhere or after.state == "superseded"  # its successor has the key
        assert keyless or after.host_key == "host-key"
        call = after


def in_state(state: State) -> Call:
    """Return a call in this state, reached by events."""
    asked = ("proposed", "validated", "approval_requested")
    stories: dict[State, tuple[Any, ...]] = {
        "unknown": (),
        "proposed": ("proposed",),
        "validated": ("proposed", "validated"),
        "rejected": ("proposed", "rejected"),
        "authorized": STARTED[:-1],
        "denied": ("proposed", "denied"),
        "awaiting-approval": asked,
        "started": STARTED,
        "succeeded": (*STARTED, "succeeded"),
        "failed": (*STARTED, "failed"),
        "needs-review": (*STARTED, UNKNOWN),
        "abandoned": (*STARTED, UNKNOWN, ["reviewed", {"verdict": "abandon"}]),
        "superseded": (*asked, "superseded"),
    }
    return tell(*stories[state])


@pytest.mark.parametrize("state", get_args(State))
@pytest.mark.parametrize("name", [name for name in BODIES if name.startswith("call.")])
@settings(max_examples=4)  # for each of 208 pairs
@given(data=st.data())
def test_every_pair_of_state_and_event_is_decided(state: State, name: str, data: st.DataObject) -> None:
    """Each event either may follow the state and leads to a known one, or is refused and nothing changes."""
    before = in_state(state)
    copy = before.changed()
    new = event(aligned(data.draw(choices(BODIES[name])), before), event_id=EVENT_ID)  # type: ignore[arg-type]  # a call's
    legal = type(new.body) in FOLLOWS[state] and refusal(before, new) is None
    try:
        after = evolve(before, new, before.sequence + 1)
    except IllegalTransition:
        assert not legal
    else:
        assert legal
        assert after.state in get_args(State)
        assert after.sequence == before.sequence + 1
    assert before == copy


def test_every_state_can_be_reached() -> None:
    """The calls of the test above are in the states that they stand for."""
    assert {state: in_state(state).state for state in get_args(State)} == {state: state for state in get_args(State)}
