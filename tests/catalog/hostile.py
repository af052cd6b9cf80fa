"""Small schemas to test with, and those made to hang or crash a reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
DEEP = 200_000
"""Levels that no reader may follow."""


def holding(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties."""
    return {"type": "object", "properties": properties}


def nested(levels: int) -> dict[str, Any]:
    """Return a value of so many levels."""
    node = TEXT
    for _ in range(levels):
        node = {"x": node}
    return node


def doubled(levels: int, twice: Callable[[Any], Any] = lambda ref: {"allOf": [ref, ref]}) -> dict[str, Any]:
    """Return definitions of which each refers to the next one twice: 2^levels look at one value."""
    defs = {f"d{level}": twice({"$ref": f"#/$defs/d{level + 1}"}) for level in range(levels)}
    return {**holding(a={"$ref": "#/$defs/d0"}), "$defs": {**defs, f"d{levels}": TEXT}}


HOSTILE: dict[str, tuple[Any, str, str]] = {
    "a remote reference": (
        holding(a={"$ref": "https://example.com/x.json"}),
        "/properties/a/$ref",
        "nothing is fetched",
    ),
    "a reference to a file": (holding(a={"$ref": "file:///etc/passwd"}), "/properties/a/$ref", "nothing is fetched"),
    "a loop of references": (
        {**holding(a={"$ref": "#/$defs/x"}), "$defs": {"x": {"$ref": "#/$defs/x"}}},
        "/$defs/x",
        "leads back to itself",
    ),
    "2^20 schemas for one value": (doubled(20), "", "10,000 schemas"),
    "a pattern that explodes": (holding(a={**TEXT, "pattern": "(a+)+$"}), "/properties/a/pattern", "several ways"),
    "a schema of 200,000 levels": ({**holding(), "default": nested(DEEP)}, "/default/", "nested"),
}
"""The attacks that each reader of schemas refuses: the schema, where its fault is, and why."""
