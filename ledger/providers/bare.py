"""What else a provider sent with a turn, without what may quote the arguments of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ledger.strictjson import Json, JsonObject

_BLOCKS: Final = ("content", "output", "parts")
"""Where a format's items keep the blocks of the answer, with a mark for each call."""
_OF_A_CALL: Final = frozenset(
    {"call", "caller", "extra_content", "id", "namespace", "status", "thought", "thoughtSignature", "type"}
)
"""Of a call's mark what places it and ties it to the reasoning before it: a provider wants that back."""
_OF_A_MESSAGE: Final = frozenset(
    {
        "annotations",
        "audio",
        "content",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "refusal",
        "thinking_blocks",
    }
)
"""Of a chat message what is said beside its calls."""
_ENVELOPE: Final = ("message", "reply", "response")


def bare(items: Json) -> Json:
    """
    Return a turn's items without anything that may hold its calls' arguments; None where nothing is left.

    Kept is what is known to be something else: texts, reasoning with its signatures, the places of the calls, plain
    facts of the reply. A copy of arguments may stand under any other name (`function_call`, `parsed_arguments`,
    `input`, `partialArgs`, tokens with their probabilities, another choice), and where the arguments are no JSON nobody
    can find the secrets in it.
    """
    if not isinstance(items, dict):
        return None
    chat = "calls" in items or not any(isinstance(items.get(name), list) for name in _BLOCKS)
    found: JsonObject = {name: [_block(each) for each in items[name]] for name in _BLOCKS if name in items}
    found |= {name: _flat(items[name]) for name in _ENVELOPE if name in items}
    if chat and "message" in items:
        found["message"] = _only(items["message"], _OF_A_MESSAGE)
    if "calls" in items:
        found["calls"] = [_only(each, _OF_A_CALL) for each in items["calls"]]
    return {name: value for name, value in found.items() if value} or None


def _block(block: Json) -> Json:
    if not isinstance(block, dict) or "call" not in block:
        return block
    found = _only(block, _OF_A_CALL)
    return found | {"functionCall": {}} if "functionCall" in block else found


def _only(whole: Mapping[str, Json], names: frozenset[str]) -> JsonObject:
    return {name: value for name, value in whole.items() if name in names}


def _flat(whole: Mapping[str, Json]) -> JsonObject:
    """Return the plain facts of a reply: when, by what."""
    return {name: value for name, value in whole.items() if not isinstance(value, dict | list)}
