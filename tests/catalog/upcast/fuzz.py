"""
Wild schemas with wild operations: what is called proved is held against values by chance, and the validator alone.

The new schema is what the engine makes of the old one, changed a little, so that many proofs come close. A claim is
broken by one value: `iso` and `embed` say that every old value is carried, `iso` also that every new one comes of one.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from ledger.catalog import compile_schema
from ledger.catalog.upcast.image import Image
from ledger.catalog.upcast.reading import closed
from ledger.catalog.upcast.records import Carried
from ledger.catalog.upcast.stops import Stop
from ledger.catalog.upcast.values import back, forth
from ledger.errors import CatalogFault
from tests.catalog.diff.fuzz import NAMES, SCALARS, changed, mapping, root, value
from tests.catalog.upcast.rounds import pointer, typed_equal
from tests.catalog.upcast.scenes import step, upcast

VALUES = 24
NOT_TYPED = ("not_an_integer", "not_the_constant")
"""JSON Schema takes 1.0 for an integer and for the constant 1; here they differ, and a person is asked."""


@dataclass
class Claims:
    """What was claimed and tried; a broken one is a text."""

    pairs: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    carried: int = 0
    came_back: int = 0
    counterexamples: int = 0
    broken: list[str] = field(default_factory=list)


def spots(node: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Places that a path names, with their schemas."""
    found = []
    if isinstance(node, dict) and len(path) < 5:
        for name, each in (node.get("properties") or {}).items():
            found += [((*path, name), each), *spots(each, (*path, name))]
        if isinstance(node.get("items"), dict):
            found += [((*path, "*"), node["items"]), *spots(node["items"], (*path, "*"))]
    return found


def operation(rng: Random, schema: dict[str, Any]) -> dict[str, Any] | None:
    """An operation that may fit somewhere."""
    places = spots(schema)
    if not places:
        return None
    path, node = rng.choice(places)
    node = node if isinstance(node, dict) else {}
    here, name = pointer(*path), rng.choice(NAMES)
    beside = pointer(*path[:-1], name)
    texts = [each for each in node.get("enum", ()) if isinstance(each, str)]
    array, fields = node.get("type") == "array", list(node.get("properties") or ("a",))
    choices: list[dict[str, Any]] = [
        {"op": "wrap_object", "path": here, "key": name},
        {"op": "unwrap_object", "path": here, "key": fields[0]},
        {"op": "wrap_array", "path": here},
        {"op": "cast", "path": here, "to": "integer" if node.get("type") == "string" else "string"},
        {"op": "object_to_tuple", "path": here, "keys": fields},
    ]
    if array:
        size = len(node.get("prefixItems", ())) or 1
        choices += [{"op": "unwrap_array", "path": here}] * 3
        choices += [{"op": "tuple_to_object", "path": here, "keys": list(NAMES[:size])}]
    if texts:
        choices += [{"op": "map_values", "path": here, "values": dict(zip(texts, [*texts[1:], "zz"], strict=True))}] * 6
    if path[-1] != "*":
        choices += [
            {"op": "rename", "from": here, "to": beside},
            {"op": "null_to_absent", "path": here},
            {"op": "absent_to_null", "path": here},
            {"op": "add_const", "path": beside, "value": rng.choice(SCALARS)},
            {"op": "drop_const", "path": here, "value": node.get("const", (node.get("enum") or [1])[0])},
            {"op": "introduce_optional", "path": beside, "absentMeans": "so"},
            {"op": "move", "from": here, "to": pointer(*rng.choice(places)[0][:1], name)},
        ]
    return rng.choice(choices)


def simple(rng: Random) -> dict[str, Any]:
    """Arguments that operations can follow further than the wild ones."""
    node = mapping(rng, 3)
    for keyword in ("patternProperties", "propertyNames", "dependentSchemas", "unevaluatedProperties"):
        node.pop(keyword, None)
    if rng.random() < 0.8:
        node["additionalProperties"] = False
    return node


def claim(seed: int, claims: Claims) -> None:
    """Make one upcast and hold the proof to what it says."""
    rng = Random(seed)
    old = root(rng) if rng.random() < 0.3 else simple(rng)
    try:
        reading = closed(old)
        image, ops = Image(reading, "2020-12"), []
        for _ in range(rng.choice([1, 1, 2, 3])):
            entry = operation(rng, image.schema)
            if entry is None:
                break
            for op in upcast([entry]).ops:
                image.apply(op)
            ops.append(entry)
    except CatalogFault:
        return
    except Stop as stop:
        claims.codes[stop.code] += 1
        ops.append(entry or {})
        image = Image(deepcopy(closed(old)), "2020-12")
    new = image.schema if rng.random() < 0.5 else changed(rng, image.schema)
    _hold(rng, (old, new, ops), claims)


def _hold(rng: Random, made: tuple[Any, Any, Any], claims: Claims) -> None:
    old, new, ops = made
    more = {"widens": ["all"]} | ({"narrows": ["some"]} if rng.random() < 0.3 else {})
    try:
        made_step = step(ops, old, new, **more)
        compile_schema(old)
        compile_schema(new)
    except CatalogFault:
        return
    proof = made_step.proof
    claims.pairs += 1
    claims.statuses[f"{proof.status} {proof.grade}"] += 1
    claims.codes.update(reason.code for reason in proof.reasons)
    note = f"{proof.grade}: {ops}\n{old}\n{new}\n"
    before, after = (compile_schema(closed(each)) for each in (old, new))
    if proof.counterexample is not None:
        claims.counterexamples += 1
        if before.violations(proof.counterexample):
            claims.broken.append(f"{note}a counterexample that was never valid: {proof.counterexample}")
    for _ in range(VALUES if proof.holds else 2):
        found = value(rng, old, old)
        carried = made_step.carry(found)
        if not before.violations(found):
            if isinstance(carried, Carried):
                claims.carried += 1
            elif proof.grade in ("iso", "embed") and proof.holds and carried.code not in NOT_TYPED:
                claims.broken.append(f"{note}{found} is not carried: {carried}")
        elif isinstance(carried, Carried):
            claims.broken.append(f"{note}{found} was never valid, and is carried")
        there = value(rng, new, new)
        if proof.grade == "iso" and proof.holds and not after.violations(there):
            claims.came_back += 1
            _comes_back(made_step.upcast.ops, there, (before, note), claims)


def _comes_back(ops: Any, there: Any, known: tuple[Any, str], claims: Claims) -> None:
    before, note = known
    try:
        origin = back(ops, there)
        again = forth(ops, origin)
    except Stop as stop:
        if stop.code not in NOT_TYPED:
            claims.broken.append(f"{note}{there} comes from nothing: {stop.code}")
        return
    if before.violations(origin) or not typed_equal(again, there):
        claims.broken.append(f"{note}{there} comes from {origin}, which is invalid, or becomes {again}")
