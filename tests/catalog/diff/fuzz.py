"""
Schemas by chance, changed by chance, and values by chance: what a verdict promises has to hold for each of them.

It shares no code with the engine: values come from the schema's text, and the validator alone says what is valid.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from ledger.catalog import CompiledSchema, compile_schema
from ledger.catalog.diff import VERDICTS, Difference, Subject, contained, difference
from ledger.errors import CatalogFault

NAMES = ("a", "b", "c", "ab", "per_page")
TEXTS = ("", "a", "b", "ab", "05", "5", "abc", "A", "é", "x" * 6)
NUMBERS = (0, 1, -1, 2, 3, 5, 10, 0.5, 1.0, 2.5, -0.5, 1e3)
SCALARS: tuple[Any, ...] = (*TEXTS, *NUMBERS, True, False, None)
PATTERNS = ("^a", "b$", "^[ab]+$", "^[a-z]*$", "^[0-9]+$", "^(0|-?[1-9][0-9]*)$", "a|b", "^.{1,3}$", r"^\d$", "^[0-9]$")
VALUES_A_PAIR = 24


@dataclass
class Tally:
    """What was seen; a broken promise is a text."""

    pairs: int = 0
    values: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)
    relations: dict[str, int] = field(default_factory=dict)
    shown: int = 0
    broken: list[str] = field(default_factory=list)


def number(rng: Random) -> dict[str, Any]:
    node: dict[str, Any] = {"type": rng.choice(["integer", "number"])}
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        if rng.random() < 0.2:
            node[keyword] = rng.choice(NUMBERS)
    if rng.random() < 0.15:
        node["multipleOf"] = rng.choice([1, 2, 0.5, 3, 0.1])
    return node


def text(rng: Random) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "string"}
    for keyword in ("minLength", "maxLength"):
        if rng.random() < 0.2:
            node[keyword] = rng.randrange(5)
    if rng.random() < 0.3:
        node["pattern"] = rng.choice(PATTERNS)
    return node


def plain(rng: Random) -> dict[str, Any]:
    return {"type": rng.choice(["boolean", "null"])}


def choice(rng: Random) -> dict[str, Any]:
    if rng.random() < 0.3:
        return {"const": rng.choice(SCALARS)}
    return {"enum": rng.sample(SCALARS, rng.randrange(1, 5))}


def array(rng: Random, depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "array"}
    if rng.random() < 0.7:
        node["items"] = schema(rng, depth - 1)
    if rng.random() < 0.25:
        node["prefixItems"] = [schema(rng, depth - 1) for _ in range(rng.randrange(1, 3))]
        if rng.random() < 0.4:
            node["items"] = False
    for keyword in ("minItems", "maxItems"):
        if rng.random() < 0.25:
            node[keyword] = rng.randrange(4)
    if rng.random() < 0.15:
        node["uniqueItems"] = True
    if rng.random() < 0.08:
        node["contains"] = schema(rng, 0)
        if rng.random() < 0.5:
            node[rng.choice(["minContains", "maxContains"])] = rng.randrange(3)
    return node


def mapping(rng: Random, depth: int) -> dict[str, Any]:
    names = rng.sample(NAMES, rng.randrange(4))
    node: dict[str, Any] = {"type": "object", "properties": {name: schema(rng, depth - 1) for name in names}}
    node["required"] = [name for name in NAMES if rng.random() < (0.5 if name in names else 0.05)]
    if rng.random() < 0.6:
        node["additionalProperties"] = rng.choice([False, False, True, schema(rng, 0)])
    if rng.random() < 0.1:
        node["patternProperties"] = {rng.choice(["^a", "b", "^p"]): schema(rng, 0)}
    for keyword in ("minProperties", "maxProperties"):
        if rng.random() < 0.07:
            node[keyword] = rng.randrange(4)
    if rng.random() < 0.1:
        node["dependentRequired"] = {rng.choice(NAMES): [rng.choice(NAMES)]}
    if rng.random() < 0.06:
        node["dependentSchemas"] = {rng.choice(NAMES): {"required": [rng.choice(NAMES)]}}
    if rng.random() < 0.04:
        node["unevaluatedProperties"] = False
    if rng.random() < 0.05:
        node["propertyNames"] = {"pattern": rng.choice(PATTERNS)}
    return node


def union(rng: Random, depth: int) -> dict[str, Any]:
    keyword = rng.choice(["anyOf", "anyOf", "oneOf", "allOf"])
    return {keyword: [schema(rng, depth - 1) for _ in range(rng.randrange(1, 4))]}


def schema(rng: Random, depth: int) -> Any:
    """A schema of so many levels at most."""
    draw = rng.random()
    if depth <= 0 or draw < 0.45:
        node = rng.choice([number, text, choice, plain])(rng)
    elif draw < 0.6:
        node = array(rng, depth)
    elif draw < 0.82:
        node = mapping(rng, depth)
    elif draw < 0.95:
        node = union(rng, depth)
    else:
        other = {"if": schema(rng, 0), rng.choice(["then", "else"]): schema(rng, 0)}
        return rng.choice([{"$ref": "#/$defs/d"}, {"$ref": "#"}, {"not": schema(rng, 0)}, other, {}, True, False])
    if rng.random() < 0.15 and isinstance(node.get("type"), str):
        node["type"] = [
            node["type"],
            rng.choice([each for each in ("null", "string", "array") if each != node["type"]]),
        ]
    if rng.random() < 0.1:
        node["default"] = rng.choice(SCALARS)
    return node


def root(rng: Random) -> dict[str, Any]:
    """A tool's arguments."""
    node = {**mapping(rng, 3), "$defs": {"d": rng.choice([text(rng), mapping(rng, 1), array(rng, 1)])}}
    if rng.random() < 0.2:
        node["$defs"]["d"] = {**mapping(rng, 1), "additionalProperties": {"$ref": rng.choice(["#", "#/$defs/d"])}}
    if "#/$defs/d" not in str(node):
        node["$defs"] = {}
    node["properties"] = node["properties"] or {"a": schema(rng, 2)}
    return node


