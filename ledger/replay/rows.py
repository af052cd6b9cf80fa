"""Each event of a session as one flat row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ledger.calls import TERMINAL, Call, evolve
from ledger.errors import IllegalTransition
from ledger.events import CallProposed, Event, Unreadable, type_of
from ledger.replay.reading import call_at, session_events
from ledger.replay.shapes import Shaped, Shaping
from ledger.replay.summary import summary
from ledger.store.port import Reader
from ledger.strictjson import Json, JsonObject


@dataclass(slots=True)  # not frozen: twelve fields are set three times as fast, and each event becomes one
class ReplayRow:
    """
    An event as people read it.

    `state` is its call's state after it, `summary` one sentence or less (it may hold text of any origin: escape it
    for a terminal). `raw` is the record of an event that this release cannot read. `shaped`: how a proposed call reads
    in the newest form, where that was asked for.
    """

    sequence: int
    recorded_at: str
    turn: int | None
    index: int | None
    type: str
    tool: str | None
    schema_version: int | None
    call_id: str | None
    state: str | None
    summary: str
    raw: Json = None
    shaped: Shaped | None = None

    def to_wire(self) -> JsonObject:
        """Return the row under its wire names; `raw` and `asVersion` only where there is one."""
        row: JsonObject = {
            "sequence": self.sequence,
            "recordedAt": self.recorded_at,
            "turn": self.turn,
            "index": self.index,
            "type": self.type,
            "tool": self.tool,
            "schemaVersion": self.schema_version,
            "callId": self.call_id,
            "state": self.state,
            "summary": self.summary,
        }
        if self.shaped is not None:
            row["asVersion"] = self.shaped.to_wire()
        return row if self.raw is None else row | {"raw": self.raw}


def replay_rows(
    reader: Reader, session_id: str, at: int | None = None, *, shaping: Shaping | None = None
) -> Iterator[ReplayRow]:
    """
    Yield a row for each event up to `at`, reading on as they are taken.

    An event that cannot be read is a row with its `raw` record. With `shaping` a proposal tells its arguments in the
    newest form, and which that is. Raises `UnknownSession`, and `UsageError` where the
    session has no event `at`, at the first row.
    """
    states = _States(reader, session_id)
    for event in session_events(reader, session_id, at):
        state, fits = states.after(event)
        body = event.body
        shaped = shaping(evolve(Call(), event)) if shaping is not None and isinstance(body, CallProposed) else None
        text = summary(body) if shaped is None else summary(replace(body, **_asked(shaped))) + _versions(shaped)
        yield ReplayRow(
            event.sequence,
            event.recorded_at,
            event.turn,
            event.index,
            type_of(body),
            event.tool,
            event.schema_version,
            event.call_id,
            state,
            text if fits else f"does not follow the call's state, passed over: {text}",
            body.raw if isinstance(body, Unreadable) else None,
            shaped,
        )


def _asked(shaped: Shaped) -> dict[str, Json]:
    return {"arguments": shaped.arguments, "raw_arguments": None} if shaped.moved else {}


def _versions(shaped: Shaped) -> str:
    """Return which versions a row is about, and why not the newest."""
    way = f"v{shaped.recorded or '?'}" + (f" as v{shaped.version}" if shaped.moved else "")
    return f" ({way})" if shaped.code is None else f" ({way}: {shaped.message})"


class _States:
    """The calls' states along a session; calls that ended are not kept but looked up, should they come up again."""

    def __init__(self, reader: Reader, session_id: str) -> None:
        self._reader = reader
        self._session_id = session_id
        self._open: dict[str, Call] = {}
        self._broken: set[str] = set()

    def after(self, event: Event) -> tuple[str | None, bool]:
        """Return the state of the event's call after it, and whether the event could follow."""
        call_id = event.call_id
        if call_id is None:
            return None, True
        call = self._open.get(call_id) or self._before(call_id, event)
        fits = True
        if isinstance(event.body, Unreadable):
            self._broken.add(call_id)
        elif call_id in self._broken:
            fits = False
        else:
            try:
                call = evolve(call, event)
            except IllegalTransition:
                self._broken.add(call_id)
                fits = False
        if call.state in TERMINAL:
            self._open.pop(call_id, None)
        else:
            self._open[call_id] = call
        return call.state, fits

    def _before(self, call_id: str, event: Event) -> Call:
        if isinstance(event.body, CallProposed):
            return Call()
        return call_at(self._reader, self._session_id, call_id, event.sequence - 1)
