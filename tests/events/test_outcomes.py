"""An outcome in its two forms."""

import dataclasses
from typing import Any

import pytest

from ledger.events import CallFailed, CallOutcomeArrivedLate, CallSucceeded
from ledger.events.outcomes import in_time, late
from tests.events.samples import full

NOT_OF_LATE = {"not_started": False, "evidence": None, "reconciled": False, "replacement": None, "hint": None}
"""What no outcome has that a tool came to by itself, after it had started."""


@pytest.mark.parametrize("kind", [CallSucceeded, CallFailed])
def test_a_late_outcome_says_all_that_it_would_have_said_in_time(kind: type[CallSucceeded] | type[CallFailed]) -> None:
    """Source, whether to try again, when, and whether the model can repair it: all is kept."""
    known = {field.name for field in dataclasses.fields(kind)}
    body: Any = full(kind)
    body = dataclasses.replace(body, **{name: value for name, value in NOT_OF_LATE.items() if name in known})
    told = late(body, token=3, settles=True)
    assert (told.token, told.settles) == (3, True)
    assert in_time(told) == body


def test_a_late_failure_that_lacks_its_words_is_a_failure() -> None:
    """A record of another release may hold less: it is read with documented words."""
    assert in_time(CallOutcomeArrivedLate(ended="failed", token=1)) == CallFailed(
        code="tool_error", error_class="tool", message="The call failed."
    )
