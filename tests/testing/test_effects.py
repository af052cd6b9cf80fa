"""A program that is crashed at each append and started again does nothing twice, or it is told."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.testing import Effects, no_second_effect


def calling(ledger: Ledger, effects: Effects, **contract: Any) -> None:
    """Pay once; started again, only recover."""

    @ledger.tool("pay", **contract)
    def pay() -> None:
        """Pay."""
        effects.add("pay")

    session = ledger.session("s")
    session.messages()
    if not session.history.calls:
        session.call("pay")


@pytest.mark.parametrize("kill", [False, True], ids=["simulated", "killed"])
def test_a_program_pays_at_most_once(tmp_path: Path, kill: bool) -> None:
    """Whatever the crash hits; where nobody knows, a person is asked, and where it surely was recorded, it is done."""
    found = no_second_effect(calling, tmp_path, kill=kill)
    assert [(o.point.when, o.events[-1], o.effects["pay"], *o.states) for o in found] == [
        ("before", "tool.version_published", 1, "succeeded"),
        ("after", "tool.version_published", 1, "succeeded"),
        ("before", "call.started", 1, "succeeded"),
        ("after", "call.started", 0, "needs-review"),
        ("before", "call.succeeded", 1, "needs-review"),
        ("after", "call.succeeded", 1, "succeeded"),
    ]


def test_a_second_payment_is_told(tmp_path: Path) -> None:
    """A tool whose author lets it run again pays twice, and the crash that did it is named."""

    def program(ledger: Ledger, effects: Effects) -> None:
        calling(ledger, effects, effect="read")

    with pytest.raises(
        AssertionError, match=r"before append 3 \(call.succeeded\) and a resume there was 'pay' 2 times"
    ):
        no_second_effect(program, tmp_path)


def test_a_second_payment_under_another_name_is_told(tmp_path: Path) -> None:
    """What never happens without a crash is one effect too many, and the message says so."""

    def program(ledger: Ledger, effects: Effects) -> None:
        @ledger.tool("pay", effect="read")
        def pay(context: Any) -> None:
            """Pay."""
            effects.add(f"pay {context.attempt}")

        session = ledger.session("s")
        session.messages()
        if not session.history.calls:
            session.call("pay")

    with pytest.raises(AssertionError, match=r"there was 'pay 2' 1 time \(without a crash: 0\)"):
        no_second_effect(program, tmp_path)


def test_what_happens_twice_without_a_crash_may(tmp_path: Path) -> None:
    """The run without a crash says how often each effect belongs there."""

    def program(ledger: Ledger, effects: Effects) -> None:
        @ledger.tool("ring")
        def ring() -> None:
            """Ring twice."""
            effects.add("ring")
            effects.add("ring")

        session = ledger.session("s")
        session.messages()
        if not session.history.calls:
            session.call("ring")

    assert max(outcome.effects["ring"] for outcome in no_second_effect(program, tmp_path)) == 2


def test_a_program_that_records_nothing_is_refused(tmp_path: Path) -> None:
    """There is nothing to crash at, so the test would say nothing."""
    with pytest.raises(AssertionError, match="recorded nothing"):
        no_second_effect(lambda ledger, effects: None, tmp_path)


@pytest.mark.parametrize("kill", [False, True], ids=["simulated", "killed"])
def test_a_program_that_does_another_thing_each_time_is_refused(tmp_path: Path, kill: bool) -> None:
    """A crash that never comes is no test of a crash."""
    runs = []

    def program(ledger: Ledger, effects: Effects) -> None:
        runs.append(1)
        if len(runs) == 1:
            ledger.session("s").messages(start=[{"role": "user", "content": "Hi."}])

    with pytest.raises(AssertionError, match="the same each time"):
        no_second_effect(program, tmp_path, kill=kill)


@pytest.mark.parametrize("kill", [False, True], ids=["simulated", "killed"])
def test_a_program_that_cannot_carry_on_is_told(tmp_path: Path, kill: bool) -> None:
    """Its own error comes up, with the crash that it could not stand."""

    def program(ledger: Ledger, effects: Effects) -> None:
        session = ledger.session("s")
        if session.messages():
            raise LookupError("I was here before")
        session.messages(start=[{"role": "user", "content": "Hi."}])

    with pytest.raises(LookupError, match="here before") as error:
        no_second_effect(program, tmp_path, kill=kill)
    assert error.value.__notes__ == ["This was the program's second start, after a crash after append 1."]


def test_a_child_that_fails_otherwise_is_told(tmp_path: Path) -> None:
    """Its traceback comes up: it was not killed."""
    runs = []

    def program(ledger: Ledger, effects: Effects) -> None:
        runs.append(1)
        if len(runs) > 1:
            raise ZeroDivisionError
        ledger.session("s").messages(start=[{"role": "user", "content": "Hi."}])

    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        no_second_effect(program, tmp_path, kill=True)


def test_effects_are_counted_by_label(tmp_path: Path) -> None:
    """One a line, whatever the label holds; none is none."""
    effects = Effects(tmp_path / "effects")
    assert effects.counted == Counter()
    for label in ("a", "b\nc", "a", 3):
        effects.add(label)
    assert effects.counted == {"a": 2, "b c": 1, "3": 1}
