"""What Bedrock's Converse API would refuse in a conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ledger.providers.check_anthropic import check_anthropic
from ledger.providers.converse import OPAQUE, to_blocks
from ledger.providers.problems import Problem

_ID: Final = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")


def check_bedrock(messages: Sequence[Any]) -> list[Problem]:
    """Return what Bedrock would refuse: what Anthropic would, and two messages of one role in a row."""
    found = check_anthropic([_read(message) for message in messages], _ID)
    before: object = None
    for place, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role is not None and role == before:
            found.append(Problem(place, "order", f"two messages of the role {role!r} stand in a row"))
        before = role
    return found


def _read(message: Any) -> Any:
    """Return a message in Anthropic's form; what is no Converse block stays a block of no kind."""
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return message if not isinstance(message, dict) else message | {"content": None}
    if not all(isinstance(block, dict) and block for block in message["content"]):
        return message | {"content": ["?"]}
    blocks = [{"type": OPAQUE} if block["type"] == OPAQUE else block for block in to_blocks(message["content"])]
    return message | {"content": blocks}
