"""Every recorded upcast held to its file and its arguments again, one at a time; nothing is proved or judged anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final, TypeAlias

from ledger.audit.reading import stored_events
from ledger.audit.story import call_events
from ledger.calls import Call, evolve
from ledger.catalog import Catalog, ToolDefinition
from ledger.catalog.steps import Upcast
from ledger.catalog.upcast.confirming import Doubt, doubts
from ledger.errors import IllegalTransition
from ledger.events import CallUpcast, Event, Unreadable, read_event
from ledger.schema_migration.judging import to_run
from ledger.store.port import EventFilter, Reader
from ledger.strictjson import Json, digest

MOST_SHOWN: Final = 20
"""Upcasts that are named; all are counted."""

REWORDED: Final[tuple[Doubt, ...]] = ("file",)
"""All that is found of an upcast whose file was edited where it does not matter to this record: who asserts it, say."""

Catalogs: TypeAlias = Callable[[], Catalog | None]
"""Returns the catalog at hand; asked for at the first upcast, since most ledgers have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubted:
    """A recorded upcast that something contradicts; `doubts` says what, see `ledger.catalog.upcast.confirming`."""

    event: Event
    doubts: tuple[Doubt, ...]

    def to_wire(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        body, event = self.event.body, self.event
        versions = (body.from_version, body.to_version) if isinstance(body, CallUpcast) else (None, None)
        return {
            "sessionId": event.session_id,
            "sequence": event.sequence,
            "callId": event.call_id,
            "tool": event.tool,
            "fromVersion": versions[0],
            "toVersion": versions[1],
            "doubts": list(self.doubts),
        }


@dataclass(slots=True)
class Confirmed:
    """
    What was held to what, so far.

    `recorded` upcasts; `confirmed` of them stand against their file, `reworded` of those against a file that was edited
    since and still does to their arguments what it did. `beyond` could be held to their digests only: the catalog at
    hand does not have the file, or what came before them is not known. `bad` are contradicted.
    """

    recorded: int = 0
    confirmed: int = 0
    reworded: int = 0
    beyond: int = 0
    bad: int = 0
    doubted: list[Doubted] = field(default_factory=list)

    def to_wire(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        counts = {"recorded": self.recorded, "confirmed": self.confirmed, "reworded": self.reworded}
        counts |= {"beyond": self.beyond, "doubted": self.bad}
        return {**counts, "doubts": [each.to_wire() for each in self.doubted]}


def confirming(reader: Reader, catalog: Catalogs, found: Confirmed) -> Iterator[Event]:
    """Hold each recorded upcast to what it names, count it in *found*, and yield its event. Bounded memory."""
    tools: Mapping[str, ToolDefinition] | None = None
    for stored in stored_events(reader, EventFilter(types=("call.upcast",))):
        event = read_event(stored.record, stored)
        if not isinstance(event.body, CallUpcast):
            continue  # it cannot be read: who folds the calls names it
        if tools is None:
            tools = _by_name(catalog())
        _hold(found, event, event.body, _named(reader, event, event.body, tools))
        yield event


def _by_name(catalog: Catalog | None) -> Mapping[str, ToolDefinition]:
    """Return the tools by every name that calls of theirs may be recorded under."""
    tools = catalog.tools if catalog is not None else {}
    steps = ((step.renames_tool, each) for each in tools.values() for step in each.upcasts.values())
    return {names[0]: each for names, each in steps if names is not None} | dict(tools)


def _hold(found: Confirmed, event: Event, body: CallUpcast, named: tuple[Upcast, Json] | None) -> None:
    wrong: tuple[Doubt, ...]
    found.recorded += 1
    if named is not None:
        wrong = doubts(body, *named)
        # Digest or not, what was carried is what the file makes of it, forth and back, as long as it speaks of form.
        if wrong == REWORDED and named[0].semantic is None:
            found.reworded += 1
            wrong = ()
        found.confirmed += not wrong
    else:
        wrong = ("after",) if digest(body.arguments) != body.digest_after else ()
        found.beyond += not wrong
    if wrong:
        found.bad += 1
        if len(found.doubted) < MOST_SHOWN:
            found.doubted.append(Doubted(event=event, doubts=wrong))


def _named(
    reader: Reader, event: Event, body: CallUpcast, tools: Mapping[str, ToolDefinition]
) -> tuple[Upcast, Json] | None:
    """Return the file that an upcast names, and the arguments it carried; None where one of them is not at hand."""
    before = _before(reader, event)
    definition = tools.get(before.tool) if before is not None else None
    upcast = definition.upcasts.get(body.from_version) if definition is not None else None
    if before is None or definition is None or upcast is None or before.redacted:
        return None
    if upcast.to_version != body.to_version and upcast.digest != body.upcast_digest:
        return None  # another file begins at that version by now: the one that it names is not at hand
    version = definition.versions.get(body.from_version)  # with the defaults that would have run
    return upcast, to_run(version, before.to_run) if version is not None else before.to_run


def _before(reader: Reader, upcast: Event) -> Call | None:
    """Return the call as it was before it was carried; None where its events do not lead there."""
    call = Call()
    events = call_events(reader, upcast.session_id, upcast.call_id or "")
    for _, event in takewhile(lambda pair: pair[1].sequence < upcast.sequence, events):
        if isinstance(event.body, Unreadable):  # a newer release may have said something of the arguments there
            return None
        try:
            call = evolve(call, event)
        except IllegalTransition:
            return None
    return call if call.call_id else None
