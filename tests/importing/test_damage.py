"""Files that are damaged anywhere: nothing is raised, every line that is whole is taken, every other one is named."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.importing import Repaired, Source, repaired
from ledger.providers.formats import FORMATS
from ledger.store.memory import MemoryStore
from tests.importing.chats import WHOLE, chat, taken, told
from tests.importing.test_run import HOSTED, SEARCHED
from tests.providers.anthropic.making import use
from tests.providers.imports.test_claude_code import model, user

LINES = [chat(WHOLE, f"s{n}") for n in range(5)]
DAMAGES = st.tuples(
    st.sampled_from(["cut", "zeros", "glue", "byte", "drop"]), st.integers(0, 4), st.floats(0, 1), st.binary(max_size=3)
)


def damaged(kind: str, number: int, place: float, some: bytes) -> list[bytes]:
    """Return the lines with one of them damaged."""
    lines = list(LINES)
    line = lines[number]
    at = int(place * (len(line) - 1))
    lines[number] = {
        "cut": line[:at] + b"\n",
        "zeros": b"\0" * 3 + line,
        "glue": line.rstrip(b"\n"),
        "byte": line[:at] + some + line[at + 1 :],
        "drop": line[:at],
    }[kind]
    return lines


@settings(max_examples=60)
@given(DAMAGES)
def test_lines_that_are_whole_are_taken(damage: tuple[str, int, float, bytes]) -> None:
    """Also the one behind a line that lost its end; what is told names the damaged line."""
    kind, number, place, _ = damage
    unended = kind == "drop" or (kind == "byte" and place == 1)  # the line's end is another byte
    data = b"".join(damaged(*damage))
    report = taken(data)
    found = {each.session_id for each in report.sessions if each.state == "new" and each.calls == 2}
    whole = {f"s{n}" for n in range(5) if n != number}
    lost = whole - found
    assert lost <= ({f"s{number + 1}"} if unended else set())  # torn where a value is to come, it is a part
    if kind in ("zeros", "glue"):
        assert f"s{number}" in found
    for problem in report.problems:
        assert number + 1 <= problem.line <= number + 1 + damage[3].count(b"\n")
        assert 0 <= problem.offset <= len(data)


def test_a_document_of_kinds_that_nobody_sends_stops_no_other() -> None:
    """The reader fails at it; what follows is read on."""
    odd = json.dumps({"request": {"messages": 5}, "response": {}}).encode() + b"\n"
    report = taken(LINES[0] + b"7\n" + odd + b"7\n" + LINES[1], format="auto")
    assert [each for each in told(report) if each[2] > 1] == [("s0", "new", 9), ("s1", "new", 9)]
    assert [(each.line, each.code) for each in report.problems] == [(2, "skipped"), (3, "unreadable"), (4, "skipped")]
    assert "'int' object is not iterable" in report.problems[1].message


DOCUMENTS: dict[str, list[Any]] = {
    "openai": [{"session": "s", "messages": WHOLE}],
    "anthropic": [
        {
            "session": "s",
            "messages": [
                {"role": "user", "content": "Hi"},
                HOSTED,
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
                {"role": "assistant", "content": [SEARCHED]},
            ],
        }
    ],
    "gemini": [
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Hi"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "pay", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "pay", "response": {"ok": 1}}}]},
            ]
        }
    ],
    "responses": [
        {
            "input": [
                {"role": "user", "content": "Hi"},
                {"type": "function_call", "call_id": "c1", "name": "pay", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            ]
        }
    ],
    "bedrock": [
        {
            "messages": [
                {"role": "user", "content": [{"text": "Hi"}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "pay", "input": {}}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "ok"}]}}]},
            ]
        }
    ],
    "claude-code": [user("u1", None), model("m1", "u1", use("c1"))],
}
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, 0, True, 1.5, "", "x", [], {}, [None], [[]], "caf\ud83d", "\0", 2**70, [{}], {"a": 1}]
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to each part of a value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way for key, part in parts for way in [(*path, key), *paths(part, (*path, key))]]


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=40)
@given(st.data())
def test_parts_of_any_kind_are_told_or_taken(name: str, data: st.DataObject) -> None:
    """Whatever stands in a transcript, nothing is raised: it is taken, told as a problem, or refused with a reason."""
    document = copy.deepcopy(DOCUMENTS[name])
    for _ in range(data.draw(st.integers(1, 3))):
        way = data.draw(st.sampled_from(paths(document)))
        place: Any = document
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = copy.deepcopy(data.draw(ODD))
        if not paths(document):
            break
    content = b"".join(json.dumps(each).encode() + b"\n" for each in document)
    for found in repaired(Source([content], name), data.draw(st.sampled_from(FORMATS))):
        assert not isinstance(found, Repaired) or found.report.session_id
    store = MemoryStore()
    taken(content, store, format=name)
    assert taken(content, store, format=name).added == 0
