"""
Schemas that an operation fits, by chance, with values in both forms: what is proved has to hold for each of them.

It shares no code with the engine. Each part comes in pairs: its old schema, the new one as a person would write it, and
values of the one with what they have to become.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

from ledger.catalog.steps import OPS
from ledger.catalog.upcast.certificate import Step
from ledger.catalog.upcast.records import Carried
from ledger.catalog.upcast.values import back
from tests.catalog.upcast.scenes import closed_object, upcast, version

NAMES = ("a", "b/c", "~", "é", "per page", "0", "$ref", "properties", "x~1", "😀", "Ａ", "items", "type", "А")
TEXTS = ("", "a", "05", "5", "5\n", "٥", "é", "e\u0301", "null", "\udce9", "𝔸", "a\u0000b", "-0", " ")
CHOICES = TEXTS[:9] + TEXTS[10:]  # a schema holds no lone surrogate
NUMBERS = (0, 1, -1, 7, 2**63, -(10**30), 12345678901234567890)

Pair: TypeAlias = tuple[Any, Any]
Entry: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """A schema before and after; `values` makes a value of the one with what it has to become."""

    old: Any
    new: Any
    values: Callable[[Random], Pair]


@dataclass(frozen=True)
class Case:
    """A root part with the file's operations; `iso`: both forms say the same."""

    part: Part
    ops: list[Entry]
    iso: bool = True


def pointer(*steps: str) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def same(schema: Any, values: Callable[[Random], Any]) -> Part:
    """A part that nothing changes."""

    def both(rng: Random) -> Pair:
        value = values(rng)
        return value, json.loads(json.dumps(value))

    return Part(schema, schema, both)


def leaf(rng: Random) -> Part:
    """Something that no operation looks at."""
    draw = rng.randrange(7)
    if draw == 0:
        return same({"type": "integer", "minimum": -5}, lambda r: r.choice([0, 1, 2**70, -5]))
    if draw == 1:
        return same({"type": "string", "default": "x"}, lambda r: r.choice(TEXTS))
    if draw == 2:
        return same({"enum": ["a", 1, None, [True]]}, lambda r: r.choice(["a", 1, None, [True]]))
    if draw == 3:
        return same({"type": ["number", "null"]}, lambda r: r.choice([1.0, 1, -0.0, None, 1e300]))
    if draw == 4:
        return same({"type": "array", "items": {"type": "string"}, "maxItems": 3}, lambda r: list(r.sample(TEXTS, 2)))
    if draw == 5:
        inner = closed_object({"a": {"type": "boolean"}, "b": {"type": "string"}}, ["a"])
        return same(inner, lambda r: r.choice([{"a": True}, {"a": False, "b": r.choice(TEXTS)}]))
    return same(True, lambda r: r.choice([None, 1, 1.0, True, "1", [], {}, {"a": [1.0]}]))


def record(rng: Random, parts: dict[str, Part], names: dict[str, str], required: set[str], *, close: bool) -> Part:
    """An object; *names* says what a property is called afterwards. Silent ones are read as closed."""
    old = closed_object({name: part.old for name, part in parts.items()}, sorted(required))
    new = closed_object({names.get(name, name): part.new for name, part in parts.items()}, [])
    new["required"] = sorted(names.get(name, name) for name in required)
    if not close:
        del old["additionalProperties"], new["additionalProperties"]

    def values(r: Random) -> Pair:
        here = {name: part.values(r) for name, part in parts.items() if name in required or r.random() < 0.6}
        order = r.sample(sorted(here), len(here))
        return {name: here[name][0] for name in order}, {names.get(name, name): here[name][1] for name in here}

    return Part(old, new, values)


def beside(rng: Random, taken: set[str]) -> dict[str, Part]:
    """Some properties that nothing happens to."""
    return {name: leaf(rng) for name in rng.sample(sorted(set(NAMES) - taken), rng.randrange(3))}


def holding(rng: Random, part: Part, *, required: bool | None = None) -> tuple[Part, tuple[str, ...]]:
    """An object that has the part as a property; and the path to it."""
    name = rng.choice(NAMES)
    parts = {**beside(rng, {name}), name: part}
    needed = {each for each in parts if rng.random() < 0.5 and each != name}
    if required or (required is None and rng.random() < 0.5):
        needed.add(name)
    return record(rng, parts, {}, needed, close=rng.random() < 0.7), (name,)


