"""A tool that is deployed version by version, while calls of it are recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.calls import Call
from ledger.testing import crash
from tests.recovery.scenes import Gone, gone, let_go
from tests.session.agents import asked, opened

V1 = {"type": "object", "properties": {"amt": {"type": "integer"}}, "required": ["amt"], "additionalProperties": False}
V2 = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}},
    "required": ["amount"],
    "additionalProperties": False,
}
V3 = V2 | {
    "properties": {"amount": {"type": "integer"}, "currency": {"type": "string"}},
    "required": ["amount", "currency"],
}
RENAME = {
    "tool": "charge",
    "from": 1,
    "to": 2,
    "assertedBy": "ada@example.org",
    "ops": [{"op": "rename", "from": "/amt", "to": "/amount"}],
}
ASKS = {
    "tool": "charge",
    "from": 2,
    "to": 3,
    "semantic": "A currency has to be named now.",
    "carry": ["/amount"],
    "ask": [{"pointer": "/currency", "question": "Which currency?"}],
}


@dataclass(slots=True)
class Deploy:
    """One tool, deployed version by version; `effects` is what reached the world."""

    folder: Path
    effect: str = "external"
    effects: list[tuple[int, Any]] = field(default_factory=list)
    opened: list[Ledger] = field(default_factory=list)
    policy: Any = None

    def close(self) -> None:
        """Stop all programs."""
        for ledger in self.opened:
            ledger.close()

    def write(self, current: int, **upcast: Any) -> None:
        """Write the catalog's files as this release has them."""
        tool = self.folder / "catalog" / "charge"
        tool.mkdir(parents=True, exist_ok=True)
        versions = {str(number): {"contract": {"effect": self.effect}} for number in range(1, current + 1)}
        document = {"name": "charge", "description": "Charge.", "current": current, "versions": versions}
        (tool / "tool.json").write_text(json.dumps(document))
        for later in tool.glob("v*.json"):
            later.unlink()  # an older release does not know it
        for number, schema in enumerate((V1, V2, V3)[:current], 1):
            (tool / f"v{number}.json").write_text(json.dumps(schema))
        if current > 1:
            (tool / "v1-v2.upcast.json").write_text(json.dumps(RENAME | upcast))
        if current > 2:
            (tool / "v2-v3.upcast.json").write_text(json.dumps(ASKS))

    def open(self, current: int, **settings: Any) -> Ledger:
        """Start the program of this release."""
        ledger = opened(self.folder, catalog=str(self.folder / "catalog"), **settings)
        self.opened.append(ledger)

        def one(amt: int) -> dict[str, int]:
            """Charge."""
            return self.charge(1, amt)

        def two(amount: int) -> dict[str, int]:
            """Charge."""
            return self.charge(2, amount)

        def three(amount: int, currency: str) -> dict[str, int]:
            """Charge."""
            return self.charge(3, (amount, currency))

        ledger.tool("charge", version=current)((one, two, three)[current - 1])
        if self.policy is not None:
            ledger.authorize(self.policy)
        return ledger

    def charge(self, version: int, what: Any) -> dict[str, int]:
        """Do it."""
        self.effects.append((version, what))
        return {"receipt": len(self.effects)}

    def first(self, point: crash.Point | None = None, amt: int = 5) -> Call:
        """Run v1: one call, cut off at this point; return it as it is recorded."""
        self.write(1)
        ledger = self.open(1)
        session = ledger.session("s")
        session.messages(start=[{"role": "user", "content": "Charge."}])
        if point is not None:
            crash.arm(ledger, point, end=gone)
            with pytest.raises(Gone):
                session.dispatch(asked(("charge", {"amt": amt})))
            let_go(ledger)
        else:
            session.dispatch(asked(("charge", {"amt": amt})))
        [row] = ledger.calls()
        return ledger.find(str(row["callId"]))
