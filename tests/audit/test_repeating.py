"""What becomes of the call that another one may repeat, in words."""

from typing import Any

import pytest

from ledger.audit.questions import question
from ledger.audit.repeating import Repeated, may_repeat, repeated_by
from ledger.calls import Call
from ledger.events import CallFlagged, CallOutcomeArrivedLate, CallReviewed
from ledger.store.memory import MemoryStore

ADA = CallReviewed(verdict="happened", by="ada")
LATE = CallOutcomeArrivedLate(ended="succeeded", token=1)
NO = CallReviewed(verdict="did-not-happen", by="ada", run=True)


def flagged(**evidence: Any) -> Call:
    flag = CallFlagged(reason="not-started", evidence={"mayRepeat": "c-1", "version": 1} | evidence)
    return Call(state="needs-review", reason="not-started", flag=flag)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (Call(state="succeeded", attempt=1), "happened"),
        (Call(state="succeeded", attempt=1, review=ADA), "happened (says ada)"),
        (Call(state="succeeded", attempt=2, review=NO), "happened"),
        (Call(state="denied"), "did not happen"),
        (Call(state="superseded", attempt=1), "did not happen"),
        (
            Call(state="superseded", attempt=1, late=LATE),
            "has ended (superseded), and nobody knows whether it happened",
        ),
        (Call(state="failed", attempt=1), "has ended (failed), and nobody knows whether it happened"),
        (Call(state="authorized"), "did not happen so far, and may still run"),
        (Call(state="started", attempt=1), "is still in doubt"),
    ],
)
def test_how_a_call_stands(call: Call, words: str) -> None:
    """What is known by now, and by whom; an end that no person gave names none."""
    assert Repeated(call).standing == words


@pytest.mark.parametrize(
    ("heir", "words", "then"),
    [
        (Call(call_id="c-9", state="succeeded"), "happened", "Running this one would do it once more."),
        (Call(call_id="c-9", state="denied"), "did not happen", "Shall this one run?"),
        (Call(call_id="c-9", state="started", attempt=1), "is still in doubt", "shall this one run beside it?"),
    ],
)
def test_what_took_the_place_of_a_call_may_do_the_same(heir: Call, words: str, then: str) -> None:
    """That the first one did not happen is half of it: the end of the other one counts."""
    other = Repeated(Call(state="superseded", superseded_by="c-9"), heir=heir)
    assert other.standing == f"did not happen; call c-9 took its place, which {words}"
    assert str(question(flagged(), None, other)).endswith(then)


def test_a_call_under_another_key_of_the_host_is_told_too() -> None:
    """Before anybody looked the other call up it is to be settled; then the words say what became of it."""
    call = flagged(hostKey="order-1")
    assert str(question(call)).endswith("Abandon this one if it is the same once more; shall it run?")
    happened = Repeated(Call(state="succeeded", review=ADA))
    assert "That one happened (says ada)." in str(question(call, None, happened))
    assert str(question(flagged())).endswith("Settle that one first; shall this one run beside it?")


def test_a_call_that_cannot_be_read_is_not_told_as_if_it_were() -> None:
    """What is left of its record says too little of how it stands."""
    told = str(question(flagged(damaged=True), None, Repeated(Call(state="proposed"))))
    assert "Nobody knows how that one stands" in told
    assert "did not happen" not in told


def test_what_is_not_there_is_not_told() -> None:
    """A call that repeats none, and one whose other is in no record, have no other."""
    plain = flagged().changed(flag=CallFlagged(reason="not-started", evidence={"why": "?"}))
    assert (may_repeat(plain), may_repeat(Call())) == (None, None)
    store = MemoryStore()
    assert (repeated_by(store, plain), repeated_by(store, flagged())) == (None, None)
