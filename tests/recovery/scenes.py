"""What the recovery tests share: a ledger file opened by one process after another, and ways to leave it midway."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Deny, Ledger
from ledger.calls import Call
from ledger.ids import Clock
from ledger.testing import crash
from tests.session.agents import asked

SESSION = "s"
START = [{"role": "user", "content": "Do it."}]


class Gone(BaseException):
    """The process is gone, as far as a test is concerned: no code of it runs any more."""


def gone() -> None:
    """End at a crash point by raising instead of killing."""
    raise Gone


def let_go(ledger: Ledger, session_id: str = "s") -> None:
    """Give the session back, as the death of its owner does."""
    head = ledger.reader.head(session_id)
    assert head is not None
    ledger._wiring.store.release(session_id, token=head.token)


@dataclass(slots=True)
class Scene:
    """
    One file and one tool: `options` is its contract, `ran` what it did, `raises` what comes out of it.

    `ask` lets a policy ask a person; `policy` stands for any host's code, so that intents are committed by themselves.
    """

    folder: Path
    options: dict[str, Any] = field(default_factory=dict)
    ask: Ask | Deny | None = None
    policy: bool = False
    ran: list[Any] = field(default_factory=list)
    checked: int = 0
    raises: Callable[[], Any] | None = None
    clock: Clock | None = None
    opened: list[Ledger] = field(default_factory=list)

    def open(self, *, tool: bool = True, **settings: Any) -> Ledger:
        """Open the ledger as another process would."""
        found = Ledger.open(f"sqlite:///{self.folder}/ledger.db", clock=self.clock, jitter=lambda: 0.0, **settings)
        self.opened.append(found)
        if tool:
            found.tool("act", **{"effect": "write"} | self.options)(self.act)
        if self.ask is not None or self.policy:
            found.authorize(self.decide)
        return found

    def act(self, number: int = 1, *, context: Any) -> Any:
        """Act."""
        self.ran.append((number, context.attempt, context.idempotency_key))
        if self.raises is not None:
            return self.raises()
        return {"done": number}

    def decide(self, _call: Any, _principal: Any) -> Any:
        """Allow, or ask."""
        from ledger import Allow

        self.checked += 1
        return self.ask or Allow()

    def crashed(self, point: crash.Point, number: int = 1) -> str:
        """Dispatch a call in a process that is gone at this point; return the call's id."""
        ledger = self.open()
        session = ledger.session(SESSION)
        session.messages(start=START)
        crash.arm(ledger, point, end=gone)
        with pytest.raises(Gone):
            session.dispatch(asked(("act", {"number": number})))
        self.free(ledger)
        return self.only(ledger).call_id

    def free(self, ledger: Ledger) -> None:
        """Give the lease back: its owner is gone, but the process that played it is not."""
        store: Any = ledger.reader
        head = store.head(SESSION)
        store.release(SESSION, token=head.token)

    def only(self, ledger: Ledger, session_id: str = SESSION) -> Call:
        """Return the session's only call as it is recorded."""
        from ledger.replay.reading import session_at

        [call] = session_at(ledger.reader, session_id).calls.values()
        return call

    def close(self) -> None:
        """Close whatever was opened."""
        for ledger in self.opened:
            ledger.close()
