"""How a recorded call would read under another version of its tool; only the telling differs, never the record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ledger.calls import Call
from ledger.strictjson import Json, JsonObject, canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaped:
    """
    A call's intent in the newest form that is proved to say the same.

    `recorded`: the version it was asked in; `version`: the one that `arguments` are of; `latest`: the newest there is.
    Where these two differ, `code` and `message` say why it goes no further.
    """

    recorded: int | None
    version: int | None
    latest: int | None
    arguments: Json
    code: str | None = None
    message: str | None = None

    @property
    def moved(self) -> bool:
        """Whether the arguments are others than the recorded ones."""
        return self.version != self.recorded

    def to_wire(self) -> JsonObject:
        """Return it as the command line prints it."""
        return {
            "recorded": self.recorded,
            "version": self.version,
            "latest": self.latest,
            "arguments": self.arguments,
            "code": self.code,
            "message": self.message,
        }


Shaping: TypeAlias = Callable[[Call], Shaped]
"""Says how a call reads in the newest form (`ledger.schema_migration.Newest`)."""


def in_shape(shaping: Shaping | None, call: Call) -> Call:
    """Return the call as it is to be told: with other arguments, and without the text that says the old ones."""
    if shaping is None:
        return call
    shaped = shaping(call)
    if not shaped.moved:
        return call
    return call.changed(arguments=shaped.arguments, raw_arguments=canonical(shaped.arguments).decode())
