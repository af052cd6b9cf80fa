"""The lookup gate asks: is there such a tool, may the model use it now, is the turn whole."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ledger.catalog import Stage
from ledger.events import CallRejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """
    What the gate has to know of the turn and of the tool.

    `known`: the name is registered with a function here. `stage`: the tool's, None if nobody knows it. `offered`:
    what the model could choose from, None if that is not known. `whole`: the provider did not cut the turn off.
    `allowed`: False where the host told the model not to call a tool at all (`tool_choice` none).
    """

    known: bool
    stage: Stage | None
    side_effecting: bool
    names: Collection[str]
    offered: Collection[str] | None = None
    whole: bool = True
    allowed: bool = True
    replacements: tuple[Any, ...] = ()
    hint: str | None = None


def lookup(name: str, seen: Situation) -> CallRejected | None:
    """Return why the call stops here, or None."""
    if not seen.whole:
        return _rejected(
            "incomplete_turn",
            "The turn was cut off before it was complete; nothing of it was executed. Send the whole turn again.",
        )
    if seen.stage == "removed" or (seen.stage == "compat" and seen.side_effecting):
        return CallRejected(
            gate="lookup",
            code="tool_retired",
            error_class="model",
            message=f"The tool {name} is retired and was not executed.",
            replacement=list(seen.replacements) or None,
            hint=seen.hint,
            model_can_repair=bool(seen.replacements),
        )
    if seen.stage is None:
        close = difflib.get_close_matches(name, seen.names, n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        return _rejected("unknown_tool", f"There is no tool of this name.{meant} Use only the tools you were given.")
    if not seen.known:
        return CallRejected(
            gate="lookup",
            code="tool_unavailable",
            error_class="tool",
            message=f"The tool {name} is known, but this program cannot execute it. It was not executed.",
        )
    if not seen.allowed or (seen.offered is not None and name not in seen.offered):
        return _rejected("not_offered", f"The tool {name} was not offered in this turn and was not executed.")
    return None


def _rejected(code: str, message: str) -> CallRejected:
    return CallRejected(gate="lookup", code=code, error_class="model", message=message, model_can_repair=True)
