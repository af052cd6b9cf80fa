"""
Whether two calls' arguments ask the same of a tool, however they are spelled: 100 and 100.0, a default written out.

Nothing runs or is recorded by this. It keeps an effect from happening twice: what may be the same counts as the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from ledger.catalog.defaults import DefaultsWithoutEnd, with_defaults
from ledger.catalog.definition import ToolVersion
from ledger.catalog.equality import key_of
from ledger.catalog.tool import Tool
from ledger.strictjson import Json, copied


def ask_the_same(version: ToolVersion | None, tool: Tool | None, one: Json, other: Json) -> bool:
    """
    Return whether two arguments of one version are equal as its schema means it, or as its function would get them.

    Defaults count as said, whether the ledger or the function fills them in. What the function gets is compared only
    where no code of the host makes it.
    """
    if key_of(written_out(version, one)) == key_of(written_out(version, other)):
        return True
    if tool is None or tool.runs_user_code or not isinstance(one, dict) or not isinstance(other, dict):
        return False
    try:
        return _equal(_bound(tool, one), _bound(tool, other))
    except Exception:  # noqa: BLE001 - arguments of another form do not bind, and types of the host may compare oddly
        return False


def written_out(version: ToolVersion | None, arguments: Json) -> Json:
    """Return a copy of the arguments with all defaults of the schema, where it has any and they have an end."""
    if version is None or not isinstance(arguments, dict):
        return arguments
    try:
        return with_defaults(version.schema, arguments)
    except DefaultsWithoutEnd:
        return arguments


def _bound(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments, with the function's own defaults."""
    parameters = tool.signature.parameters.values()
    own = {each.name: each.default for each in parameters if not each.required}
    return own | tool.bind(copied(arguments))


def _equal(one: Any, other: Any) -> bool:
    """Python's equality, but true is not 1; of dataclasses and enums none that a class defines itself."""
    if isinstance(one, bool | Enum) or isinstance(other, bool | Enum):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if is_dataclass(one) and type(one) is type(other):
        return all(_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return bool(one == other)
