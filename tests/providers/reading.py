"""What the tests of all formats' replies share: cases from files, objects as SDKs make them, what was read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ledger.providers import Reply
from ledger.strictjson import canonical


def cases(name: str, key: str) -> list[dict[str, Any]]:
    """Return the cases of a file of the suite that have this key."""
    found: list[dict[str, Any]] = json.loads(Path(f"tests/suite/{name}.json").read_text(encoding="utf-8"))
    return [case for case in found if key in case]


class Sdk(BaseModel):
    """An object like those of SDKs: fields of any name, and a `model_dump`."""

    model_config = ConfigDict(extra="allow")


def sdk(value: Any) -> Any:
    """Return the value with every object in it as an SDK's object, as attributes hold them."""
    if isinstance(value, dict):
        return Sdk(**value)
    return [sdk(item) for item in value] if isinstance(value, list) else value


def plainly(value: Any) -> Any:
    """Return the value as it is."""
    return value


def check_reply(reply: Reply, wanted: dict[str, Any]) -> None:
    """Assert what was read; of calls: name, raw text, arguments, id; of hosted ones also how they ended."""
    calls = [[c.name, c.raw, c.arguments, c.provider_call_id] for c in reply.calls]
    hosted = [[h.name, h.raw, h.arguments, h.provider_call_id, h.ended, h.result, h.message] for h in reply.hosted]
    found = {name: getattr(reply, name) for name in wanted} | {"calls": calls}
    if "hosted" in wanted:
        found["hosted"] = hosted
    assert found == wanted
    canonical([reply.items, reply.usage, reply.tool_choice])
