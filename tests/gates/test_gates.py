"""Each gate by itself: what it lets through, and how it says no."""

from __future__ import annotations

from typing import Any

import pytest

from ledger import Allow, Ask, Deny, Invalid
from ledger.answers import duration
from ledger.catalog import compile_schema
from ledger.errors import UsageError
from ledger.events import CallApprovalRequested, CallAuthorized, CallDenied, CallRejected
from ledger.gates import Asked, Situation, authorize, business, decode, lookup, validate

KNOWN: dict[str, Any] = {"known": True, "stage": "active", "side_effecting": True, "names": ("send", "look")}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, None),
        ({"offered": {"send"}}, None),
        ({"offered": {"look"}}, "not_offered"),
        ({"allowed": False}, "not_offered"),
        ({"whole": False}, "incomplete_turn"),
        ({"stage": None, "known": False}, "unknown_tool"),
        ({"known": False}, "tool_unavailable"),
        ({"stage": "hidden"}, None),
        ({"stage": "compat"}, "tool_retired"),
        ({"stage": "compat", "side_effecting": False}, None),
        ({"stage": "removed", "side_effecting": False}, "tool_retired"),
        ({"stage": "removed", "whole": False}, "incomplete_turn"),
    ],
    ids=str,
)
def test_the_lookup_gate(changes: dict[str, Any], code: str | None) -> None:
    """A tool has to be known, in a stage that runs, offered, and its turn whole."""
    refused = lookup("send", Situation(**{**KNOWN, **changes}))
    assert (refused.code if refused else None) == code


def test_an_unknown_tool_names_the_one_that_was_probably_meant() -> None:
    """A look-alike is suggested, something far off is not."""
    unknown = Situation(**{**KNOWN, "stage": None, "known": False})
    near, far = lookup("sned", unknown), lookup("frobnicate", unknown)
    assert near is not None
    assert far is not None
    assert "Did you mean send?" in near.message
    assert "Did you mean" not in far.message


def test_a_retired_tool_answers_with_its_replacements() -> None:
    """The model can repair that only where there is something to use instead."""
    replaced = lookup(
        "send", Situation(**{**KNOWN, "stage": "removed", "replacements": ({"tool": "mail"},), "hint": "h"})
    )
    gone = lookup("send", Situation(**{**KNOWN, "stage": "removed"}))
    assert replaced is not None
    assert gone is not None
    assert (replaced.replacement, replaced.hint, replaced.model_can_repair) == ([{"tool": "mail"}], "h", True)
    assert (gone.replacement, gone.model_can_repair) == (None, False)


@pytest.mark.parametrize(
    ("raw", "given", "needs", "expected"),
    [
        ('{"a": 1}', None, True, {"a": 1}),
        (None, {"a": 1}, True, {"a": 1}),
        ("", None, False, {}),
        ("  ", None, False, {}),
        (" \t\r\n", None, False, {}),
        ("\u00a0", None, False, "invalid_json"),
        ("\x1c", None, False, "invalid_json"),
        ("null", None, False, {}),
        (None, None, False, {}),
        ("", None, True, "missing_arguments"),
        ("null", None, True, "missing_arguments"),
        (None, None, True, "missing_arguments"),
        ("[]", None, False, "not_an_object"),
        ("3", None, False, "not_an_object"),
        ('"{}"', None, False, "not_an_object"),
        (None, [1], False, "not_an_object"),
        (None, "text", False, "not_an_object"),
        ('{"path":"a.py","content":"impor', None, True, "invalid_json"),
        ('{"a":1,"a":2}', None, True, "duplicate_key"),
        ('{"a":1e400}', None, True, "number_out_of_range"),
        ('{"a":9007199254740993.0}', None, True, "number_rounded"),
        (None, {"a": float("nan")}, True, "nan_or_infinity"),
        (None, {"a": b"x"}, True, "not_json"),
        ('{"a":"\\udce9"}', None, True, "lone_surrogate"),
    ],
    ids=str,
)
def test_the_decode_gate(raw: str | None, given: object, expected: object, *, needs: bool) -> None:
    """An object comes through; everything else is refused with its own code, and never repaired by guessing."""
    found = decode(raw, given, needs_arguments=needs)
    if isinstance(found, CallRejected):
        assert found.gate == "decode"
        assert found.error_class == "model"
        assert found.model_can_repair
        assert found.code == expected
    else:
        assert found == expected


