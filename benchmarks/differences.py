"""How long differences take: two hundred tools with one change each, proofs alone, and schemas made to hang."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from ledger.catalog import compile_schema, load_catalog
from ledger.catalog.diff import Subject, contained, difference
from ledger.errors import CatalogFault

TOOLS = 200
SEED = 7


def tools(count: int = TOOLS) -> list[dict[str, Any]]:
    """Schemas as published tools have them: some ten described properties, half of them open, some nested."""
    rng = Random(SEED)
    kinds: list[Callable[[], dict[str, Any]]] = [
        lambda: {"type": "string", "minLength": 1, "maxLength": 200},
        lambda: {"type": "integer", "minimum": 1, "maximum": 100, "default": 30},
        lambda: {"type": "boolean"},
        lambda: {"enum": ["open", "closed", "all"]},
        lambda: {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
        lambda: {"type": "array", "items": {"type": "string"}, "maxItems": 50},
        lambda: {"anyOf": [{"type": "string"}, {"type": "null"}]},
        lambda: {
            "type": "array",
            "items": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}},
        },
    ]
    found = []
    for number in range(count):
        fields = {f"field_{at}": {**rng.choice(kinds)(), "description": f"Field {at}."} for at in range(10)}
        node = {"type": "object", "properties": fields, "required": ["field_0", "field_1"]}
        found.append({**node, "additionalProperties": False} if number % 2 else node)
    return found


def changed(schema: dict[str, Any], number: int) -> dict[str, Any]:
    """One change each, of the kinds that happen."""
    new = deepcopy(schema)
    fields = new["properties"]
    match number % 6:
        case 0:
            fields["added"] = {"type": "string"}
        case 1:
            del fields["field_9"]
        case 2:
            new["required"].append("field_2")
        case 3:
            fields["field_3"]["description"] = "Another word."
        case 4:
            fields["field_4"] = {"type": "string", "pattern": "^[a-z0-9]+(_[a-z0-9]+)*$"}
        case _:
            fields["field_5"]["default"] = None
    return new


def attacks() -> dict[str, dict[str, Any]]:
    """Schemas made to hang or crash; each is refused, or given up."""
    text = {"type": "string"}
    twice = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(20)}
    deep: Any = text
    for _ in range(200_000):
        deep = {"x": deep}
    inner: dict[str, dict[str, Any]] = {
        "remote": {"$ref": "https://example.com/x"},
        "file": {"$ref": "file:///etc/passwd"},
        "loop": {"$ref": "#/$defs/loop"},
        "expansion": {"$ref": "#/$defs/d0"},
        "redos": {**text, "pattern": "(a+)+$"},
        "deep": {"default": deep},
        "unique": {"type": "array", "uniqueItems": True, "default": list(range(10_001))},
        "pattern": {**text, "pattern": "^[ab]*a[ab]{200}$"},
    }
    defs = {"loop": {"$ref": "#/$defs/loop"}}
    return {
        name: {
            "type": "object",
            "properties": {"a": node},
            "$defs": {**twice, "d20": text} if name == "expansion" else defs if name == "loop" else {},
        }
        for name, node in inner.items()
    }


def bombs() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Arguments made to hang or crash a validator, each with its schema; each is refused."""
    unique = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    deep: Any = []
    for _ in range(200_000):
        deep = [deep]
    found: dict[str, tuple[dict[str, Any], Any]] = {
        "unique": (unique, list(range(10_001))),
        "unique and large": (unique, [1] * 500_000),
        "one hash": (unique, [number * (2**61 - 1) for number in range(10_001)]),
        "deep": ({}, deep),
        "redos": ({"type": "string", "pattern": "^a*$"}, "a" * 100_000 + "!"),
    }
    return {
        name: ({"type": "object", "properties": {"a": schema}}, {"a": value}) for name, (schema, value) in found.items()
    }


def seconds(work: Callable[[], Any], rounds: int) -> float:
    """Return the processor's time of the quickest of several rounds: others work on this machine too."""
    found = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return round(min(found), 4)


def refused(schema: dict[str, Any]) -> None:
    """Compare with a plain schema; a refusal is an answer."""
    plain = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[ab]*b[ab]{200}$"}}}
    try:
        difference(Subject(schema=plain), Subject(schema=schema))
    except CatalogFault:
        return


def judged(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Compile a schema and hold arguments to it."""
    compile_schema(schema).violations(arguments)


def catalog(folder: Path, schemas: list[dict[str, Any]]) -> Path:
    """Write a catalog of these tools."""
    for number, schema in enumerate(schemas):
        place = folder / "tools" / f"tool_{number}"
        place.mkdir(parents=True, exist_ok=True)
        definition = {"name": place.name, "description": "D.", "versions": {"1": {"contract": {"effect": "read"}}}}
        (place / "tool.json").write_text(json.dumps(definition))
        (place / "v1.json").write_text(json.dumps(schema))
    return folder / "tools"


def differences(folder: Path, rounds: int) -> dict[str, Any]:
    """
    Measure; seconds for all tools together, milliseconds for the slowest schema and the slowest arguments made to hang.

    `check`: reading and checking the catalog. `diff`: each tool against its changed self, counterexamples included.
    `prove`: the containment of the same pairs.
    """
    olds = tools()
    pairs = [(old, changed(old, number)) for number, old in enumerate(olds)]
    root = catalog(folder, olds)
    slow = {name: seconds(partial(judged, *case), 3) for name, case in bombs().items()}
    slowest = {name: seconds(lambda node=node: refused(node), 3) for name, node in attacks().items()}  # type: ignore[misc]  # the loop's own node
    return {
        "tools": TOOLS,
        "check": seconds(lambda: load_catalog(root), rounds),
        "diff": seconds(lambda: [difference(Subject(schema=old), Subject(schema=new)) for old, new in pairs], rounds),
        "prove": seconds(lambda: [contained(old, new) for old, new in pairs], rounds),
        "slowestAttackMilliseconds": round(max(slowest.values()) * 1000, 1),
        "slowestAttack": max(slowest, key=lambda name: slowest[name]),
        "slowestArgumentsMilliseconds": round(max(slow.values()) * 1000, 1),
        "slowestArguments": max(slow, key=lambda name: slow[name]),
    }
