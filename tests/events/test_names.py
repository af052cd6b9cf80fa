"""The one table of event types."""

from typing import get_args

import ledger.events
from ledger.events import BODIES, Body, CallBody, CallStarted, SessionBody, Unreadable, type_of
from tests.events.samples import CLASSES, event, small


def test_every_body_has_one_name() -> None:
    """The table holds each recorded body class once; only what could not be read has no name of its own."""
    assert set(BODIES.values()) == {*get_args(Body)} - {Unreadable}
    assert len(BODIES) == len(set(BODIES.values()))


def test_names_say_what_a_body_is_about() -> None:
    """Events of a call begin with `call.`, and no others do."""
    of_calls = {body for name, body in BODIES.items() if name.startswith("call.")}
    assert of_calls == {*get_args(CallBody)}
    assert {*get_args(SessionBody)} == {*BODIES.values()} - of_calls | {Unreadable}


def test_a_name_is_found_by_the_body() -> None:
    """The name of a body and of its event is that of the table."""
    assert {type_of(small(cls)) for cls in CLASSES} == set(BODIES)
    assert event(CallStarted(idempotency_key="k", worker="w", token=1)).type == "call.started"


def test_what_cannot_be_read_keeps_its_name() -> None:
    """An unreadable event is called by the type that it was recorded under."""
    assert type_of(Unreadable(type="call.teleported", format=1, reason="", raw=None, newer=True)) == "call.teleported"


def test_every_body_can_be_imported() -> None:
    """The package exports every body class and nothing that it does not have."""
    assert {cls.__name__ for cls in CLASSES} <= set(ledger.events.__all__)
    assert all(hasattr(ledger.events, name) for name in ledger.events.__all__)