def places(node: Any) -> list[dict[str, Any]]:
    """Every schema object inside a schema."""
    found: list[dict[str, Any]] = []
    if isinstance(node, dict):
        found.append(node)
        for keyword, value in node.items():
            if keyword in ("properties", "patternProperties", "$defs", "dependentSchemas"):
                for each in value.values():
                    found.extend(places(each))
            elif keyword in ("items", "additionalProperties", "contains", "not", "propertyNames", "if", "then", "else"):
                found.extend(places(value))
            elif keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
                for each in value:
                    found.extend(places(each))
    return found


def _shift(rng: Random, node: dict[str, Any]) -> None:
    keywords = [key for key in node if key.startswith(("min", "max", "exclusive"))]
    if keywords:
        keyword = rng.choice(keywords)
        turned = node[keyword] + rng.choice([1, -1])
        node[keyword] = max(turned, 0) if not keyword.endswith("imum") else turned


def _drop(rng: Random, node: dict[str, Any]) -> None:
    keywords = [key for key in node if key not in ("$ref", "$defs", "type")]
    if keywords:
        del node[rng.choice(keywords)]


def _retype(rng: Random, node: dict[str, Any]) -> None:
    if isinstance(node.get("type"), str) and node["type"] != "object":
        node["type"] = rng.choice([[node["type"], "null"] if node["type"] != "null" else "null", "number", "string"])
    elif isinstance(node.get("type"), list):
        node["type"] = rng.choice(node["type"])


def _property(rng: Random, node: dict[str, Any]) -> None:
    fields = node.get("properties")
    if isinstance(fields, dict):
        name = rng.choice(NAMES)
        if name in fields and rng.random() < 0.5:
            del fields[name]
        else:
            fields[name] = schema(rng, 1)


def _require(rng: Random, node: dict[str, Any]) -> None:
    if "properties" in node:
        node["required"] = sorted(set(node.get("required", ())) ^ {rng.choice(NAMES)})


def _choices(rng: Random, node: dict[str, Any]) -> None:
    if "enum" in node:
        kept = [each for each in node["enum"] if rng.random() < 0.8] or node["enum"][:1]
        node["enum"] = kept + [each for each in rng.sample(SCALARS, 2) if rng.random() < 0.4]
    elif "const" in node:
        node["enum"] = [node.pop("const"), *rng.sample(SCALARS, rng.randrange(2))]


def _close(rng: Random, node: dict[str, Any]) -> None:
    if "properties" in node:
        node["additionalProperties"] = rng.choice([True, False, schema(rng, 0)])


def _wrap(rng: Random, node: dict[str, Any]) -> None:
    inner = dict(node)
    defs = inner.pop("$defs", None)
    node.clear()
    node.update(
        rng.choice([{"allOf": [inner]}, {"anyOf": [inner]}, {"anyOf": [inner, {"type": "null"}]}, {"oneOf": [inner]}])
    )
    if defs is not None:
        node["$defs"] = defs


