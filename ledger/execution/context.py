"""What the ledger tells user code about the call it works for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(slots=True, kw_only=True)
class Context:
    """
    Handed to tools, checks and reconcile functions that have a parameter named `context`.

    `idempotency_key` is the same for every attempt of the call: hand it to the service that supports one. `deadline`
    is a UTC time or None. `cancelled` turns true when nobody waits for the result any more. `results` reads the
    session's recorded results: a list of `{tool, callId, arguments, result}`, oldest first. A tool may set `source`
    (where its result comes from: uri or id, version, locator).
    """

    session_id: str
    call_id: str
    tool: str
    schema_version: int
    attempt: int
    idempotency_key: str
    principal: Any = None
    tenant: str | None = None
    deadline: datetime | None = None
    source: Any = None
    read_results: Callable[[], list[Mapping[str, Any]]] = field(default=list, repr=False)
    read_call: Callable[[str], Any] = field(default=lambda _: None, repr=False)
    _cancelled: bool = field(default=False, repr=False)

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the result any more."""
        return self._cancelled

    @property
    def results(self) -> list[Mapping[str, Any]]:
        """The session's recorded results so far."""
        return self.read_results()

    def cancel(self) -> None:
        """Tell the tool that nobody waits any more."""
        self._cancelled = True  # seen by the thread that runs the tool the next time it looks
