"""Copies whose original ended without them are settled where the session is looked at next."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.errors import VerdictRefused
from ledger.importing import Wanted, import_file
from ledger.testing import crash
from tests.session.agents import asked, opened, recorded

ASKED: Any = [{"role": "user", "content": "Pay."}, asked(("pay", {"amount": 1}))]
ENDED: Any = [*ASKED, {"role": "tool", "tool_call_id": "call_0", "content": "paid"}]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with program(tmp_path) as found:
        yield found


def program(folder: Path) -> Ledger:
    """A program with a tool whose answer is lost."""
    found = opened(folder)

    @found.tool("pay", effect="external")
    def pay(amount: int) -> None:
        """Pay."""
        raise TimeoutError

    return found


def taken(ledger: Ledger, messages: Any) -> None:
    """Import a transcript into the ledger's session."""
    import_file(io.BytesIO(json.dumps(messages).encode()), ledger.url, format="openai", wanted=Wanted(session_id="s"))


@pytest.fixture
def copy(ledger: Ledger) -> str:
    """A copy that was left behind."""
    return left_behind(ledger)


def left_behind(ledger: Ledger, *, close: bool = False) -> str:
    """Make a copy of an imported call, whose result comes with a longer transcript."""
    taken(ledger, ASKED)
    session = ledger.session("s")
    session.messages()
    [found] = session.dispatch(asked(("pay", {"amount": 1}), ids=("other",))).calls
    if close:
        session.close()
    taken(ledger, ENDED)
    assert (ledger.find(found).state, found.call.reason) == ("needs-review", "duplicate")
    return found.call_id


LOOKS: dict[str, Callable[[Ledger], Any]] = {
    "a resume": lambda ledger: ledger.resume("s"),
    "a session that waits": lambda ledger: ledger.session("s").wait(60),
    "a step of it": lambda ledger: ledger.session("s").advance(next(ledger.calls(duplicates=True))["callId"]),
    "a program without the tool": lambda ledger: ledger.session("s").resume(execute=False),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_copy_is_settled_once_its_originals_end_is_there(
    ledger: Ledger, copy: str, look: Callable[[Ledger], Any]
) -> None:
    """However that end got there; looking again changes nothing."""
    assert ledger.session("s").resume(dry_run=True).decisions == []
    assert ledger.find(copy).state == "needs-review"
    look(ledger)
    call = ledger.find(copy)
    assert (call.state, call.result) == ("succeeded", "paid")
    before = recorded(ledger, "s")
    ends = {event.call_id: event for event in before if event.type.startswith(("call.rev", "call.out"))}
    assert ends[copy].causation_id == ends[call.flag.duplicate_of if call.flag else None].event_id
    look(ledger)
    assert recorded(ledger, "s") == before


def test_a_person_who_answers_for_it_finds_it_settled(ledger: Ledger, copy: str) -> None:
    """Of its original nothing is asked any more, so nobody is sent there."""
    with pytest.raises(VerdictRefused, match="resolved already: happened, by ledger"):
        ledger.resolve(copy, "abandon", by="ada")
    assert ledger.find(copy).state == "succeeded"


def test_other_arguments_for_it_find_it_settled(ledger: Ledger, copy: str) -> None:
    """No new call takes its place."""
    with pytest.raises(VerdictRefused, match="resolved already"):
        ledger.resolve(copy, arguments={"amount": 2}, by="ada")


def test_a_closed_session_settles_it_too(ledger: Ledger) -> None:
    """Its queue is still worked on."""
    copy = left_behind(ledger, close=True)
    ledger.resume("s")
    assert ledger.find(copy).state == "succeeded"


@pytest.mark.parametrize(("verdict", "state"), [("happened", "succeeded"), ("did-not-happen", "failed")])
def test_a_copy_that_is_flagged_while_a_person_settles_its_original(
    tmp_path: Path, ledger: Ledger, verdict: str, state: str
) -> None:
    """The flag is recorded behind that end, and the copy's own end with it."""
    session = ledger.session("s")
    first = session.call("pay", {"amount": 1})
    copy = session.propose("pay", {"amount": 1})

    def answered() -> None:
        with program(tmp_path) as other:
            other.resolve(first, verdict, by="ada")

    watch = crash.arm(ledger, crash.before("call.flagged"), end=answered)
    assert session.advance(copy).state == state
    assert watch.appends == 2  # the first one came too late, the second holds both
    assert [event.type for event in recorded(ledger, "s")][-2:] == ["call.flagged", "call.reviewed"]
