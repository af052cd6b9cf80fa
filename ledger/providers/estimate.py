"""How much of a model's context tool definitions take, without a provider's tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ledger.strictjson import JsonObject, canonical

BYTES_PER_TOKEN: Final = 4
"""English prose and JSON have about so many; no provider publishes how it counts definitions."""


def estimated_tokens(definitions: Sequence[JsonObject]) -> int:
    """Return about how many tokens they take: the bytes of their canonical JSON by 4, rounded up; 0 for none."""
    return -(-len(canonical(list(definitions))) // BYTES_PER_TOKEN) if definitions else 0
