"""The built-in tool that reads what a result was too large to show: recorded like every other call."""

from __future__ import annotations

from typing import Any

from ledger.answers import NotFound, Rejected
from ledger.execution.context import Context
from ledger.strictjson import canonical, resolve

READ_RESULT = "read_result"
"""The tool's name."""

LONGEST = 6000
"""Characters a page: with its frame it stays below what the model is shown of a result."""


def read_result(pointer: str, offset: int = 0, limit: int = 4000, *, context: Context) -> dict[str, Any]:
    """
    Read on in a result that was cut.

    `pointer` is the one that the cut answer gave: `result:` and the call's id, with a JSON pointer behind it to look at
    one part. `offset` and `limit` count characters of the text (of the part's JSON, where it is no text).
    """
    name, _, path = pointer.removeprefix("result:").partition("/")
    call = context.read_call(name)
    if call is None or call.state != "succeeded":
        raise NotFound("There is no recorded result of this pointer in this session.")
    if offset < 0 or not 1 <= limit <= LONGEST:
        raise Rejected("out_of_range", f"offset counts from 0, limit is 1 to {LONGEST}.")
    try:
        value = resolve(call.result, f"/{path}" if path else "")
    except (LookupError, ValueError):
        raise NotFound("The result has no part at this JSON pointer.") from None
    text = value if isinstance(value, str) else canonical(value).decode("utf-8")
    page = text[offset : offset + limit]
    after = offset + len(page)
    return {
        "text": page,
        "offset": offset,
        "nextOffset": after if after < len(text) else None,
        "total": len(text),
    }
