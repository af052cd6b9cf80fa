"""A recorded session as the messages a provider takes: each call answered once, in order, the same bytes each time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import takewhile

from ledger.calls import TERMINAL, Call
from ledger.events.session_bodies import TurnRecorded
from ledger.history import Entry, History, Said, Settled, Turn
from ledger.providers.answer import SHOWN_BYTES, answer
from ledger.providers.cut import cut
from ledger.providers.demoted import demoted_results, demoted_turn
from ledger.providers.names import Ids
from ledger.providers.port import USER, Answered, WireFormat
from ledger.providers.texts import NOTE
from ledger.providers.verbatim import told_content, told_text
from ledger.strictjson import JsonObject, canonical

_ARGUMENTS = 1024  # bytes of a call's arguments in a note


def conversation(
    history: History, wire: WireFormat, limit: int = SHOWN_BYTES, *, gone: Collection[str] = ()
) -> list[JsonObject]:
    """
    Return the whole conversation.

    A call's answer is what the model read: its state when the next turn was recorded, or as it stands if there is
    none. What became of it later is a note, behind the turn in which it was settled. `limit` bounds each result; calls
    of the tools that are `gone` (no longer declared) are told as text.
    """
    teller = Teller(wire, limit, gone)
    return [*teller.tell(history, history.entries), *teller.end()]


def turn_messages(history: History, turn: Turn, wire: WireFormat, limit: int = SHOWN_BYTES) -> list[JsonObject]:
    """Return a turn's assistant message and the answers to its calls, exactly as they stand in the conversation."""
    teller = Teller(wire, limit)
    teller.pass_over(history, turn)
    return list(teller.entries(history, [turn]))


def note_message(settled: Settled, wire: WireFormat, limit: int = SHOWN_BYTES) -> JsonObject:
    """
    Return what tells the model that a call which it read as open has ended.

    A message of the user's role, marked as the ledger's own: results never enter the system role.
    """
    call = settled.call
    arguments = cut(call.to_run, _ARGUMENTS)
    told = {
        "turn": call.turn,
        "index": call.index,
        "tool": call.tool,
        "arguments": call.to_run if arguments is None else arguments.value,
        "answer": answer(call, limit),
    }
    return wire.user(f"{NOTE} A call that you read as open has ended: {canonical(told).decode()}")


class Teller:
    """Tells the entries of one session in their order, and keeps what the later ones need of the earlier: the ids."""

    def __init__(
        self,
        wire: WireFormat,
        limit: int = SHOWN_BYTES,
        gone: Collection[str] = (),
        told_as: Callable[[Call], Call] = lambda call: call,
    ) -> None:
        self._told_as = told_as
        self._wire = wire
        self._limit = limit
        self._gone = frozenset(gone)
        self._ids = Ids(wire.ids)
        self._host = wire.host(self._ids)
        self._last: JsonObject | None = None

    def tell(self, history: History, entries: Iterable[Entry]) -> Iterator[JsonObject]:
        """Yield the messages of the next entries of this history, as soon as what follows leaves them as they are."""
        for message in self.entries(history, entries):
            yield from self._followed_by(message)

    def _followed_by(self, message: JsonObject) -> list[JsonObject]:
        *ready, self._last = self._wire.follow(self._last, message)
        return ready

    def entries(self, history: History, entries: Iterable[Entry]) -> Iterator[JsonObject]:
        """Yield the messages of the next entries, each by itself."""
        for entry in entries:
            if isinstance(entry, Said):
                yield from self._host.push(entry.body)
                continue
            yield from self._host.flush()
            if isinstance(entry, Settled):
                yield note_message(entry, self._wire, self._limit)
            elif entry.body.provider != USER:
                yield from self._turn(entry.body, self._answered(history, entry))

    def _turn(self, body: TurnRecorded, answered: Sequence[Answered]) -> Iterator[JsonObject]:
        gone = [each for each in answered if each.call.tool in self._gone]
        told = [each for each in answered if each.call.tool not in self._gone] if gone else answered
        yield from self._wire.assistant(demoted_turn(body, gone) if gone else body, told)
        yield from self._wire.results(told)
        if gone:
            yield self._wire.user(demoted_results(gone))

    def end(self) -> list[JsonObject]:
        """Return what is still owed at the end."""
        owed = [ready for message in self._host.flush() for ready in self._followed_by(message)]
        return owed if self._last is None else [*owed, self._last]

    def pass_over(self, history: History, until: Turn) -> None:
        """Take in which of the turn's ids are taken by what stands before it, without telling that."""
        for said in takewhile(lambda said: said.sequence < until.sequence, history.quoted):
            self._host.note(said.body)
        own = {intent.call_id: intent.provider_call_id for intent in _intents(history, until)}
        for given in filter(None, own.values()):
            if history.provider_ids[given] not in own:
                self._ids.give(given, "")

    def _answered(self, history: History, turn: Turn) -> list[Answered]:
        return [
            Answered(
                self._told_as(intent),
                self._ids.give(intent.provider_call_id, intent.call_id),
                told_text(read, self._limit),
                error=read.state != "succeeded",
                content=told_content(read, self._wire.name),
            )
            for intent, read in zip(_intents(history, turn), answers(history, turn), strict=True)
        ]


def _intents(history: History, turn: Turn) -> list[Call]:
    """Return the calls as the model asked them: a person's later version does not alter what it said."""
    return [history.calls[slot[0]] for slot in turn.slots if slot]


def answers(history: History, turn: Turn) -> list[Call]:
    """Return for each call of a turn the call, as it stood then, whose answer the model read (or will read)."""
    found = []
    for slot in turn.slots:
        if slot:
            told = next((history.told[call_id] for call_id in slot if call_id in history.told), None)
            found.append(honest(history, told or history.calls[slot[-1]]))
    return found


def honest(history: History, call: Call) -> Call:
    """Return the call as it can be vouched for: one with unreadable events may have done more than its state says."""
    if call.call_id in history.broken and call.state not in TERMINAL:
        return call.changed(state="needs-review", reason="outcome-unknown")
    return call
