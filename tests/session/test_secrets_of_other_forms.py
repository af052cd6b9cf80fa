"""A secret under a name that only another version of its tool has: old transcripts and scripts still use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.session.agents import asked, opened, recorded

CANARY = "hunter2-canary"
SECRET = {"type": "string", "x-sensitive": True}


def schema(name: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"amount": {"type": "integer"}, name: SECRET},
        "required": ["amount"],
    } | more


@pytest.mark.parametrize(
    ("older", "newer", "state"),
    [
        (schema("pin"), schema("code"), "succeeded"),
        (schema("pin"), schema("code", additionalProperties=False), "rejected"),
        (schema("pin") | {"x-sensitive": True}, schema("code"), "succeeded"),
    ],
    ids=["open", "closed", "all of it"],
)
@pytest.mark.parametrize("secret", [CANARY, "123"])
def test_a_secret_is_one_under_the_name_that_it_had(
    tmp_path: Path, older: dict[str, Any], newer: dict[str, Any], state: str, secret: str
) -> None:
    """Nothing of it is recorded, also where it is too short to be looked for elsewhere; what is declared is told."""
    tool = tmp_path / "catalog/pay"
    tool.mkdir(parents=True)
    versions = {number: {"contract": {"effect": "external"}} for number in "12"}
    document = {"name": "pay", "description": "Pay.", "current": 2, "versions": versions}
    (tool / "tool.json").write_text(json.dumps(document))
    for number, each in enumerate((older, newer), 1):
        (tool / f"v{number}.json").write_text(json.dumps(each))
    got: list[Any] = []
    with opened(tmp_path, catalog=str(tmp_path / "catalog")) as ledger:

        @ledger.tool("pay", version=2)
        def pay(amount: int, code: str = "", **more: Any) -> None:
            """Pay."""
            got.append(more)

        [call] = ledger.session("s").dispatch(asked(("pay", {"amount": 5, "pin": secret}))).calls
        assert (call.state, call.call.redacted) == (state, True)
        assert call.call.arguments == {"amount": 5, "pin": "[redacted]"}
        assert got == ([{"pin": secret}] if state == "succeeded" else [])
        bodies = [event.body for event in recorded(ledger, "s") if event.call_id]
        assert not any(f'"{secret}"' in str(body) or f"'{secret}'" in str(body) for body in bodies)
        [plain] = ledger.session("t").dispatch(asked(("pay", {"amount": 5}))).calls
        assert (plain.state, plain.call.redacted) == ("succeeded", False)
