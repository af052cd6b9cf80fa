"""A session turn by turn, in flat memory: what was said before each turn, and what became of its calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ledger.calls import TERMINAL, Call
from ledger.events import Event, TurnRecorded
from ledger.history import Entry, History, Said, Settled, Turn
from ledger.providers.conversation import answers, honest
from ledger.replay.reading import call_at, last_sequence, session_events
from ledger.store.port import Reader


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call of a turn: the intent, what the model read as its answer, and the call as it is where one looks."""

    intent: Call
    read: Call
    now: Call


@dataclass(frozen=True, slots=True)
class Passage:
    """
    A turn with its calls, what was said and settled before it, and the events in between that cannot be read.

    `hosted` are the calls that the provider executed itself, as they are where one looks.
    """

    turn: Turn
    calls: tuple[AskedCall, ...]
    hosted: tuple[Call, ...]
    before: tuple[Said | Settled, ...]
    unreadable: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Ending:
    """What stands behind the last turn, and a history that knows how the session ended and which calls are open."""

    history: History
    before: tuple[Said | Settled, ...]
    unreadable: tuple[Event, ...]


def entries_as_told(
    reader: Reader, session_id: str, at: int | None = None
) -> Iterator[tuple[History, list[Entry], list[Event]]]:
    """
    Yield the conversation's entries in groups, each as soon as nothing can change what the model read of it.

    Beside them the history that they belong to, and the unreadable events since the last group. The history is cut
    down behind them to the calls that are open and those of the last turn: its size does not grow with the session.
    """
    history = History(session_id)
    for event in session_events(reader, session_id, at):
        history.load(event)
        if isinstance(event.body, TurnRecorded):
            ready, kept = history.entries[:-1], history.entries[-1:]
        elif history.entries and not isinstance(history.entries[0], Turn):
            ready, kept = history.entries, []
        else:
            continue
        yield history, ready, history.unreadable
        history = _cut_down(history, kept)
    yield history, history.entries, history.unreadable


def _cut_down(history: History, kept: list[Entry]) -> History:
    """Return a history that goes on as this one does, without what nothing to come can change any more."""
    calls = history.calls
    if kept:  # a new turn: all that came before it is told
        calls = {call_id: calls[call_id] for call_id in history.open_ids}
    return History(
        history.session_id,
        sequence=history.sequence,
        opened=history.opened,
        closed=history.closed,
        principal=history.principal,
        tenant=history.tenant,
        last_at=history.last_at,
        calls=calls,
        turns=history.turns[-1:],
        entries=kept,
        open_ids=history.open_ids,
        broken=history.broken,
    )


def passages(reader: Reader, session_id: str, at: int | None = None) -> Iterator[Passage | Ending]:
    """
    Yield a session turn by turn, and last its one ending.

    A call that was open when its turn was over is looked up once more: its end is known however late it came.
    """
    until = last_sequence(reader, session_id, at)
    before: list[Said | Settled] = []
    unreadable: list[Event] = []
    history = History(session_id)
    for history, entries, unread in entries_as_told(reader, session_id, until):
        unreadable += unread
        for entry in entries:
            if isinstance(entry, Turn):
                calls = tuple(_asked(reader, history, entry, until))
                earlier = tuple(event for event in unreadable if event.sequence < entry.sequence)
                hosted = tuple(_hosted(reader, history, entry, until))
                yield Passage(entry, calls, hosted, tuple(before), earlier)
                before, unreadable = [], unreadable[len(earlier) :]
            else:
                before.append(entry)
    yield Ending(history, tuple(before), tuple(unreadable))


def _asked(reader: Reader, history: History, turn: Turn, until: int) -> Iterator[AskedCall]:
    intents = [history.calls[slot[0]] for slot in turn.slots if slot]
    for intent, read in zip(intents, answers(history, turn), strict=True):
        now = _ended(reader, history, read, until)
        while now.superseded_by is not None:
            successor = call_at(reader, history.session_id, now.superseded_by, until)
            if successor.state == "unknown":
                break  # `until` falls between the two events of one commit
            now = successor
        yield AskedCall(intent, read, honest(history, now))


def _hosted(reader: Reader, history: History, turn: Turn, until: int) -> Iterator[Call]:
    for call_id in turn.hosted:
        yield honest(history, _ended(reader, history, history.calls[call_id], until))


def _ended(reader: Reader, history: History, call: Call, until: int) -> Call:
    """Return the call with the end that came after its turn was over, if there is one."""
    return call if call.state in TERMINAL else call_at(reader, history.session_id, call.call_id, until)