def _add(rng: Random, node: dict[str, Any]) -> None:
    more = rng.choice([number(rng), text(rng), array(rng, 1), mapping(rng, 1)])
    more.pop("type")
    node.update({key: value for key, value in more.items() if rng.random() < 0.4})


def _branch(rng: Random, node: dict[str, Any]) -> None:
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in node:
            if rng.random() < 0.5 and len(node[keyword]) > 1:
                node[keyword].pop(rng.randrange(len(node[keyword])))
            else:
                node[keyword].append(schema(rng, 1))


CHANGES: tuple[Callable[[Random, dict[str, Any]], None], ...] = (
    _shift,
    _drop,
    _retype,
    _property,
    _require,
    _choices,
    _close,
    _wrap,
    _add,
    _branch,
)


def changed(rng: Random, old: dict[str, Any]) -> dict[str, Any]:
    """The schema with one to three changes."""
    new = deepcopy(old)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        before = deepcopy(new)
        for _ in range(10):
            if new == before:
                rng.choice(CHANGES)(rng, rng.choice(places(new)))
    return new


def value(rng: Random, node: Any, whole: dict[str, Any], depth: int = 0) -> Any:
    """A value that the schema may have in mind; often it is valid."""
    if not isinstance(node, dict) or depth > 6 or rng.random() < 0.04:
        return rng.choice([*SCALARS, {}, [], {"a": "a"}, ["a"]])
    if "$ref" in node:
        target = whole if node["$ref"] == "#" else whole.get("$defs", {}).get("d")
        return value(rng, target, whole, depth + 1)
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return rng.choice(node["enum"])
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in node and ("type" not in node or rng.random() < 0.5):
            return value(rng, rng.choice(node[keyword]), whole, depth + 1)
    kind = node.get("type", rng.choice(["string", "number", "object", "array"]))
    kind = rng.choice(kind) if isinstance(kind, list) else kind
    if kind == "object":
        return _object(rng, node, whole, depth)
    if kind == "array":
        return _array(rng, node, whole, depth)
    return _scalar(rng, kind, node)


def _object(rng: Random, node: dict[str, Any], whole: dict[str, Any], depth: int) -> dict[str, Any]:
    fields = node.get("properties", {})
    found = {
        name: value(rng, fields.get(name, True), whole, depth + 1)
        for name in sorted({*fields, *node.get("required", ())})
        if name in node.get("required", ()) or rng.random() < 0.5
    }
    if node.get("additionalProperties") is not False and rng.random() < 0.3:
        found[rng.choice([*NAMES, "zz"])] = value(rng, node.get("additionalProperties", True), whole, depth + 1)
    return found


def _array(rng: Random, node: dict[str, Any], whole: dict[str, Any], depth: int) -> list[Any]:
    prefix = node.get("prefixItems", [])
    length = rng.randrange(node.get("minItems", 0), node.get("minItems", 0) + 3)
    return [
        value(rng, prefix[index] if index < len(prefix) else node.get("items", True), whole, depth + 1)
        for index in range(length)
    ]


