"""What the tests of the examples share: the output a README shows, and events without what differs each time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ledger import Ledger

ROOT = Path(__file__).parents[2]
_KEPT = ("type", "tool", "schemaVersion", "schemaDigest", "turn", "index", "attempt", "principal", "tenant")
_OWN = ("rawArguments", "providerCallId", "provider", "idempotencyKey", "worker", "deadline", "durationMs", "repairOf")


def shown(example: str) -> str:
    """What the README of an example shows as its output."""
    page = (ROOT / "examples" / example / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def facts(ledger: Ledger, session_id: str) -> list[dict[str, Any]]:
    """The events of all calls of a session, without ids, times and the provider's own words."""
    rows = [row for row in ledger.events(session=session_id) if row["callId"]]
    bodies = [{key: value for key, value in row["body"].items() if key not in _OWN} for row in rows]
    return [{key: row[key] for key in _KEPT} | body for row, body in zip(rows, bodies, strict=True)]
