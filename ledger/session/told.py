"""What the model behind one handle has read: another handle that shows the session tells that model nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from ledger.calls import TERMINAL, Call
from ledger.history import History, Settled


@dataclass(slots=True)
class Told:
    """
    `until` is the place in the session up to which all was told; None: the handle has told nothing yet.

    `turn` is the last turn that it delivered or took in, `missed` are those that others recorded between its own ones,
    `read_open` the calls that its model read as open.
    """

    until: int | None = None
    turn: int = 0
    missed: set[int] = field(default_factory=set)
    read_open: set[str] = field(default_factory=set)

    @property
    def nothing(self) -> bool:
        """Whether this handle has told nothing yet: what a model knows came from elsewhere."""
        return self.until is None and not self.turn

    def everything(self, history: History) -> None:
        """Note that the whole session was told as it stands."""
        self.until, self.turn = history.sequence, history.turns[-1].number if history.turns else 0
        self.missed, self.read_open = set(), set(history.open_ids)

    def ends(self, history: History) -> None:
        """Note that the ends so far were told, and no turn that others recorded."""
        if self.nothing:
            self.everything(history)
        self.until, self.read_open = history.sequence, set(history.open_ids)

    def results(self, history: History, number: int) -> None:
        """Note that the answers of this turn alone are told."""
        if not self.nothing:
            self.missed |= set(range(self.turn + 1, number))
        self.missed.discard(number)
        self.turn = max(self.turn, number)
        turn = history.turn(number)
        calls = set(turn.call_ids) if turn is not None else set[str]()
        self.read_open = (self.read_open - calls) | (calls & history.open_ids.keys())

    def at_most_open(self, history: History) -> None:
        """Note that no model knows the end of what is open: also where a resume gives it one before the next turn."""
        self.read_open |= history.open_ids.keys()

    def unknown_ends(self, history: History) -> Iterator[Call]:
        """Yield the calls that had their effect without that this model knows: read as open, or never read."""
        yield from (call for call in self._ended(history) if not call.never_ran)
        if not self.nothing:
            later = takewhile(lambda turn: turn.number > self.turn, reversed(history.turns))
            missed = (turn for number in self.missed if (turn := history.turn(number)) is not None)
            for turn in (*later, *missed):
                yield from (call for call in history.turn_calls(turn) if call.state == "succeeded")

    def news(self, history: History) -> list[Settled]:
        """Return what ended since and was to be told, or was read as open, in order."""
        found = {entry.call.call_id: entry for entry in history.ended_since(self.until or 0)}
        for call in self._ended(history):
            found.setdefault(call.call_id, Settled(call.sequence, call))
        return sorted(found.values(), key=lambda entry: entry.sequence)

    def _ended(self, history: History) -> Iterator[Call]:
        """Yield what was read as open and ended; for what a person superseded the new call stands."""
        calls = (history.calls[call_id] for call_id in self.read_open)
        yield from (call for call in calls if call.state in TERMINAL and call.state != "superseded")
