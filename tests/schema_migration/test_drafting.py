"""What is prepared for a person where a change of meaning stopped a call."""

from typing import Any

import pytest

from ledger.calls import NEW_CALL
from ledger.catalog import ToolDefinition, build_tool
from ledger.catalog.upcast_files import read_upcast
from ledger.schema_migration.drafting import draft_of

SEMANTIC = {"tool": "send", "from": 1, "to": 2, "semantic": "It has a subject now."}
ASK = [{"pointer": "/subject", "question": "About what?"}]
ARGUMENTS = {"to": "ada", "body": "a", "options": {"urgent": True, "copies": 2}}


def definition(document: dict[str, Any] | None) -> ToolDefinition:
    """A tool with this step from its first version."""

    def send(to: str) -> None:
        """Send."""

    upcasts = {1: read_upcast(document, "v1-v2.upcast.json", "send", (1, 2))} if document else {}
    versions = {1: build_tool(send, name="send").version}
    return ToolDefinition(name="send", current=1, versions=versions, upcasts=upcasts)


def drafted(document: dict[str, Any] | None, arguments: Any = ARGUMENTS, **call: Any) -> dict[str, Any]:
    found = NEW_CALL.changed(tool="send", schema_version=1, arguments=arguments, **call)
    return draft_of(definition(document), found).to_wire()


@pytest.mark.parametrize(
    ("words", "draft"),
    [
        ({"carry": ["/body"]}, {"body": "a"}),
        ({"carry": ["/body", "/nowhere", "/body/deeper"]}, {"body": "a"}),
        ({"carry": ["/options/urgent", "/options/copies"]}, {"options": {"urgent": True, "copies": 2}}),
        ({"carry": [""]}, ARGUMENTS),
        ({"ops": [{"op": "rename", "from": "/to", "to": "/name"}], "carry": ["/name"]}, {"name": "ada"}),
        (
            {"ops": [{"op": "rename", "from": "/to", "to": "/name"}]},
            {"body": "a", "options": {"urgent": True, "copies": 2}, "name": "ada"},
        ),
        ({"ops": [{"op": "cast", "path": "/body", "to": "integer"}]}, None),
        ({}, {}),
    ],
)
def test_what_is_carried(words: dict[str, Any], draft: Any) -> None:
    """What the operations make of the arguments, of that what the file carries; nothing where they stop."""
    found = drafted(SEMANTIC | words | {"ask": ASK})
    assert found == {"reached": 1, "to": 2, "why": "It has a subject now.", "draft": draft, "ask": ASK}


def test_there_is_nothing_to_prepare() -> None:
    """Without a file nobody says what would follow; nor from arguments that are none, or that are masked."""
    nothing: dict[str, Any] = {"reached": 1, "to": None, "why": None, "draft": None, "ask": []}
    assert drafted(None) == nothing
    assert draft_of(None, NEW_CALL.changed(schema_version=1)).to_wire() == nothing
    carried = SEMANTIC | {"carry": ["/body"]}
    assert drafted(carried, redacted=True)["draft"] is None
    assert drafted(carried, arguments=None)["draft"] == {}
    pure = {"tool": "send", "from": 1, "to": 2, "assertedBy": "ada", "ops": []}
    assert drafted(pure)["draft"] is None


@pytest.mark.parametrize(
    ("ask", "filled"),
    [
        (["/subject"], {"body": "a", "subject": None}),
        (["/options/from", "/options/until"], {"body": "a", "options": {"from": None, "until": None}}),
        (["/body/0"], {"body": "a"}),
    ],
)
def test_an_answer_is_missing_until_somebody_gives_it(ask: list[str], filled: Any) -> None:
    """Null stands for each, so that nobody sends a draft; within a list the person writes it."""
    questions = [{"pointer": pointer, "question": "What?"} for pointer in ask]
    call = NEW_CALL.changed(tool="send", schema_version=1, arguments=ARGUMENTS)
    draft = draft_of(definition(SEMANTIC | {"carry": ["/body"], "ask": questions}), call)
    assert draft.to_fill_in == filled
    assert draft.draft == {"body": "a"}
    assert draft_of(None, call).to_fill_in is None
