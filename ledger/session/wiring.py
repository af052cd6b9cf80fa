"""What all sessions of one ledger share: the store, the clock, the tools and the host's own code."""

from __future__ import annotations

import logging
import random
import secrets
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ledger.calls import Call
from ledger.catalog import Registry
from ledger.catalog.limit import RateLimit
from ledger.execution.outcome import SafeError
from ledger.ids import Clock
from ledger.recovery import MAX_ATTEMPTS
from ledger.session.lease import Heartbeat, Owner
from ledger.session.secrets import Secrets
from ledger.store.port import Store

KEPT_SECRETS = 1024
"""Sessions whose secrets are kept while no handle is open: a web server opens one for each request."""

Check = Callable[..., Any]
Policy = Callable[..., Any]


@dataclass(slots=True, kw_only=True)
class Wiring:
    """
    Built once by `Ledger.open`; sessions read it.

    `lease_seconds` bounds how long a crashed owner on another machine blocks a session; `workers` how many calls of a
    turn run at once; `run_not_started` lets side-effecting calls that surely never ran run after a crash;
    `tools_budget` is how many tokens tool definitions may take before a warning (None: no warning).
    """

    store: Store
    registry: Registry
    clock: Clock = field(default_factory=Clock)
    owner: Owner = field(default_factory=Owner)
    checks: dict[str, list[Check]] = field(default_factory=dict)
    policies: list[Policy] = field(default_factory=list)
    listeners: list[Callable[[Call], Any]] = field(default_factory=list)
    safe_error: SafeError | None = None
    catalog_digest: str | None = None
    host_release: str | None = None
    version: str = ""
    url: str = field(default="", repr=False)  # as it was given: a password may be in it
    lease_seconds: float = 60.0
    workers: int = 8
    max_attempts: int = MAX_ATTEMPTS
    run_not_started: bool = False
    limits: tuple[RateLimit, ...] = ()  # on calls of all tools
    tools_budget: int | None = 10_000
    jitter: Callable[[], float] = random.random
    stopping: bool = False
    closed: bool = False
    stop_at: float | None = None  # monotonic: until then started calls are waited for once the ledger stops
    masked: set[str] = field(default_factory=set)  # calls whose digest is an HMAC under this process's key
    mask_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("ledger.session"))
    heartbeat: Heartbeat = field(init=False)
    _kept: dict[str, Secrets] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _secrets: weakref.WeakValueDictionary[str, Secrets] = field(default_factory=weakref.WeakValueDictionary, repr=False)

    def __post_init__(self) -> None:
        self.heartbeat = Heartbeat(self.store, self.lease_seconds)

    def secrets_of(self, session_id: str) -> Secrets:
        """Return what this process knows of a session's secrets: the same for a handle, a verdict, a late outcome."""
        with self._lock:
            return self._secrets.setdefault(session_id, Secrets())

    def keep_secrets(self, session_id: str, found: Secrets) -> None:
        """Keep a session's secrets for its next handle; those of the sessions that nobody uses any more go first."""
        with self._lock:
            self._kept.pop(session_id, None)
            self._kept[session_id] = found
            while len(self._kept) > KEPT_SECRETS:
                del self._kept[next(iter(self._kept))]

    @property
    def drained(self) -> bool:
        """Whether the ledger stops and the time that started calls had is over."""
        return self.stopping and self.stop_at is not None and self.clock.monotonic() >= self.stop_at
