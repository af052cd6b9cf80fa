"""Where a secret is looked for, and what it never touches: the ledger reads its own words again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.events import CallRejected, CallSucceeded, MessageRecorded, TurnRecorded
from ledger.events.fields import fields_of
from ledger.events.names import BODIES
from ledger.session.redaction import MASK, alike
from ledger.session.scrubbing import CODES, FOREIGN, scrubber
from tests.session.agents import asked, opened, recorded

HIDE: dict[str, Any] = {
    "type": "object",
    "properties": {"key": {"type": "string", "writeOnly": True}},
    "required": ["key"],
}
OURS = {
    "agent",
    "arguments",
    "by",
    "catalog_digest",
    "corrects",
    "decisions",
    "deadline",
    "description_digest",
    "digest_after",
    "digest_before",
    "duplicate_of",
    "expires_at",
    "gates",
    "groups",
    "hint",
    "host",
    "host_release",
    "idempotency_key",
    "key",
    "labels",
    "ledger_version",
    "limit",
    "limits",
    "model",
    "offered",
    "os_user",
    "owner",
    "parent",
    "person",
    "policy",
    "provider",
    "provider_call_id",
    "raw_arguments",
    "repair_of",
    "replacement",
    "response_id",
    "role",
    "settled_by",
    "stop_reason",
    "superseded_by",
    "tool_choice",
    "upcast_digest",
    "usage",
    "validator",
    "who",
    "worker",
    "arguments_digest",
}
"""Fields that no secret is looked for in: the ledger, or the host, wrote them, or reads them as they are."""


def test_of_every_field_it_is_decided_whose_words_it_holds() -> None:
    """A field that comes later is scrubbed, or stands here for a reason; numbers and closed words are never touched."""
    bodies = {
        name: body
        for name, body in BODIES.items()
        if not name.startswith(("tool.", "ledger.", "session.erased"))  # of the catalog, of administration
    }
    fields = [field for body in bodies.values() for field in fields_of(body)]
    open_ones = {field.name for field in fields if not field.choices and not {int, float, bool} & {*field.kinds}}
    assert open_ones - FOREIGN - CODES == OURS
    assert not {field.name for field in fields if {int, float, bool} & {*field.kinds}} & (FOREIGN | CODES)


def test_the_size_of_a_result_is_no_secret(tmp_path: Path) -> None:
    """A number of ours may be the number that is secret: the effect's outcome is recorded, and can be read again."""
    with opened(tmp_path) as ledger:
        ledger.tool("hide", effect="write", schema=HIDE)(lambda key: None)
        ledger.tool("say", effect="external")(lambda: "x" * 1232)
        session = ledger.session("s")
        session.call("hide", {"key": "1234"})
        assert (session.call("say", {}).state, recorded(ledger, "s")[-1].body.size) == ("succeeded", 1234)  # type: ignore[union-attr]  # the end


def test_a_tool_may_be_called_like_a_secret(tmp_path: Path) -> None:
    """The recorded offer, and what recovery decided, name it: a session that is carried on takes its calls."""
    with opened(tmp_path) as ledger:
        ledger.tool("hide", effect="write", schema=HIDE)(lambda key: None)
        ledger.tool("run_test", effect="read")(lambda: None)
        session = ledger.session("s")
        session.tools()
        session.dispatch(asked(("hide", {"key": "test"})))
        session.tools()
        session.dispatch(asked(("run_test", {})))
        session.propose("run_test", {})
    with opened(tmp_path) as ledger:
        ledger.tool("hide", effect="write", schema=HIDE)(lambda key: None)
        ledger.tool("run_test", effect="read")(lambda: None)
        session = ledger.session("s")
        session.messages()
        assert session.dispatch(asked(("run_test", {}), ids=("b",))).calls[0].state == "succeeded"


