"""A crash in this process: nothing more is recorded, and the next ledger goes on from there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ledger.testing
from ledger import Ledger
from ledger.errors import StoreUnavailable
from ledger.testing import Crash
from ledger.testing.empty import open_fresh
from tests.session.agents import types


def acting(ledger: Ledger, acts: list[str]) -> Ledger:
    """Register a tool that keeps what it did."""

    @ledger.tool("act", effect="write")
    def act(what: str) -> str:
        """Act."""
        acts.append(what)
        return what

    return ledger


@pytest.fixture
def crash(tmp_path: Path) -> Iterator[tuple[Ledger, Crash]]:
    with open_fresh(tmp_path) as first:
        yield first, Crash(first, lambda: open_fresh(tmp_path))


def test_a_crash_leaves_what_was_recorded_before(crash: tuple[Ledger, Crash]) -> None:
    """After the start of a write: it did not run, it is not run again, and a person is asked."""
    first, crashes = crash
    acts: list[str] = []
    acting(first, acts)
    with crashes.after("call.started"):
        first.session("s").call("act", {"what": "x"})
    with pytest.raises(StoreUnavailable):
        first.session("s").call("act", {"what": "y"})
    again = acting(crashes.reopen(), acts)
    assert types(again, "s")[-1] == "call.started"
    again.session("s").messages()
    assert [row["state"] for row in again.calls()] == ["needs-review"]
    assert acts == []
    again.close()


def test_the_next_process_may_crash_too(crash: tuple[Ledger, Crash]) -> None:
    """Each counts anew from its own block; a crash before an append leaves nothing of it."""
    first, crashes = crash
    acts: list[str] = []
    acting(first, acts).session("s").call("act", {"what": "a"})
    with crashes.before("call.succeeded"):
        first.session("s").call("act", {"what": "b"})
    again = acting(crashes.reopen(), acts)
    with crashes.after(1):
        again.session("t").call("act", {"what": "c"})
    assert acts == ["a", "b"]
    assert types(again, "t")[-1] == "call.started"
    again.close()


def test_a_moment_that_does_not_come_fails(crash: tuple[Ledger, Crash]) -> None:
    """A test that meant a crash and had none says so; the ledger lives on."""
    first, crashes = crash
    acting(first, [])
    with pytest.raises(AssertionError, match=r"after 'call.failed' was not reached"), crashes.after("call.failed"):
        first.session("s").call("act", {"what": "x"})
    assert first.session("s").call("act", {"what": "y"}).state == "succeeded"


def test_what_goes_wrong_in_the_block_is_told(crash: tuple[Ledger, Crash]) -> None:
    """It is not taken for the crash."""
    with pytest.raises(ZeroDivisionError), crash[1].after(1):
        raise ZeroDivisionError


def test_a_tool_that_still_runs_records_nothing(crash: tuple[Ledger, Crash]) -> None:
    """Its thread belongs to the dead process: its outcome is lost, as it would be."""
    first, crashes = crash
    ends, ended = threading.Event(), threading.Event()

    @first.tool("wait", effect="write", resource_keys=("/n",))
    def wait(n: int) -> int:
        """Wait, the second one until the test is over."""
        if n == 2:
            ends.wait(30)
            ended.set()
        return n

    calls = [{"id": str(n), "function": {"name": "wait", "arguments": f'{{"n": {n}}}'}} for n in (1, 2)]
    with crashes.after("call.succeeded"):
        first.session("s").dispatch({"role": "assistant", "tool_calls": calls})
    before = types(first, "s")
    ends.set()
    assert ended.wait(30)
    assert types(first, "s") == before
    assert before.count("call.succeeded") == 1


def test_names_are_loaded_when_they_are_used() -> None:
    """The package lists what it offers, and says so of a name that it does not have."""
    assert dir(ledger.testing) == sorted(ledger.testing.__all__)  # what type checkers read says the same
    assert all(getattr(ledger.testing, name).__module__.startswith("ledger.testing.") for name in dir(ledger.testing))
    name: Any = "Nothing"
    with pytest.raises(AttributeError, match="Nothing"):
        getattr(ledger.testing, name)
