"""What every event carries around its body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ledger.events.names import Body, type_of


@dataclass(frozen=True, kw_only=True)  # no slots: `event_with` fills the dict, three times faster than the constructor
class Event:
    """
    A fact. Order is by `sequence` (gapless from 1 in its session) only; `recorded_at` is for people.

    `event_id` is made by the writer: a retried append of the same event is recognised. `sequence` is 0 until the store
    gave it. `schema_version` is null on a call event only for a tool nobody knows. `recorded_at` is ISO 8601 UTC with
    microseconds. `format` is the version of the body's own form as it is here: the current one, put in by `encode` and
    `read_event` (a record keeps the form that it was written in).
    """

    session_id: str
    event_id: str
    recorded_at: str
    body: Body
    sequence: int = 0
    format: int = 1
    call_id: str | None = None
    tool: str | None = None
    schema_version: int | None = None
    schema_digest: str | None = None
    turn: int | None = None
    index: int | None = None
    revision: int | None = None
    attempt: int | None = None
    actor: str | None = None
    principal: str | None = None
    tenant: str | None = None
    on_behalf_of: str | None = None
    causation_id: str | None = None

    @property
    def type(self) -> str:
        """The event's name, e.g. `call.started`."""
        return type_of(self.body)


def event_with(values: Mapping[str, Any], body: Body, form: int = 1) -> Event:
    """
    Return the event with these fields, which are known to be right and to hold all that have no default.

    Those that are not given read as the class has them, which is where a dataclass keeps its defaults.
    """
    event = object.__new__(Event)
    object.__setattr__(event, "__dict__", {**values, "body": body, "format": form})
    return event