def placed(rng: Random, part: Part, path: tuple[str, ...]) -> tuple[Part, tuple[str, ...]]:
    """The part somewhere inside arguments, below objects and arrays; and where."""
    for _ in range(rng.randrange(3)):
        if rng.random() < 0.4:
            part, path = _listed(rng, part), ("*", *path)
        outer, above = holding(rng, part)
        part, path = outer, (*above, *path)
    return part, path


def _listed(rng: Random, part: Part) -> Part:
    most = rng.choice([None, 3])

    def values(r: Random) -> Pair:
        pairs = [part.values(r) for _ in range(r.randrange(4))]
        return [one for one, _ in pairs], [two for _, two in pairs]

    bounds = {} if most is None else {"maxItems": most}
    return Part({"type": "array", "items": part.old, **bounds}, {"type": "array", "items": part.new, **bounds}, values)


def at_a_value(rng: Random, part: Part, entry: Entry) -> Case:
    """An operation at a value, somewhere."""
    held, path = holding(rng, part)
    root, whole = placed(rng, held, path)
    return Case(root, [{**entry, "path": pointer(*whole)}])


def wrap_object(rng: Random) -> Case:
    inner, key = leaf_with_schema(rng), rng.choice(NAMES)
    part = Part(inner.old, closed_object({key: inner.new}), lambda r: _second(inner.values(r), lambda v: {key: v}))
    return at_a_value(rng, part, {"op": "wrap_object", "key": key})


def wrap_array(rng: Random) -> Case:
    inner = leaf_with_schema(rng)
    new = {"type": "array", "items": inner.new, "minItems": 1, "maxItems": 1}
    return at_a_value(
        rng, Part(inner.old, new, lambda r: _second(inner.values(r), lambda v: [v])), {"op": "wrap_array"}
    )


def leaf_with_schema(rng: Random) -> Part:
    """A leaf that is described, without a default (that of the whole is another one)."""
    while True:
        part = leaf(rng)
        if isinstance(part.old, dict) and "default" not in part.old:
            return part


def _second(pair: Pair, change: Callable[[Any], Any]) -> Pair:
    return pair[0], change(pair[1])


def turned(case: Case, op: str) -> Case:
    """The same the other way round: its old form is the new one."""
    part = case.part

    def values(r: Random) -> Pair:
        one, two = part.values(r)
        return two, one

    return Case(Part(part.new, part.old, values), [{**case.ops[0], "op": op}], case.iso)


def tuple_to_object(rng: Random) -> Case:
    parts = [leaf(rng) for _ in range(rng.randrange(1, 4))]
    keys = rng.sample(NAMES, len(parts))
    size = {"minItems": len(parts), "maxItems": len(parts)}
    old = {"type": "array", "prefixItems": [part.old for part in parts], "items": False, **size}
    if rng.random() < 0.3:
        del old["items"]
    new = closed_object({key: part.new for key, part in zip(keys, parts, strict=True)})

    def values(r: Random) -> Pair:
        pairs = [part.values(r) for part in parts]
        return [one for one, _ in pairs], dict(zip(keys, (two for _, two in pairs), strict=True))

    return at_a_value(rng, Part(old, new, values), {"op": "tuple_to_object", "keys": keys})


def cast(rng: Random) -> Case:
    text = {"type": "string", "pattern": "^(0|-?[1-9][0-9]*)$"}
    draw = rng.random()
    if draw < 0.3:
        some = rng.sample(NUMBERS, 3)
        part = Part(
            {"enum": [str(each) for each in some], "type": "string"}, {"type": "integer", "enum": some}, _casts(some)
        )
    else:
        part = Part(text, {"type": "integer"}, _casts([*NUMBERS, 10**4299, -(10**4300) + 1]))
    if rng.random() < 0.5:
        return at_a_value(rng, part, {"op": "cast", "to": "integer"})
    back_part = Part(part.new, part.old, lambda r: part.values(r)[::-1])
    return at_a_value(rng, back_part, {"op": "cast", "to": "string"})


def _casts(numbers: list[int]) -> Callable[[Random], Pair]:
    def values(r: Random) -> Pair:
        number = r.choice(numbers)
        return str(number), number

    return values


