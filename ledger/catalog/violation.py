"""One fault of a value under its schema, as the model and the ledger read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ledger.strictjson import JsonObject

GATE_ERROR: Final = "gate_error"
"""The keyword of a violation that says: the gate itself failed, nothing is known about the value."""
MAX_VIOLATIONS: Final = 20


@dataclass(frozen=True, slots=True)
class Violation:
    """
    What is wrong at `pointer` (RFC 6901, into the value; a missing or unknown field is named by its own pointer).

    `keyword` is JSON Schema's, or `false` (nothing is allowed there), `depth`, `finite`, `gate_error`. `cut`: the place
    is further inside, and its whole pointer too long to be told.
    """

    pointer: str
    keyword: str
    message: str
    cut: bool = False

    def to_wire(self) -> JsonObject:
        """Return the form of `violations[]` in events and answers."""
        return {"pointer": self.pointer, "keyword": self.keyword, "message": self.message}
