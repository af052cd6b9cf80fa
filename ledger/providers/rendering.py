"""What every wire format needs to write a call: its arguments as an object, and tools under names of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

from ledger.calls import Call
from ledger.catalog.definition import ToolVersion, describe
from ledger.errors import JsonRejected, UsageError
from ledger.providers.port import Answered
from ledger.strictjson import JsonObject, decode, export_safe


def arguments_object(call: Call) -> JsonObject:
    """Return the arguments as an object that any provider takes; `{}` where what the model sent is none."""
    found = call.arguments
    if found is None and call.raw_arguments is not None:
        try:
            found = decode(call.raw_arguments)
        except JsonRejected:
            found = None
    safe: JsonObject = export_safe(found, nul=True) if isinstance(found, dict) else {}
    return safe


def offers(
    provider: str, versions: Sequence[ToolVersion], naming: Callable[[str], str]
) -> list[tuple[str, str, JsonObject]]:
    """Return name, description and a copy of the schema of each tool; raises `UsageError` where two get one name."""
    taken: dict[str, str] = {}
    found = []
    for version in versions:
        name = naming(version.tool)
        if taken.setdefault(name, version.tool) != version.tool:
            raise UsageError(f"{provider}: the tools {taken[name]} and {version.tool} both get the name {name}.")
        found.append((name, describe(version), deepcopy(version.schema)))
    return found


def filled(
    kept: Iterable[Any], answered: Sequence[Answered], write: Callable[[Answered, JsonObject], JsonObject]
) -> list[JsonObject]:
    """
    Return recorded blocks with the turn's calls back in their places; what has no place comes last.

    A mark names a call by its number in the turn (`call`); one of a call that is not told any more is left out.
    """
    waiting = {each.call.index: each for each in answered}
    found: list[JsonObject] = []
    for block in kept:
        if not isinstance(block, dict):
            continue
        if "call" not in block:
            found.append(export_safe(block, nul=True))
        elif (each := waiting.pop(block["call"], None)) is not None:
            found.append(
                write(each, export_safe({key: item for key, item in block.items() if key != "call"}, nul=True))
            )
    return found + [write(each, {}) for each in waiting.values()]
