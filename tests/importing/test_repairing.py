"""Transcripts that a provider refuses, told again."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import UsageError
from ledger.importing import Problem, Repaired, Source, repaired
from ledger.providers.bundle import write_bundle
from ledger.providers.check import check
from ledger.providers.formats import FORMATS
from ledger.store.memory import MemoryStore
from tests.importing.chats import ASK, PAYS, WHOLE, chat, jsonl, records, result, taken
from tests.providers.anthropic.making import use
from tests.providers.imports.test_claude_code import model, user


def told(data: bytes, to: str | None = None) -> list[Repaired | Problem]:
    """Return what is told of a file."""
    return list(repaired(Source([data]), to))


def only(data: bytes, to: str | None = None) -> Repaired:
    """Return the one session of a file."""
    (found,) = told(data, to)
    assert isinstance(found, Repaired)
    return found


BROKEN: dict[str, list[Any]] = {
    "no result": [ASK, PAYS],
    "one of two": [ASK, PAYS, result("b", "ok")],
    "a message between": [ASK, PAYS, {"role": "user", "content": "And?"}, result("a", "1"), result("b", "2")],
    "a result of nothing": [ASK, result("z", "?"), PAYS, result("a", "1"), result("b", "2")],
    "a result twice": [ASK, PAYS, result("a", "1"), result("a", "1"), result("b", "2")],
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("to", FORMATS)
def test_what_is_refused_is_accepted_again(name: str, to: str) -> None:
    """Whatever was wrong with calls and results, every provider takes what is told; the rest is as it was."""
    assert check("openai", BROKEN[name]) != []
    found = only(chat(BROKEN[name]), to)
    assert (found.format, found.refused, check(to, found.body)) == (to, (), [])


def test_nothing_is_changed_where_nothing_is_wrong() -> None:
    """A conversation that is accepted comes back as it is, again and again."""
    found = only(chat(WHOLE))
    assert found.body == {"messages": WHOLE}
    assert only(chat(found.body["messages"])).body == found.body


def test_a_repair_is_repaired_to_itself() -> None:
    """What was added is told as it stands, not added again."""
    once = only(chat(BROKEN["one of two"])).body
    assert only(chat(once["messages"])).body == once


def test_formats_that_are_no_requests_become_some() -> None:
    """A session file is told to its model's provider, a ledger's export to that of its last turn."""
    lines = [user("u1", None), model("m1", "u1", use("c1"))]
    found = only(jsonl(lines))
    assert (found.format, found.report.open, check("anthropic", found.body)) == ("anthropic", 1, [])
    store = MemoryStore()
    taken(chat(WHOLE[:3]), store)
    exported = b"".join(write_bundle("s", records(store)))
    assert (only(exported).format, only(exported).report.open) == ("openai", 2)


def test_sessions_are_told_one_by_one() -> None:
    """Each from a memory of its own; what cannot be read is told between."""
    found = told(chat(WHOLE, "a") + b"x\n" + chat(WHOLE[:3], "a") + chat(WHOLE[1:], "a"))
    assert [type(each) for each in found].count(Problem) == 1
    sessions = [each for each in found if isinstance(each, Repaired)]
    assert [each.report.state for each in sessions] == ["new"] * 3
    assert sessions[2].body == {"messages": WHOLE[1:]}


def test_a_wire_format_that_is_none() -> None:
    """It is named."""
    with pytest.raises(UsageError, match="no wire format 'word'"):
        told(chat(WHOLE), "word")
