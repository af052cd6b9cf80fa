"""Upcast files and the two versions that they lie between, from plain documents."""

from __future__ import annotations

from typing import Any

from ledger.catalog import Contract, ToolVersion
from ledger.catalog.steps import Upcast
from ledger.catalog.upcast.certificate import Step
from ledger.catalog.upcast_files import read_upcast


def version(number: int, schema: Any, tool: str = "t", **more: Any) -> ToolVersion:
    """A version of a tool."""
    known: dict[str, Any] = {"contract": Contract(effect="read"), "description": "It.", "shape_digest": "", **more}
    return ToolVersion(tool=tool, version=number, schema=schema, description_digest="", **known)


def upcast(ops: Any, **more: Any) -> Upcast:
    """A file from v1 to v2, asserted by somebody."""
    document = {"tool": "t", "from": 1, "to": 2, "ops": ops, "assertedBy": "ada@example.org", **more}
    return read_upcast({key: value for key, value in document.items() if value is not None}, "f", "t", (1, 2))


def step(ops: Any, old: Any, new: Any, **more: Any) -> Step:
    """The step between two schemas."""
    return Step(upcast(ops, **more), version(1, old), version(2, new))


def closed_object(properties: Any, required: Any = None) -> dict[str, Any]:
    """An object with these properties and no other ones; all are required if nothing else is said."""
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | {"required": list(properties if required is None else required)}