def map_values(rng: Random) -> Case:
    old = rng.sample(CHOICES, rng.randrange(1, 5))
    new = rng.sample([each for each in CHOICES if each not in old], len(old))  # what exchanges two is not proved
    values = dict(zip(old, new, strict=True))
    typed = {"type": "string"} if rng.random() < 0.5 else {}

    def pair(r: Random) -> Pair:
        text = r.choice(old)
        return text, values[text]

    return at_a_value(
        rng, Part({**typed, "enum": old}, {**typed, "enum": new}, pair), {"op": "map_values", "values": values}
    )


def rename(rng: Random) -> Case:
    old, new = rng.sample(NAMES, 2)
    parts = {**beside(rng, {old, new}), old: leaf(rng)}
    needed = {each for each in parts if rng.random() < 0.5}
    part = record(rng, parts, {old: new}, needed, close=rng.random() < 0.7)
    root, path = placed(rng, part, ())
    return Case(root, [{"op": "rename", "from": pointer(*path, old), "to": pointer(*path, new)}])


def move(rng: Random) -> Case:
    name, parent, new = rng.sample(NAMES, 3)
    moved, needed = leaf(rng), rng.random() < 0.5
    inside, outside = beside(rng, {new}), beside(rng, {name, parent})

    def objects(holder: dict[str, Any], inner: dict[str, Any], *, there: bool) -> Any:
        below = closed_object(inner, [new] if there and needed else [])
        return closed_object({**holder, parent: below}, [parent, *([name] if needed and not there else [])])

    old_in, old_out = {n: p.old for n, p in inside.items()}, {n: p.old for n, p in outside.items()}
    old = objects({**old_out, name: moved.old}, old_in, there=False)
    after = objects(old_out, {**old_in, new: moved.new}, there=True)

    def values(r: Random) -> Pair:
        one_in = {n: p.values(r)[0] for n, p in inside.items() if r.random() < 0.5}
        one_out = {n: p.values(r)[0] for n, p in outside.items() if r.random() < 0.5}
        if not needed and r.random() < 0.5:
            return {**one_out, parent: one_in}, {**one_out, parent: one_in}
        value = moved.values(r)[0]
        return {**one_out, parent: one_in, name: value}, {**one_out, parent: {**one_in, new: value}}

    case = Case(Part(old, after, values), [{"op": "move", "from": pointer(name), "to": pointer(parent, new)}])
    if rng.random() < 0.5:
        return case
    back_case = turned(case, "move")
    [entry] = back_case.ops
    return Case(back_case.part, [{"op": "move", "from": entry["to"], "to": entry["from"]}])


def null_to_absent(rng: Random) -> Case:
    name, number = rng.choice(NAMES), rng.random() < 0.5
    plain = {"type": "integer" if number else "string"}
    nullable = rng.choice([{"type": [plain["type"], "null"]}, {"anyOf": [plain, {"type": "null"}]}])
    others = beside(rng, {name})
    old = closed_object({**{n: p.old for n, p in others.items()}, name: nullable}, [name])
    new = closed_object({**{n: p.old for n, p in others.items()}, name: plain}, [])

    def values(r: Random) -> Pair:
        rest = {n: p.values(r)[0] for n, p in others.items() if r.random() < 0.5}
        if r.random() < 0.5:
            return {**rest, name: None}, rest
        value = r.choice(NUMBERS if number else TEXTS)
        return {name: value, **rest}, {**rest, name: value}

    root, path = placed(rng, Part(old, new, values), ())
    return Case(root, [{"op": "null_to_absent", "path": pointer(*path, name)}])


def add_const(rng: Random) -> Case:
    name, value = rng.choice(NAMES), rng.choice([1, "1", True, None, 1.5, [1], {"a": 1}])
    others = beside(rng, {name})
    old = closed_object({n: p.old for n, p in others.items()}, [])
    new = closed_object({**{n: p.old for n, p in others.items()}, name: {"const": value}}, [name])

    def values(r: Random) -> Pair:
        rest = {n: p.values(r)[0] for n, p in others.items() if r.random() < 0.5}
        return rest, {name: value, **rest}

    root, path = placed(rng, Part(old, new, values), ())
    return Case(root, [{"op": "add_const", "path": pointer(*path, name), "value": value}])


