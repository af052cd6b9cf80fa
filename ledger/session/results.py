"""What the host gets back from a turn, a call or a wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger.calls import WAITING, Call, State
from ledger.providers.answer import answer
from ledger.strictjson import JsonObject


@dataclass(frozen=True, slots=True)
class CallResult:
    """One call as it stands; `answer` is the JSON object that the model reads for it."""

    call: Call

    @property
    def call_id(self) -> str:
        """The ledger's id of the call."""
        return self.call.call_id

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self.call.tool

    @property
    def state(self) -> State:
        """The call's state, e.g. `succeeded`, `rejected`, `needs-review`."""
        return self.call.state

    @property
    def result(self) -> Any:
        """What the tool returned, as JSON; None unless it succeeded."""
        return self.call.result

    @property
    def code(self) -> str | None:
        """Why it was rejected, denied or failed."""
        return self.call.code

    @property
    def message(self) -> str | None:
        """The same in words."""
        return self.call.message

    @property
    def waiting(self) -> bool:
        """Whether a person is asked."""
        return self.call.state in WAITING

    @property
    def answer(self) -> JsonObject:
        """What the model reads."""
        return answer(self.call)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """
    A turn's end: `messages` is the assistant's turn first, then one answer for each call, in the order asked.

    `waiting` is true while a person is asked about any of its calls.
    """

    turn: int
    calls: tuple[CallResult, ...]
    messages: list[JsonObject]

    @property
    def waiting(self) -> bool:
        """Whether a person is asked about any of the calls."""
        return any(call.waiting for call in self.calls)