def _scalar(rng: Random, kind: str, node: dict[str, Any]) -> Any:
    if kind == "null":
        return None
    if kind == "boolean":
        return rng.choice([True, False])
    if kind == "string":
        length = node.get("minLength", node.get("maxLength"))
        return rng.choice(TEXTS) if length is None or rng.random() < 0.6 else "a" * (length + rng.choice([0, 0, 1]))
    bounds = [node[key] for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum") if key in node]
    found = rng.choice(bounds) + rng.choice([0, 1, -1, 0.5]) if bounds and rng.random() < 0.7 else rng.choice(NUMBERS)
    return int(found) if kind == "integer" and found == int(found) else found


def carries(instance: Any, names: set[str]) -> bool:
    """Whether some object of the value has a property of one of these names."""
    if isinstance(instance, dict):
        return bool(instance.keys() & names) or any(carries(each, names) for each in instance.values())
    return isinstance(instance, list) and any(carries(each, names) for each in instance)


def compare(seed: int, tally: Tally) -> None:
    """Make one pair and hold the engine to what it says of it."""
    rng = Random(seed)
    old = root(rng)
    new = changed(rng, old)
    try:
        before, after = compile_schema(old), compile_schema(new)
    except CatalogFault:
        return
    found = difference(Subject(schema=old), Subject(schema=new))
    relation = contained(old, new)
    tally.pairs += 1
    tally.verdicts[found.verdict] = tally.verdicts.get(found.verdict, 0) + 1
    tally.relations[relation.relation] = tally.relations.get(relation.relation, 0) + 1
    note = f"seed {seed}: {found.verdict} {[each.code for each in found.findings]} {relation.relation}\n{old}\n{new}\n"
    for _ in range(VALUES_A_PAIR):
        instance = value(rng, rng.choice([old, old, new]), rng.choice([old, new]))
        one, two = not before.violations(instance), not after.violations(instance)
        tally.values += one or two
        tally.broken += [note + each for each in _broken(found, relation.relation, instance, (one, two))]
    tally.broken += [note + each for each in _unshown(found, relation, before, after)]
    tally.shown += found.counterexample is not None


EMPTYING = (
    *("maxItems", "maxProperties", "patternProperties", "propertyNames", "unevaluatedProperties"),
    *("dependentRequired", "dependentSchemas"),
)
"""Keywords that may leave no value for a place: what it means then does not matter."""
MEANINGS = {"x-unit": "ms", "default": "other", "writeOnly": True, "format": "date"}


def reachable(node: Any) -> list[dict[str, Any]]:
    """Every schema that says something of a value where it stands, unions and references left out."""
    found: list[dict[str, Any]] = []
    if isinstance(node, dict):
        found.append(node)
        for each in node.get("properties", {}).values():
            found.extend(reachable(each))
        for each in (node.get("items"), node.get("additionalProperties"), *node.get("prefixItems", ())):
            found.extend(reachable(each))
    return found


def annotated(seed: int, tally: Tally) -> None:
    """Change only what a value means, at one place that a value can have: a person is asked."""
    rng = Random(seed)
    old = root(rng)
    for place in places(old):
        for keyword in EMPTYING:
            place.pop(keyword, None)
    new = deepcopy(old)
    node = rng.choice(reachable(new))
    keyword = rng.choice(list(MEANINGS))
    node[keyword] = MEANINGS[keyword]
    try:
        before, alone = compile_schema(old), compile_schema({"$defs": old["$defs"], **node})
    except CatalogFault:
        return
    tally.pairs += 1
    instances = [value(rng, node, old) for _ in range(VALUES_A_PAIR)]
    texts = {"format"} & {keyword}
    possible = [each for each in instances if alone.violations(each) == () and each is not None]
    possible = [each for each in possible if not texts or isinstance(each, str)]
    lives = any(not before.violations(value(rng, old, old)) for _ in range(VALUES_A_PAIR))
    found = difference(Subject(schema=old), Subject(schema=new))
    if possible and lives and not found.needs_person:
        tally.broken.append(f"seed {seed}: {keyword} made {found.verdict}\n{old}\n{new}")


def _broken(found: Difference, relation: str, instance: Any, valid: tuple[bool, bool]) -> list[str]:
    """What one value contradicts."""
    rank = VERDICTS.index(found.verdict)
    lost, won = valid == (True, False), valid == (False, True)
    broken = []
    if lost and rank <= VERDICTS.index("embed"):
        broken.append(f"valid before, invalid now: {instance}")
    if lost and found.verdict == "widening":
        opened = {each.pointer.rsplit("/", 1)[1] for each in found.findings if each.code == "property_added_open"}
        if not carries(instance, opened):
            broken.append(f"declared and valid before, invalid now: {instance}")
    if won and rank <= VERDICTS.index("iso"):
        broken.append(f"invalid before, valid now: {instance}")
    if lost and relation in ("equal", "contained"):
        broken.append(f"contained, but only valid before: {instance}")
    if won and relation == "equal":
        broken.append(f"equal, but only valid now: {instance}")
    return broken


def _unshown(found: Difference, relation: Any, before: CompiledSchema, after: CompiledSchema) -> list[str]:
    """What a counterexample or a witness does not show."""
    broken = []
    shown = found.counterexample
    if shown is not None:
        if before.violations(shown.arguments):
            broken.append(f"a counterexample that was never valid: {shown}")
        if bool(after.violations(shown.arguments)) != (shown.outcome == "refused"):
            broken.append(f"a counterexample with another outcome: {shown}")
    refuted = relation.relation == "refuted"
    if refuted and (before.violations(relation.witness) or not after.violations(relation.witness)):
        broken.append(f"a witness of nothing: {relation.witness}")
    return broken
