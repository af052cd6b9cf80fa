"""From what a reader yields to the events that record it: bodies, places and ids, all made from the content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from ledger.events import Body, CallFlagged, CallOutcomeArrivedLate, Event, SessionOpened
from ledger.events.call_bodies import CallFailed, CallSucceeded
from ledger.events.envelope import event_with
from ledger.ids import iso
from ledger.importing.identity import Chain, content_of, content_of_outcome
from ledger.providers.imported import ImportedSession, Outcome, Said, Turn, hosted_end, hosted_proposed
from ledger.providers.port import HostedCall
from ledger.version import VERSION

ACTOR: Final = "import"
_NO_RESULT: Final = {"imported": "the transcript holds no result of this call"}
_RESERIALIZED: Final = {"rawArguments": "the source did not keep the text that the model sent"}
_REVISION: Final = 0


@dataclass(frozen=True, slots=True)
class Planned:
    """
    An event of the transcript.

    `flag` is the id that the same call's flag has where its result is not there (yet); of the flag itself it is its
    own. `place` names it for people.
    """

    event: Event
    place: str
    flag: str | None = None

    @property
    def is_flag(self) -> bool:
        """Whether it says that a call has no result."""
        return self.flag == self.event.event_id

    def late(self) -> Event:
        """Return the result as it is recorded where the call stands flagged already."""
        body = self.event.body
        assert isinstance(body, CallSucceeded | CallFailed)  # noqa: S101 - for the type checker
        return replace(self.event, body=_late(body), causation_id=self.flag)


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the importer says of a session; `parent` is the id of the session it branched off or works for."""

    principal: str | None = None
    tenant: str | None = None
    parent: str | None = None


class Plan:
    """
    One session's events, in order, as its items come.

    `now` (ISO 8601 UTC) is the time of what the source gives none. Counts: see `SessionReport`.
    """

    def __init__(self, session_id: str, source: ImportedSession, now: str, about: About) -> None:
        self.session_id = session_id
        self.turns = self.calls = self.open = self.reserialized = 0
        self._source = source
        self._about = about
        self._chain = Chain(session_id, source.source)
        self._time = instant(source.started) or now
        self._hosted: dict[str, dict[str, Any]] = {}

    def opening(self) -> Planned:
        """Return how the session begins."""
        labels = {**self._source.labels, "imported": self._source.source}
        parent = self._about.parent
        body = SessionOpened(model=self._source.model, labels=labels, parent=parent, ledger_version=VERSION)
        return Planned(self._event(body, self._chain.id(b"opened")), "its beginning")

    def events(self, item: Said | Turn) -> Iterator[Planned]:
        """Yield the events of the next message."""
        self._time = instant(item.at) or self._time
        self._chain.move(content_of(item))
        if isinstance(item, Said):
            body = item.recorded(start=not self.turns and not item.orphan)
            yield Planned(self._event(body, self._chain.id(b"said")), f"a message of the role {item.role!r}")
        else:
            yield from self._turn(item)

    def _turn(self, turn: Turn) -> Iterator[Planned]:
        self.turns += 1
        recorded = self._event(turn.recorded(), self._chain.id(b"turn"), turn=self.turns, actor=turn.requestor)
        yield Planned(recorded, f"turn {self.turns}")
        places = []
        for index, sent in enumerate(turn.reply.calls):
            places.append(self._place(index, sent.name))
            proposed = self._call(turn.proposed(index), places[-1], b"call", actor=turn.requestor, cause=recorded)
            places[-1]["causation_id"] = proposed.event.event_id
            yield proposed
        for index, outcome in enumerate(turn.outcomes):
            yield self._end(turn, index, places[index], outcome)
        for number, hosted in enumerate(turn.reply.hosted):
            yield from self._provider(turn, hosted, len(places) + number, recorded)
        self.calls += len(places)
        self.reserialized += len(turn.reserialized)

    def _place(self, index: int, tool: str) -> dict[str, Any]:
        """Return what all events of a call have in common."""
        call_id = self._chain.id(b"id", b"%d" % index)
        return {"call_id": call_id, "tool": tool, "turn": self.turns, "index": index, "revision": _REVISION}

    def _call(
        self, body: Body, place: dict[str, Any], *what: bytes, actor: str = ACTOR, cause: Event | None = None
    ) -> Planned:
        index = place["index"]
        known = place if cause is None else place | {"causation_id": cause.event_id}
        event = self._event(body, self._chain.id(*what, b"%d" % index), actor=actor, **known)
        return Planned(event, f"call {index} of turn {place['turn']}")

    def _end(self, turn: Turn, index: int, place: dict[str, Any], outcome: Outcome | None) -> Planned:
        if outcome is None:
            self.open += 1
            flagged = CallFlagged(reason="outcome-unknown", evidence=_NO_RESULT)
            planned = self._call(flagged, place, b"open")
            return Planned(planned.event, planned.place, planned.event.event_id)
        body = outcome.recorded()
        if index in turn.reserialized:
            body = replace(body, evidence=_RESERIALIZED)
        self._time = instant(outcome.at) or self._time
        planned = self._call(body, place, b"outcome", content_of_outcome(outcome))
        return Planned(planned.event, planned.place, self._chain.id(b"open", b"%d" % index))

    def _provider(self, turn: Turn, hosted: HostedCall, index: int, cause: Event) -> Iterator[Planned]:
        """Yield what the provider says of a call that it executed itself; its end may come with a later turn."""
        given = hosted.provider_call_id or ""
        if hosted.name is None:
            place = self._hosted.pop(given, None)
        else:
            place = self._hosted[given] = self._place(index, hosted.name)
            proposed = self._call(hosted_proposed(hosted, turn.reply), place, b"call", actor="model", cause=cause)
            place["causation_id"] = proposed.event.event_id
            yield proposed
        body = hosted_end(hosted)
        if place is not None and body is not None:
            yield self._call(body, place, b"hosted", b"%d" % place["turn"], actor="provider")
            self._hosted.pop(given, None)

    def _event(self, body: Body, event_id: str, **envelope: Any) -> Event:
        known: dict[str, Any] = {
            "session_id": self.session_id,
            "event_id": event_id,
            "recorded_at": self._time,
            "actor": ACTOR,
            "principal": self._about.principal,
            "tenant": self._about.tenant,
        }
        return event_with(known | envelope, body, 1)


def instant(text: str | None) -> str | None:
    """Return a time as events have it (one without a zone is UTC); None where it is none."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return iso(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _late(body: CallSucceeded | CallFailed) -> CallOutcomeArrivedLate:
    if isinstance(body, CallFailed):
        return CallOutcomeArrivedLate(
            ended="failed", token=0, settles=True, code=body.code, error_class=body.error_class, message=body.message
        )
    return CallOutcomeArrivedLate(
        ended="succeeded", token=0, settles=True, result=body.result, encodings=body.encodings, size=body.size
    )
