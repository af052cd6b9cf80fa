"""Which question a waiting call puts."""

from typing import get_args

import pytest

from ledger.calls import CHANGES, Kind, kind_of
from ledger.events.call_bodies import FlagReason


@pytest.mark.parametrize("reason", get_args(FlagReason))
def test_a_flag_is_a_doubt_unless_the_tool_changed(reason: str) -> None:
    """A flagged call puts the question of change where its tool changed, else that of doubt."""
    assert kind_of("needs-review", reason) == ("change" if reason in CHANGES else "doubt")


def test_a_call_that_awaits_approval_asks_for_it() -> None:
    """Whatever reason an earlier flag left, awaiting approval is the question of approval."""
    assert kind_of("awaiting-approval", None) == "approval"
    assert kind_of("awaiting-approval", "schema-changed") == "approval"
    assert set(get_args(Kind)) == {"approval", "doubt", "change"}


def test_the_reasons_of_change_are_reasons() -> None:
    """Each reason of change is one that a flag may have."""
    assert set(CHANGES) < set(get_args(FlagReason))
