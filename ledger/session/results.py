"""What the host gets back from a turn, a call or a wait."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ledger.calls import WAITING, Call, State
from ledger.providers.answer import answer
from ledger.strictjson import JsonObject

_MUTABLE = ("arguments", "executed", "result", "source", "violations", "encodings", "replacement")


def apart(call: Call) -> Call:
    """Return a copy whose values the host may change."""
    return call.changed(**{name: copy.deepcopy(getattr(call, name)) for name in _MUTABLE})


@dataclass(frozen=True)
class CallResult:
    """One call as it stands; `answer` is the JSON object that the model reads for it."""

    _call: Call

    def __repr__(self) -> str:
        return f"<CallResult {self.tool!r} {self.state} {self.call_id}>"

    @cached_property
    def call(self) -> Call:
        """The call with all that is known of it: a copy, changing it changes nothing that was recorded."""
        return apart(self._call)

    @property
    def call_id(self) -> str:
        """The ledger's id of the call."""
        return self._call.call_id

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self._call.tool

    @property
    def state(self) -> State:
        """The call's state, e.g. `succeeded`, `rejected`, `needs-review`."""
        return self._call.state

    @property
    def result(self) -> Any:
        """What the tool returned, as JSON; None unless it succeeded."""
        return self.call.result

    @property
    def code(self) -> str | None:
        """Why it was rejected, denied or failed."""
        return self._call.code

    @property
    def message(self) -> str | None:
        """The same in words."""
        return self._call.message

    @property
    def waiting(self) -> bool:
        """Whether a person is asked."""
        return self._call.state in WAITING

    @property
    def answer(self) -> JsonObject:
        """What the model reads."""
        return answer(self._call)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """
    A turn's end: `messages` is the assistant's turn first, then one answer for each call, in the order asked.

    `waiting` is true while a person is asked about any of its calls.
    """

    turn: int
    calls: tuple[CallResult, ...]
    messages: list[JsonObject]

    def __repr__(self) -> str:
        return f"<Results turn {self.turn}: {', '.join(map(repr, self.calls)) or 'no calls'}>"

    @property
    def waiting(self) -> bool:
        """Whether a person is asked about any of the calls."""
        return any(call.waiting for call in self.calls)