def test_the_schema_gate_names_every_violation() -> None:
    """Pointer, keyword and message for each; the first one is told in words."""
    schema = compile_schema({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n", "m"]})
    assert validate(schema, {"n": 1, "m": 2}) is None
    refused = validate(schema, {"n": "x"})
    assert refused is not None
    assert (refused.code, refused.gate, len(refused.violations)) == ("schema_validation", "schema", 2)
    assert "and 1 more" in refused.message
    assert {v["pointer"] for v in refused.violations} == {"/m", "/n"}


def test_a_validator_that_fails_is_an_outcome_of_the_gate() -> None:
    """Arguments that could not be checked do not run, and the model is not blamed."""

    class Broken:
        def is_valid(self, value: object) -> bool:
            raise RecursionError

    schema = compile_schema({"type": "object"})
    schema._validator, schema._quick = Broken(), None
    refused = validate(schema, {})
    assert refused is not None
    assert (refused.code, refused.error_class, refused.model_can_repair) == ("gate_error", "tool", False)


def test_the_business_gate() -> None:
    """None lets through, Invalid refuses with its own words, anything else fails closed."""
    assert business(None) is None
    refused = business(Invalid("closed", "The shop is closed.", repairable=False))
    assert refused is not None
    assert (refused.code, refused.violations, refused.model_can_repair) == ("closed", (), False)
    placed = business(Invalid("bad", "No such day.", "/date"))
    assert placed is not None
    assert placed.violations == ({"pointer": "/date", "keyword": "bad", "message": "No such day."},)
    odd = business(False)
    assert odd is not None
    assert odd.code == "gate_error"


def after(delay: float) -> str:
    """A clock that says how long from now."""
    return f"in {delay:.0f} s"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([Allow("r1")], CallAuthorized),
        ([Allow(), Ask("ada")], CallApprovalRequested),
        ([Ask(), Deny("no", "No.")], CallDenied),
        ([Allow(), "yes"], CallDenied),
        ([Allow(), None], CallDenied),
    ],
    ids=str,
)
def test_deny_over_ask_over_allow(answers: list[Any], expected: type) -> None:
    """What is neither of the three, or cannot be read, denies."""
    decision = authorize([Asked(f"p{n}", answer) for n, answer in enumerate(answers)], "digest", after)
    assert isinstance(decision, expected)


def test_a_policy_that_fails_denies_without_telling_why() -> None:
    """The reason is recorded as a rule for the audit; the message has no detail that helps probing."""
    decision = authorize([Asked("p", None, failed="KeyError")], "digest", after)
    assert isinstance(decision, CallDenied)
    assert (decision.code, decision.rule) == ("gate_error", "KeyError")
    assert "KeyError" not in decision.message


def test_a_request_is_bound_to_digest_people_and_expiry() -> None:
    """One name or several, a duration in words or seconds, or no end."""
    one = authorize([Asked("p", Ask("ada", expires="15m"))], "digest", after)
    several = authorize([Asked("p", Ask(["ada", "bob"], expires=None))], "digest", after)
    assert isinstance(one, CallApprovalRequested)
    assert isinstance(several, CallApprovalRequested)
    assert (one.who, one.expires_at, one.arguments_digest) == (("ada",), "in 900 s", "digest")
    assert (several.who, several.expires_at) == (("ada", "bob"), None)


@pytest.mark.parametrize(
    ("text", "expected"), [("30s", 30), ("15m", 900), ("24h", 86400), ("1.5d", 129600), (7, 7), (0.5, 0.5)]
)
def test_durations(text: str | float, expected: float) -> None:
    """A number with its unit, or seconds."""
    assert duration(text) == expected


@pytest.mark.parametrize("wrong", ["", "h", "15", "15 m", "-1h", "1h30m", "٣h"])
def test_what_is_no_duration(wrong: str) -> None:
    """The error says how to write one."""
    with pytest.raises(UsageError, match="write 30s, 15m, 24h or 7d"):
        duration(wrong)


@pytest.mark.parametrize(
    ("options", "because"),
    [
        ({"expires": "soon"}, "write 30s, 15m, 24h or 7d"),
        ({"expires": True}, "not a duration"),
        ({"expires": ["1h"]}, "not a duration"),
        ({"expires": 0}, "a time to come"),
        ({"expires": "0s"}, "a time to come"),
        ({"expires": -5}, "a time to come"),
        ({"expires": float("nan")}, "a time to come"),
        ({"expires": float("inf")}, "a time to come"),
        ({"expires": "36501d"}, "100 years"),
        ({"who": ""}, "a name, or several"),
        ({"who": ()}, "a name, or several"),
        ({"who": ["ada", ""]}, "a name, or several"),
        ({"who": 7}, "a name, or several"),
        ({"who": ["ada", 7]}, "a name, or several"),
        ({"who": iter(["ada"])}, "a name, or several"),  # read once, nobody would be left
    ],
)
def test_a_request_that_nobody_could_answer_is_refused_where_it_is_written(options: Any, because: str) -> None:
    """Not at the first call: a person reads at once what is wrong with it."""
    with pytest.raises(UsageError, match=because):
        Ask(**options)


def test_a_request_that_cannot_be_dated_denies() -> None:
    """Whatever fails with an answer that a policy gave: it fails closed."""

    def never(_delay: float) -> str:
        raise OverflowError("no such year")

    decision = authorize([Asked("p", Ask())], "digest", never)
    assert isinstance(decision, CallDenied)
    assert (decision.code, decision.rule) == ("gate_error", "no such year")