def introduce_optional(rng: Random) -> Case:
    name, others = rng.choice(NAMES), {}
    others = beside(rng, {name})
    old = closed_object({n: p.old for n, p in others.items()}, [])
    new = closed_object({**{n: p.old for n, p in others.items()}, name: {"type": "string"}}, [])

    def values(r: Random) -> Pair:
        rest = {n: p.values(r)[0] for n, p in others.items() if r.random() < 0.5}
        return rest, rest

    root, path = placed(rng, Part(old, new, values), ())
    entry = {"op": "introduce_optional", "path": pointer(*path, name), "absentMeans": "as before"}
    return Case(root, [entry], iso=False)


def rename_tool(rng: Random) -> Case:
    root, _ = placed(rng, *holding(rng, leaf(rng)))
    return Case(root, [{"op": "rename_tool", "from": "t_old", "to": "t"}])


def restructure(rng: Random) -> Case:
    part, name = leaf_with_schema(rng), rng.choice(NAMES)
    old = {**closed_object({name: {"$ref": "#/$defs/part"}}), "$defs": {"part": part.old}}
    new = dict(reversed(closed_object({name: part.new}).items()))

    def values(r: Random) -> Pair:
        one, two = part.values(r)
        return {name: one}, {name: two}

    return Case(Part(old, new, values), [{"op": "restructure"}])


MAKERS: dict[str, Callable[[Random], Case]] = {
    "rename": rename,
    "move": move,
    "wrap_object": wrap_object,
    "unwrap_object": lambda rng: turned(wrap_object(rng), "unwrap_object"),
    "wrap_array": wrap_array,
    "unwrap_array": lambda rng: turned(wrap_array(rng), "unwrap_array"),
    "tuple_to_object": tuple_to_object,
    "object_to_tuple": lambda rng: turned(tuple_to_object(rng), "object_to_tuple"),
    "cast": cast,
    "map_values": map_values,
    "null_to_absent": null_to_absent,
    "absent_to_null": lambda rng: turned(null_to_absent(rng), "absent_to_null"),
    "add_const": add_const,
    "drop_const": lambda rng: turned(add_const(rng), "drop_const"),
    "introduce_optional": introduce_optional,
    "rename_tool": rename_tool,
    "restructure": restructure,
}
assert list(MAKERS) == list(OPS)


@dataclass
class Rounds:
    """What was carried there and back; a broken promise is a text."""

    schemas: int = 0
    carried: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OPS, 0))
    lost: int = 0
    broken: list[str] = field(default_factory=list)


def made(rng: Random, op: str) -> tuple[Case, Step]:
    """A case, and the step of its file."""
    case = MAKERS[op](rng)
    names = ("t_old", "t") if op == "rename_tool" else ("t", "t")
    ends = (version(1, case.part.old, names[0]), version(2, case.part.new, names[1]))
    return case, Step(upcast(case.ops, widens=None if case.iso else ["the new option"]), *ends)


def play(op: str, seed: int, values: int, rounds: Rounds) -> None:
    """Prove one case, then carry so many of its values, and look at each certificate."""
    rng = Random(f"{op} {seed}")
    case, step = made(rng, op)
    rounds.schemas += 1
    note = f"{op}, seed {seed}: {case.ops}\n{case.part.old}\n{case.part.new}\n"
    if (step.proof.status, step.proof.grade) != ("proved", "iso" if case.iso else "embed"):
        rounds.broken.append(f"{note}{step.proof}")
        return
    for _ in range(values):
        before, after = case.part.values(rng)
        found = step.carry(before)
        if not isinstance(found, Carried) or not typed_equal(found.arguments, after):
            rounds.lost += 1
            rounds.broken.append(f"{note}{before} became {found}")
        elif not typed_equal(back(step.upcast.ops, found.arguments), before):
            rounds.lost += 1
            rounds.broken.append(f"{note}{before} came back as something else")
        else:
            rounds.carried[op] += 1


def typed_equal(one: Any, other: Any) -> bool:
    """Equal with their types, array order kept; the order of keys is none."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(typed_equal(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(typed_equal, one, other))
    return repr(one) == repr(other) if isinstance(one, float) else bool(one == other)
