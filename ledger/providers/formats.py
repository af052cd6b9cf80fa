"""The wire formats there are, by name."""

from __future__ import annotations

from typing import Final

from ledger.errors import UsageError
from ledger.providers.openai_chat import OpenAIChat
from ledger.providers.port import WireFormat

FORMATS: Final[dict[str, WireFormat]] = {each.name: each for each in (OpenAIChat(),)}


def get_format(name: str) -> WireFormat:
    """Return the wire format of this name; raises `UsageError` that names those there are."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UsageError(f"no wire format {name!r}.", hint=f"There is: {', '.join(sorted(FORMATS))}.") from None
