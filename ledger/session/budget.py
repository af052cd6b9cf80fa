"""What a session may use in all: turns, calls, time, money. Counted from its events, so that a crash resets nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from sys import float_info
from typing import Final, Literal, TypeAlias

from ledger.calls import Call
from ledger.errors import UsageError
from ledger.events import CallDenied, TurnRecorded
from ledger.events.session_bodies import CloseReason
from ledger.history import History
from ledger.ids import parse_iso
from ledger.strictjson import Json, JsonObject

Name: TypeAlias = Literal["turns", "calls", "seconds", "cost"]

INPUT: Final = ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount")
OUTPUT: Final = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount")
"""What providers call the two counts in a reply's `usage`."""

_TOKENS: Final = 1_000_000
_REASONS: Final[dict[Name, CloseReason]] = {
    "turns": "max_turns",
    "calls": "budget",
    "seconds": "deadline",
    "cost": "budget",
}
_CODES: Final[dict[Name, str]] = {
    "turns": "max_turns",
    "calls": "max_calls",
    "seconds": "deadline",
    "cost": "max_cost",
}
_FINAL: Final = ("text", "structured")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    What a session may use; None: as much as it likes. Once a limit is reached nothing starts any more.

    `turns`: recorded turns; those of `session.call` count too. `calls`: calls that started. `seconds`: since the
    session was opened, by the clock of its events. `cost`: what its turns cost, in whatever unit the host counts: for
    each turn what `dispatch(cost=)` said, else the `cost` in the reply's usage, else its tokens by `prices`, which are
    for a million tokens: `{"input": 3.0, "output": 15.0}`. Raises `UsageError` for anything else.
    """

    turns: int | None = None
    calls: int | None = None
    seconds: float | None = None
    cost: float | None = None
    prices: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        for name in ("turns", "calls"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise UsageError(f"Limits({name}=) is a whole number above 0, not {value!r}")
        for name in ("seconds", "cost"):
            value = getattr(self, name)
            if value is not None and not _is_amount(value):
                raise UsageError(f"Limits({name}=) is a number above 0, not {value!r}")
        prices = self.prices
        if prices is not None and not (isinstance(prices, Mapping) and set(prices) == {"input", "output"}):
            raise UsageError("Limits(prices=) has two prices, for a million tokens: input and output")
        if prices is not None and not all(_is_amount(price, zero=True) for price in prices.values()):
            raise UsageError("a price is a number, and not below 0")

    def to_wire(self) -> JsonObject:
        """Return what there is, as `session.opened` records it."""
        names = ("turns", "calls", "seconds", "cost")
        wire: JsonObject = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return wire | ({"prices": dict(self.prices)} if self.prices is not None else {})

    @classmethod
    def from_wire(cls, wire: JsonObject) -> Limits | None:
        """Return recorded limits; None where they are none of ours."""
        try:
            return cls(**wire)
        except (UsageError, TypeError):
            return None


def checked_limits(value: object) -> Limits | None:
    """Return the limits of a session as a host gave them; raises `UsageError` for anything else."""
    if value is None or isinstance(value, Limits):
        return value
    raise UsageError(f"limits= is a Limits, not {type(value).__name__}", hint="For example Limits(turns=20).")


def checked_cost(value: object) -> float | None:
    """Return what a host says that a turn cost; raises `UsageError` for anything but a number, or one below 0."""
    if value is None or _is_amount(value, zero=True):
        return value  # type: ignore[return-value]  # it is a number
    raise UsageError(f"cost= is a number, and not below 0, not {value!r}")


def _is_amount(value: object, *, zero: bool = False) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return (value > 0 or (zero and value == 0)) and value <= float_info.max  # also an integer that is no float


@dataclass(frozen=True, slots=True)
class Reached:
    """A limit that is reached, and how much it allows."""

    limit: Name
    most: float

    @property
    def reason(self) -> CloseReason:
        """Why the session is closed then."""
        return _REASONS[self.limit]

    @property
    def message(self) -> str:
        """The same in words."""
        most = int(self.most) if self.most == int(self.most) else self.most
        return f"The session has used up its limit: {self.limit} {most}."

    def to_wire(self) -> JsonObject:
        """Return what `session.closed` says of it."""
        return {"limit": self.limit, "max": self.most}

    def denied(self) -> CallDenied:
        """Return the end of a call that does not start because of it."""
        return CallDenied(code=_CODES[self.limit], message=self.message, rule=f"{self.limit} {self.most}")


@dataclass(slots=True)
class Budget:
    """
    A session's limits in this process: `given` by the host that opened it here, else as they were recorded.

    `over` is the limit that kept a call from starting; the session is closed then.
    """

    given: Limits | None = None
    over: Reached | None = None
    _costs: _Costs | None = None

    def limits(self, history: History) -> Limits | None:
        """Return the limits that hold."""
        opened = history.opened
        if self.given is not None or opened is None or opened.limits is None:
            return self.given
        return Limits.from_wire(opened.limits)

    def reached(self, history: History, now: datetime, turn: TurnRecorded | None = None) -> Reached | None:
        """Return the limit that is reached, with `turn` as a turn that is not recorded yet."""
        limits = self.limits(history)
        if limits is None or (turn is not None and turn.kind in _FINAL):
            return None
        return self._spent(limits, history, now, turn) or (
            Reached("calls", limits.calls) if limits.calls is not None and history.started >= limits.calls else None
        )

    def refused(self, history: History, now: datetime, calls: Sequence[Call]) -> list[Reached | None]:
        """Say for each call that is about to start which limit keeps it from that; None: it may start."""
        limits = self.limits(history)
        if limits is None:
            return [None] * len(calls)
        spent = self._spent(limits, history, now, None)
        left = len(calls) if limits.calls is None else limits.calls - history.started
        found: list[Reached | None] = []
        for call in calls:
            fresh = call.attempt == 0  # a call that started before has been counted
            found.append(spent or (Reached("calls", limits.calls or 0) if fresh and left <= 0 else None))
            left -= fresh
        self.over = next((limit for limit in found if limit is not None), self.over)
        return found

    def _spent(self, limits: Limits, history: History, now: datetime, turn: TurnRecorded | None) -> Reached | None:
        if limits.turns is not None and len(history.turns) + (turn is not None) > limits.turns:
            return Reached("turns", limits.turns)
        opened = parse_iso(history.opened_at) if history.opened_at else now
        if limits.seconds is not None and (now - opened).total_seconds() >= limits.seconds:
            return Reached("seconds", limits.seconds)
        if limits.cost is not None:
            if self._costs is None or self._costs.history is not history or self._costs.prices != limits.prices:
                self._costs = _Costs(history, limits.prices)
            more = cost_of(turn, limits.prices) if turn is not None else 0.0
            if self._costs.total() + more >= limits.cost:
                return Reached("cost", limits.cost)
        return None


@dataclass(slots=True)
class _Costs:
    """What the turns of a history cost, added up as they come: a start does not look at all turns before it."""

    history: History
    prices: Mapping[str, float] | None
    _counted: int = 0
    _sum: float = 0.0

    def total(self) -> float:
        for turn in self.history.turns[self._counted :]:
            self._sum += cost_of(turn.body, self.prices)
        self._counted = len(self.history.turns)
        return self._sum


def cost_of(turn: TurnRecorded, prices: Mapping[str, float] | None) -> float:
    """Return what a turn cost: as the host said, as its usage says, or by its tokens; 0 where nobody knows."""
    usage = turn.usage if isinstance(turn.usage, dict) else {}
    for told in (turn.cost, usage.get("cost")):
        if told is not None and _is_amount(told, zero=True):
            return float(told)
    if prices is None:
        return 0.0
    return (_count(usage, INPUT) * prices["input"] + _count(usage, OUTPUT) * prices["output"]) / _TOKENS


def _count(usage: Json, names: Sequence[str]) -> float:
    found = (usage[name] for name in names if _is_amount(usage.get(name), zero=True))
    return float(next(found, 0))
