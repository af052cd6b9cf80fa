"""Claude Code's session files: a tree of lines, one block each."""

from __future__ import annotations

from typing import Any

from ledger.providers.claude_code import read_claude_code
from ledger.providers.imported import ImportedSession, Read, Said, Skipped, Turn
from tests.providers.anthropic.making import result, text, use


def line(uuid: str | None, parent: str | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """Return a line; `message_id` and `model` go into the message."""
    message: dict[str, Any] = {"role": kind, "content": content}
    for key, name in (("message_id", "id"), ("model", "model"), ("stop", "stop_reason")):
        if key in more:
            message[name] = more.pop(key)
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": f"2026-11-29T20:00:{len(uuid or ''):02d}Z",
        "isSidechain": False,
        "message": message,
    } | more


def user(uuid: str | None, parent: str | None, content: Any = "Hi", **more: Any) -> dict[str, Any]:
    """Return a user's line."""
    return line(uuid, parent, "user", content, **more)


def model(uuid: str, parent: str | None, *blocks: Any, **more: Any) -> dict[str, Any]:
    """Return a line of an assistant's message `m`."""
    return line(uuid, parent, "assistant", list(blocks), **{"message_id": "m", "model": "claude"} | more)


def read(*lines: Any) -> list[Read]:
    """Return what the reader yields."""
    return list(read_claude_code(lines))


def shape(items: list[Read]) -> list[Any]:
    """Return the items in short: sessions by id, turns by text, calls and outcomes, messages by content."""
    found: list[Any] = []
    for item in items:
        match item:
            case ImportedSession():
                found.append(item.id)
            case Turn():
                outcomes = [None if each is None else each.text for each in item.outcomes]
                calls = [call.provider_call_id for call in item.reply.calls]
                found.append((item.reply.text, *zip(calls, outcomes, strict=True)))
            case Said():
                found.append(item.message["content"])
            case Skipped():
                found.append(item.what)
    return found


SESSION = [
    {"type": "summary", "summary": "A session", "leafUuid": "r2"},
    {"type": "file-history-snapshot", "messageId": "u", "snapshot": {}},
    user("u", None, cwd="/home", gitBranch="main", version="2.0"),
    model("a1", "u", {"type": "thinking", "thinking": "Hm.", "signature": "s"}, stop=None),
    model("a2", "a1", use("x"), stop=None),
    model("a3", "a2", use("y"), stop="tool_use"),
    user("r1", "a2", [result("x", "1")]),
    user("r2", "a3", [result("y", "no", is_error=True)]),
    model("a4", "r2", text("Done."), message_id="n"),
]


def test_lines_become_messages_again() -> None:
    """One message from three lines, its calls parallel, each result at its call wherever it hangs in the tree."""
    items = read(*SESSION)
    assert shape(items) == ["s1", "Hi", (None, ("x", "1"), ("y", "no")), ("Done.",)]
    head, _, turn, _ = items
    assert isinstance(head, ImportedSession)
    assert (head.source, head.model, head.parent) == ("claude-code", "claude", None)
    assert head.labels == {"cwd": "/home", "gitBranch": "main", "version": "2.0"}
    assert isinstance(turn, Turn)
    assert turn.reply.items["content"][0]["signature"] == "s"
    assert (turn.reply.stop_reason, turn.reply.provider) == ("tool_use", "anthropic")
    assert [outcome.error for outcome in turn.outcomes if outcome] == [False, True]


def test_lines_that_repeat_are_read_once() -> None:
    """After a resume a file may hold earlier lines again."""
    assert shape(read(*SESSION, *SESSION)) == shape(read(*SESSION))


def test_what_was_taken_back_is_a_session_of_its_own() -> None:
    """A branch that the last line does not belong to: its calls ran all the same."""
    items = read(
        user("u", None),
        model("a", "u", use("x")),
        user("r", "a", [result("x", "1")]),
        model("b", "r", text("Wrong way."), message_id="n"),
        user("u2", "u", "Another way"),
        model("c", "u2", text("Right."), message_id="o"),
    )
    assert shape(items) == ["s1", "Hi", "Another way", ("Right.",), "s1/1", (None, ("x", "1")), ("Wrong way.",)]
    assert isinstance(items[4], ImportedSession)
    assert items[4].parent == "s1"