@pytest.mark.parametrize(
    ("secret", "text", "found"),
    [
        ("123", "123", False),
        ("1234", "12345", False),
        ("1234", "x1234", False),
        ("1234", "1234, (1234)_1234", True),
        ("1234", "\\n1234", True),
        ("1234", "\\x1b1234 \\u00001234 %201234", True),
        ("1234", "é1234", False),
        ("é!ab", json.dumps({"a": "é!ab"}), True),
        ("(ab)", "x(ab)x", True),
        ("longer67", "xlonger67x", True),
        ("1234", "01a22c98-1234-7000-8747-37b0e954d933", False),
        ("01a22c98-1234-7000-8747-37b0e954d933", "01a22c98-1234-7000-8747-37b0e954d933", True),
    ],
)
def test_a_short_secret_is_found_as_a_word(secret: str, text: str, found: bool) -> None:
    """Behind an escape a word begins, too; an id is one word; what is long is no coincidence anywhere."""
    after = scrubber([secret]).scrub({"a": [text]})["a"][0]
    assert ((MASK in after), secret in after.replace(text if not found else "", "")) == (found, False)


def test_what_holds_no_secret_is_the_same_object() -> None:
    """Whether anything was masked can be asked so; a list and a tuple stay what they are."""
    value = {"a": [1, (2, "x")], "b": {"c": 1.5, "d": True}}
    assert scrubber(["1234"]).scrub(value) is value
    assert scrubber(["12"]).scrub("12") == "12"
    assert scrubber(["1234"]).scrub({"1234": (1234, 1234.0, "a")}) == {MASK: (MASK, MASK, "a")}


def test_a_providers_words_are_no_secrets() -> None:
    """A role, a type or a signature is read by the provider; what is said is masked, and so are other names."""
    message = {"role": "user", "content": [{"type": "text", "text": "the user", "user": {"type": 1, "role": ["user"]}}]}
    body = scrubber(["user", "content", "text"]).body(MessageRecorded(role="user", provider="openai", message=message))
    inside = {"type": "text", "text": f"the {MASK}", MASK: {"type": 1, "role": [MASK]}}
    assert body == MessageRecorded(role="user", provider="openai", message={"role": "user", "content": [inside]})


def test_of_our_own_objects_places_and_words_are_masked() -> None:
    """A violation and an encoding keep their keys and their kind; a host's code is masked where it is none of ours."""
    masks = scrubber(["kind", "1234", "unavailable"])
    mark = {"pointer": "/1234", "kind": "kind", "type": "kind"}
    assert masks.body(CallSucceeded(encodings=(mark,))).encodings == (mark | {"pointer": f"/{MASK}"},)
    violation = {"pointer": "", "keyword": "A1 1234", "message": "not 1234"}
    refused = CallRejected(gate="business", code="kind", error_class="model", message="kind", violations=(violation,))
    after = masks.body(refused)
    assert (after.code, after.message, after.hint) == ("kind", MASK, None)
    told = {"schemaDigest": "1234", "attempt": 1, "status": "kind", "violations": [violation]}
    turn = TurnRecorded(kind="structured", provider="openai", calls=0, structured=told, usage={"1234": 1234})
    masked = told | {"violations": [dict(each) for each in after.violations]}
    assert (masks.body(turn).structured, masks.body(turn).usage) == (masked, {"1234": 1234})
    assert after.violations == ({"pointer": "", "keyword": f"A1 {MASK}", "message": f"not {MASK}"},)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({MASK: 1}, {"a": 1}, True),
        ({f"x{MASK}": 1, "b": 2}, {"xa": 1, "b": 2}, True),
        ({f"x{MASK}": 1, "b": 2}, {"xa": 1, "b": 3}, False),
        ({f"x{MASK}": 1}, {"a": 1}, False),
        ({f"x{MASK}": 1}, {}, False),
        ({}, {"a": 1}, False),
        ({"a": 1}, {"b": 1}, False),
    ],
)
def test_masked_names_may_be_any_that_fit(first: Any, second: Any, same: bool) -> None:
    """Nobody knows which member is which then; what is left of a name, and the other members, still tell two apart."""
    assert (alike(first, second), alike(second, first)) == (same, same)
