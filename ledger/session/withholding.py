"""What `on_rejection="run_none"` means behind a crash: the sibling of a refused call does not run then either."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ledger.calls import Call
from ledger.session.core import Core

WITHHELD: Final = "Another call of the turn was refused, so this one was not executed."
"""What the model reads of such a call."""

_REFUSED: Final = ("rejected", "denied")
_NOT_STARTED: Final = ("proposed", "validated", "authorized")


def may_be_withheld(core: Core, call: Call) -> bool:
    """
    Whether a recorded call does not run once another one of its turn is refused.

    What a person said that it shall run is not withheld, nor what was started.
    """
    if call.state not in _NOT_STARTED or call.attempt or call.allowed_by_person:
        return False
    turn = core.history.turn(call.turn)
    return turn is not None and turn.body.on_rejection == "run_none"


def withheld(core: Core, call: Call, refused: Collection[str]) -> bool:
    """Whether a recorded call does not run as another one of its turn was refused; `refused`: those that just were."""
    turn = core.history.turn(call.turn)
    if turn is None or not may_be_withheld(core, call):
        return False
    others = (each for each in turn.call_ids if each != call.call_id)
    return any(each in refused or core.history.calls[each].state in _REFUSED for each in others)