def test_subagents_are_sessions_of_their_own() -> None:
    """Each side chain is one, by its agent or by its first line."""
    items = read(
        user("u", None),
        user("p", None, "Look", isSidechain=True),
        model("q", "p", use("x"), isSidechain=True, message_id="k"),
        user("r", "q", [result("x", "1")], isSidechain=True),
        user("v", None, "Search", isSidechain=True, agentId="7"),
        model("w", "gone", text("Nothing."), isSidechain=True, agentId="7", message_id="l"),
        model("a", "u", text("Done.")),
    )
    assert shape(items) == ["s1", "Hi", ("Done.",), "s1/1", "Look", (None, ("x", "1")), "s1/2", "Search", ("Nothing.",)]
    heads = [item for item in items if isinstance(item, ImportedSession)]
    assert heads[2].labels == {"agentId": "7"}
    assert [head.parent for head in heads] == [None, "s1", "s1"]


def test_a_lost_line_loses_nothing_else() -> None:
    """A line whose parent cannot be found follows the one before it."""
    lines = [
        user("u", None),
        model("a", "lost", text("One.")),
        user("v", "a", "And?"),
        model("b", "v", text("Two."), message_id="n"),
    ]
    assert shape(read(*lines)) == ["s1", "Hi", ("One.",), "And?", ("Two.",)]
    assert shape(read(*lines[1:])) == ["s1", ("One.",), "And?", ("Two.",)]


def test_lines_of_other_types_hold_the_tree_together() -> None:
    """A progress line or a compaction between two messages is passed over, and what it ties together stays tied."""
    items = read(
        user("u", None),
        {"type": "progress", "uuid": "p", "parentUuid": "u"},
        {"type": "attachment", "uuid": "q", "parentUuid": "p"},
        model("a", "q", text("One.")),
        {"type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": None, "logicalParentUuid": "a"},
        user("v", "c", "Summary", isCompactSummary=True),
        {"type": "queue-operation", "uuid": "x"},
        {"type": "loop", "uuid": "y", "parentUuid": "z"},
        {"type": "loop", "uuid": "z", "parentUuid": "y"},
        user("w", "y", "Last"),
    )
    assert shape(items) == ["s1", "Hi", ("One.",), "Summary", "Last"]


def test_what_the_program_itself_said_is_no_turn() -> None:
    """An error that it wrote in the assistant's name is a message."""
    items = read(user("u", None), model("a", "u", text("API Error"), model="<synthetic>"))
    assert shape(items) == ["s1", "Hi", [text("API Error")]]
    head = items[0]
    assert isinstance(head, ImportedSession)
    assert head.model is None


def test_open_calls_orphans_and_odd_lines_are_kept() -> None:
    """A call without a result stays open, a stray result is what somebody said, a line that is none is named."""
    items = read(
        7,
        user("u", None),
        user("o", "u", [result("z", "stray"), text("And?")]),
        line(None, "o", "assistant", [use("x")], requestId="k"),
        {"type": "user", "uuid": "m", "parentUuid": None, "sessionId": "s1"},
    )
    assert shape(items)[:2] == ["s1", "no line of a session: int"]
    flat = shape(items)
    assert [result("z", "stray")] in flat
    assert (None, ("x", None)) in flat
    assert [text("And?")] in flat
    assert None in flat


def test_a_file_without_a_conversation_is_no_session() -> None:
    """Only a summary: nothing to yield."""
    assert read({"type": "summary", "summary": "x", "leafUuid": "y"}) == []
    assert [head.id for head in read(user("u", None) | {"sessionId": None}) if isinstance(head, ImportedSession)] == [
        None
    ]


def test_a_long_session_is_read_in_one_go() -> None:
    """Each line is looked at a few times, however many messages there are."""
    looked = 0

    class Message(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            nonlocal looked
            looked += 1
            return super().get(key, default)

    lines = [user("u", None)]
    for n in range(200):
        found = model(f"a{n}", lines[-1]["uuid"], text("Well."), message_id=f"m{n}")
        lines.append(found | {"message": Message(found["message"])})
    assert len([item for item in read(*lines) if isinstance(item, Turn)]) == 200
    assert looked < 200 * 20
