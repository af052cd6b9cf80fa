"""What happened, in a few words."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ledger.events import BODIES, Body, CallProposed, MessageRecorded, SessionResumed, Unreadable
from ledger.events.fields import from_wire
from ledger.replay.summary import summary
from tests.providers.recording import body

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("session.opened", {"agent": "mini", "model": "gpt-5"}, "opened by mini, model gpt-5"),
    ("session.opened", {}, "opened"),
    ("session.claimed", {"owner": "h:1", "token": 2}, "by h:1, token 2"),
    ("session.resumed", {"decisions": []}, "0 decided"),
    ("session.resumed", {"decisions": [{"tool": "f", "action": "run"}, 5]}, "2 decided: f run, None None"),
    ("session.closed", {"reason": "error", "turns": 2, "calls": 3, "message": "x"}, "error, 2 turns, 3 calls: x"),
    ("message.recorded", {"role": "user", "provider": "p", "message": {"content": "Hi\nyou"}}, "user: Hi you"),
    ("message.recorded", {"role": "user", "provider": "p", "message": "Hi"}, "user: Hi"),
    ("message.recorded", {"role": "user", "provider": "p", "message": {"x": 1}}, 'user: {"x":1}'),
    ("turn.recorded", {"kind": "text", "provider": "p", "calls": 0, "text": "a" * 200}, f"text: {'a' * 99}…"),
    ("turn.recorded", {"kind": "tool_calls", "provider": "p", "calls": 1}, "tool_calls, 1 call"),
    ("batch.planned", {"size": 1, "mode": "parallel", "groups": [[0]]}, "1 call, parallel, 1 group"),
    ("batch.planned", {"size": 3, "mode": "grouped", "groups": [[0], [1, 2]]}, "3 calls, grouped, 2 groups"),
    ("call.proposed", {"rawArguments": '{"a" :1}', "imported": True}, 'asked with {"a" :1} (imported)'),
    ("call.proposed", {"arguments": {"a": 1}}, 'asked with {"a":1}'),
    ("call.validated", {}, "passed schema"),
    ("call.rejected", {"gate": "schema", "code": "x", "errorClass": "model", "message": "No."}, "schema: x: No."),
    ("call.authorized", {"by": "policy", "policy": "none"}, "no policy is registered"),
    ("call.authorized", {"by": "policy", "policy": "limits"}, "by policy limits"),
    ("call.authorized", {"person": "ann", "by": "person"}, "by person ann"),
    ("call.denied", {"code": "x", "message": "No.", "policy": "limits"}, "x: No. (by limits)"),
    ("call.denied", {"code": "x", "message": "No.", "by": "ada", "note": "late"}, "x: No. (by ada): late"),
    ("call.approval_requested", {"who": ["ann", "bob"], "message": "Send?"}, "asks ann, bob: Send?"),
    ("call.approval_requested", {}, "asks anybody"),
    ("call.started", {}, "on w, key k"),
    ("call.attempt_failed", {}, "unavailable: It is closed; again in 1 s"),
    ("call.succeeded", {"result": [1]}, "[1]"),
    ("call.succeeded", {"status": "not_found", "message": "None."}, "not found: None."),
    ("call.failed", {"code": "x", "errorClass": "tool", "message": "No.", "notStarted": True}, "not started: x: No."),
    ("call.failed", {"code": "x", "errorClass": "tool", "message": "No."}, "x: No."),
    ("call.flagged", {"reason": "duplicate", "duplicateOf": "c1"}, "duplicate of c1"),
    ("call.flagged", {"reason": "outcome-unknown", "evidence": {"a": 1}}, 'outcome-unknown: {"a":1}'),
    ("call.authorized", {"by": "person", "person": "ada", "note": "seen"}, "by person ada: seen"),
    ("call.reviewed", {"verdict": "did-not-happen", "run": True, "note": "n"}, "did-not-happen, run says ann: n"),
    ("call.reviewed", {"verdict": "abandon"}, "abandon says ann"),
    (
        "call.upcast",
        {
            "fromVersion": 1,
            "toVersion": 2,
            "upcastDigest": "",
            "digestBefore": "",
            "digestAfter": "",
            "validator": "",
            "arguments": {},
        },
        "version 1 to 2",
    ),
    ("call.superseded", {}, "by other, says ann"),
    ("call.outcome_arrived_late", {"ended": "failed", "settles": True, "message": "m"}, "failed, settles it: m"),
    ("call.outcome_arrived_late", {"ended": "succeeded"}, "succeeded, kept as evidence"),
    ("call.noted", {}, "ann: Look."),
    (
        "tool.version_published",
        {"schema": {}, "contract": {}, "description": "Sends.", "descriptionDigest": ""},
        "Sends.",
    ),
    ("tool.stage_changed", {"stage": "compat", "hint": "Use b."}, "is compat now: Use b."),
    ("session.erased", {"by": "ann"}, "by ann"),
    ("ledger.pruned", {"sessions": ["a"], "proof": {}, "by": "ann"}, "1 session by ann"),
]


@pytest.mark.parametrize(("kind", "wire", "text"), CASES)
def test_each_event_has_its_words(kind: str, wire: dict[str, Any], text: str) -> None:
    """One line for each type of event, bounded, without a line break."""
    assert summary(body(kind, wire)) == text


def test_no_type_is_without_words() -> None:
    """Every recorded type is among the cases."""
    assert {kind for kind, _, _ in CASES} == set(BODIES)


def test_what_cannot_be_read_says_why() -> None:
    """An unreadable event's words are the reason."""
    unread = Unreadable(type="x", format=2, reason="a newer release wrote this event", raw={}, newer=True)
    assert summary(unread) == "a newer release wrote this event"


def test_words_never_fail() -> None:
    """Odd contents of recorded bodies are shown, not tripped over."""
    odd: list[Body] = [
        CallProposed(arguments="\ud800"),
        MessageRecorded(role="", provider="", message=None),
        SessionResumed(decisions=(None,)),
    ]
    assert all(isinstance(summary(each), str) for each in odd)
    assert dataclasses.is_dataclass(from_wire(BODIES["call.noted"], {"by": "a", "text": "b"}))
