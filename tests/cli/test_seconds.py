"""A number of seconds as an option's value."""

from __future__ import annotations

import pytest

from ledger.cli import main
from ledger.cli.seconds import LONGEST, SECONDS
from tests.cli.running import ask

ASKED = [("resume", "s", "--grace"), ("resume", "s", "--wait"), ("session", "close", "s", "--wait")]


@pytest.mark.parametrize(
    ("said", "seconds"), [("0", 0.0), ("2.5", 2.5), ("inf", LONGEST), ("1e300", LONGEST), (7, 7.0)]
)
def test_a_wait_is_cut_to_what_a_timer_takes(said: str | float, seconds: float) -> None:
    """Without an end means a year: a timer that is asked for more fails when it is needed."""
    assert SECONDS.convert(said, None, None) == seconds


@pytest.mark.parametrize("said", ["nan", "-1", "-inf", "soon"])
@pytest.mark.parametrize("command", ASKED)
def test_what_is_no_time_is_refused(command: tuple[str, ...], said: str) -> None:
    """No number, and less than nothing, is wrong usage wherever a command asks for seconds."""
    done = ask(*command, said, command=main)
    assert done.exit_code == 2
    assert command[-1] in done.stderr
