"""What rows look like wherever they are shown."""

from typing import get_args

import pytest

from ledger.calls import TERMINAL, State
from ledger.cli.looks import called, place, tone_of, tone_of_event, version


@pytest.mark.parametrize("state", sorted(TERMINAL - {"abandoned", "superseded"}))
def test_ends_have_a_tone(state: str) -> None:
    """What ended well is good, what ended badly is bad."""
    assert tone_of(state) == ("good" if state == "succeeded" else "bad")


def test_what_is_open_catches_the_eye() -> None:
    """States in which something is awaited are told by a tone of their own, quiet ones by none."""
    assert {state for state in get_args(State) if tone_of(state) == "warn"} == {
        "started",
        "awaiting-approval",
        "needs-review",
    }
    assert tone_of("proposed") is None


@pytest.mark.parametrize(
    ("event", "tone"),
    [
        ("call.succeeded", "good"),
        ("call.denied", "bad"),
        ("call.flagged", "warn"),
        ("call.approval_requested", "warn"),
        ("call.validated", None),
        ("session.closed", None),
    ],
)
def test_events_look_like_the_states_they_lead_to(event: str, tone: str | None) -> None:
    """An event has the tone of the state behind it."""
    assert tone_of_event(event) == tone


def test_places_and_versions() -> None:
    """A call stands at turn.index; a version has a v, and a tool that nobody knows has none."""
    assert (place(3, 0), place(3, None), place(None, None)) == ("3.0", "3", "-")
    assert (version(2), version(None)) == ("v2", "-")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({}, "charge v3"),
        ({"now": "pay"}, "charge v3 (now pay)"),
        ({"now": "pay", "carried": "pay"}, "pay v3 (was charge)"),
        ({"carried": "pay"}, "pay v3 (was charge)"),
        ({"now": "transfer", "carried": "pay"}, "pay v3 (was charge, now transfer)"),
    ],
)
def test_a_tool_is_called_by_all_its_names(names: dict[str, str], words: str) -> None:
    """The one that a call stands under first, then what it was and is where that is another one."""
    assert called("charge", version=" v3", **names) == words
