"""What user code answers to the ledger."""

import copy
import dataclasses
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from ledger.answers import (
    Allow,
    Ask,
    CantTell,
    Deny,
    DidNotHappen,
    Failed,
    Happened,
    Invalid,
    NotFound,
    OutcomeUnknown,
    Rejected,
    ToolAnswer,
    Unavailable,
)

RAISED: tuple[ToolAnswer, ...] = (
    NotFound("no such ticket"),
    NotFound("no such ticket", code="ticket_gone"),
    Rejected("bad_date", "in the past", model_can_repair=False),
    Unavailable("busy", retryable=False, retry_after=2.5),
    Failed("bounced", "the mail bounced"),
    OutcomeUnknown("no reply"),
)


def refuse() -> None:
    """Raise as a tool does."""
    raise Rejected("bad_date", "in the past", model_can_repair=False)


def test_a_tool_says_code_and_message() -> None:
    """What a tool raises has a code for programs, and its text is the message."""
    codes = ["not_found", "ticket_gone", "bad_date", "unavailable", "bounced", "outcome_unknown"]
    assert [answer.code for answer in RAISED] == codes
    assert [str(answer) for answer in RAISED] == [answer.message for answer in RAISED]


@pytest.mark.parametrize("answer", RAISED, ids=lambda answer: answer.code)
def test_a_tools_answer_survives_pickle_and_copy(answer: ToolAnswer) -> None:
    """Class, text and every field of what a tool raised come back."""
    for twin in (pickle.loads(pickle.dumps(answer)), copy.copy(answer)):
        assert type(twin) is type(answer)
        assert (str(twin), vars(twin)) == (str(answer), vars(answer))


def test_a_tools_answer_crosses_a_process_pool() -> None:
    """A tool that works in a process pool is understood: the pool is not broken by its answer."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(Rejected) as caught:
        pool.submit(refuse).result()
    assert (caught.value.code, caught.value.model_can_repair) == ("bad_date", False)


def test_defaults_are_the_usual_case() -> None:
    """Unless it is said otherwise, the model may repair what is refused and the ledger may try again."""
    assert Rejected("c", "m").model_can_repair
    assert (Unavailable("m").retryable, Unavailable("m").retry_after) == (True, None)
    assert Invalid("c", "m").repairable
    assert (Ask().who, Ask().expires) == (None, "24h")
    assert (Happened().result, CantTell().evidence, DidNotHappen().evidence) == (None, None, None)


def test_what_is_returned_is_a_frozen_value() -> None:
    """Answers that are returned compare by value and cannot be changed afterwards."""
    assert (Allow("r"), Deny("c", "m"), Happened(1)) == (Allow("r"), Deny("c", "m"), Happened(1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        Allow().rule = "other"  # type: ignore[misc]  # what is tested
