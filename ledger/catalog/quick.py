"""
The one door to jsonschema-rs (the extra `fast`): a second validator that may say "valid", twenty times as fast.

It never refuses anything by itself. What it does not find valid, and what the two validators may understand
differently, goes to jsonschema, which has the last word and the words of every violation. So it is asked only of
schemas whose keywords mean the same to both, written out small, and of values without floats and without integers that
a double cannot hold. It fetches nothing. Patterns run on our own automata. The figures are in docs/upcasts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any, Final, TypeAlias

from ledger.catalog.guard import Guarded
from ledger.catalog.patterns import compile_pattern
from ledger.catalog.references import target_of
from ledger.catalog.vocabulary import CHECKS, LIST, MAP, ONE, OTHER_ANNOTATIONS, WORDS, children
from ledger.strictjson import Json, JsonObject, to_pointer

IsValid: TypeAlias = Callable[[Json], bool]

MAX_DEPTH: Final = 64
MAX_PARTS: Final = 5_000
"""Schemas that may look at one value and all below it, references written out: jsonschema-rs counts none."""
EXACT: Final = 2**53
"""Beyond it a double does not hold every integer."""

_DROPPED: Final = WORDS | OTHER_ANNOTATIONS | {"$schema", "$id", "default", "format", "writeOnly", "x-sensitive"}
"""Keywords that check nothing here; jsonschema-rs would read some of them."""
_ELSEWHERE: Final = frozenset(
    [
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "multipleOf",
        "patternProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    ]
)
"""Keywords that jsonschema-rs understands otherwise, or without our limits."""
_PLAIN: Final = frozenset({str, bool, type(None)})


class _Pattern:
    """`pattern` on the ledger's own automata: linear, and the same in both validators."""

    def __init__(self, _schema: JsonObject, pattern: str, _path: list[str | int]) -> None:
        self._search = compile_pattern(pattern).search

    def validate(self, value: Json) -> None:
        """Raise ValueError for a text without a match."""
        if isinstance(value, str) and not self._search(value):
            raise ValueError


def quick_of(guarded: Guarded, formats: frozenset[str] = frozenset()) -> IsValid | None:
    """Return what says of a value that it is valid; None where jsonschema alone has to look."""
    rust = _installed()
    if rust is None or not _suits(guarded, formats):
        return None
    kind = rust.Draft7Validator if guarded.dialect == "draft-07" else rust.Draft202012Validator
    try:
        validator = kind(_bare(guarded, ""), offline=True, validate_formats=False, keywords={"pattern": _Pattern})
    except Exception:  # noqa: BLE001 - what it does not take, the other one does
        return None
    is_valid: IsValid = validator.is_valid
    return is_valid


def says_valid(is_valid: IsValid, value: Json) -> bool:
    """Return whether this value is surely valid; False means that nothing is known."""
    try:
        return _is_plain(value, 0) and is_valid(value) is True
    except Exception:  # noqa: BLE001 - a lone surrogate, or anything else that it does not take
        return False


@lru_cache
def quick_name() -> str:
    """Return name and version, as events record it."""
    from importlib.metadata import version  # some milliseconds, for those who have the extra

    return f"jsonschema-rs {version('jsonschema-rs')}"


def _installed() -> ModuleType | None:
    try:
        import jsonschema_rs
    except ImportError:
        return None
    return jsonschema_rs


def _is_plain(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind in _PLAIN:
        return True
    if kind is int:
        return bool(-EXACT <= value <= EXACT)
    if depth >= MAX_DEPTH:
        return False
    if kind is dict:
        for key in value:
            if type(key) is not str:
                return False
        value = value.values()
    elif kind is not list:
        return False
    for each in value:  # noqa: SIM110 - half the time of all(...)
        if type(each) not in _PLAIN and not _is_plain(each, depth + 1):
            return False
    return True


def _suits(guarded: Guarded, formats: frozenset[str]) -> bool:
    nodes = [node for node in guarded.nodes.values() if isinstance(node, dict)]
    if not all(_is_understood(node, formats) for node in nodes):
        return False
    once = not any("$ref" in node for node in nodes)  # then no schema has more parts than stand in it
    return (len(nodes) if once and len(nodes) <= MAX_PARTS else _parts(guarded.nodes)) <= MAX_PARTS


def _is_understood(node: JsonObject, formats: frozenset[str]) -> bool:
    if node.keys() & _ELSEWHERE or node.get("format") in formats or "%" in node.get("$ref", ""):
        return False
    if not all(type(choice) in _PLAIN for choice in [*node.get("enum", ()), node.get("const")]):
        return False
    return all(_is_exact(node[keyword]) for keyword in node if keyword.startswith(("min", "max", "exclusive")))


def _is_exact(bound: Json) -> bool:
    return type(bound) is int and -EXACT <= bound <= EXACT


def _parts(nodes: Mapping[str, Json]) -> int:
    """Count the schemas of a value, references written out, from the inside out; a circle has more than may be."""
    counts: dict[str, int] = {}
    waiting, active = [""], set[str]()
    while waiting:
        pointer = waiting[-1]
        below = _below(pointer, nodes[pointer])
        missing = [each for each in below if each not in counts]
        if pointer in counts or not missing:
            waiting.pop()
            active.discard(pointer)
            counts[pointer] = min(1 + sum(counts[each] for each in below), MAX_PARTS + 1)
        elif pointer in active:
            return MAX_PARTS + 1
        else:
            active.add(pointer)
            waiting += missing
    return counts[""]


def _below(pointer: str, node: Json) -> list[str]:
    if not isinstance(node, dict):
        return []
    found = [pointer + to_pointer(path) for path, _ in children(node) if path[0] not in ("$defs", "definitions")]
    return [*found, target_of(node["$ref"])] if "$ref" in node else found


def _bare(guarded: Guarded, pointer: str) -> Json:
    """Return the schema with what checks values and nothing else."""
    node = guarded.nodes[pointer]
    if not isinstance(node, dict):
        return node
    return {
        keyword: _kept(guarded, f"{pointer}/{keyword}", keyword, value)
        for keyword, value in node.items()
        if keyword in CHECKS and keyword not in _DROPPED
    }


def _kept(guarded: Guarded, pointer: str, keyword: str, value: Json) -> Json:
    if keyword in LIST or (keyword == "items" and isinstance(value, list)):
        return [_bare(guarded, f"{pointer}/{index}") for index in range(len(value))]
    if keyword in MAP or keyword == "dependencies":
        return {
            name: each if isinstance(each, list) else _bare(guarded, pointer + to_pointer([name]))
            for name, each in value.items()
        }
    return _bare(guarded, pointer) if keyword in ONE else value
