"""Compares what no validator reads: defaults, formats, significant annotations, and the words for people and models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Final

from ledger.catalog.diff.cells import Cell, Child
from ledger.catalog.diff.notes import Note, Outcome, Pair
from ledger.catalog.diff.space import Space
from ledger.catalog.diff.wording import turned
from ledger.catalog.equality import key_of
from ledger.catalog.references import target_of
from ledger.catalog.vocabulary import CHECKS, LIST, MAP, ONE, OTHER_ANNOTATIONS
from ledger.catalog.words import shown
from ledger.strictjson import Json, JsonObject, canonical

_ENCODING: Final = ("contentEncoding", "contentMediaType", "contentSchema")
_CODES: Final = {
    **dict.fromkeys(_ENCODING, "encoding_changed"),
    "writeOnly": "write_only_changed",
    "description": "description_changed",
    "title": "title_changed",
    "examples": "examples_changed",
    "example": "examples_changed",
}
_MOVED: Final = "alternatives changed places in what `{}` says of them"
_READ: Final = frozenset({"title", "description", "examples"})
_CONDITIONS: Final = frozenset(
    [
        "if",
        "then",
        "else",
        "not",
        "contains",
        "dependencies",
        "dependentSchemas",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
_HOLDS: Final = ONE | LIST | MAP | {"dependencies"}


def meanings(pair: Pair, significant: frozenset[str]) -> Iterator[Note]:
    """Yield what values of this kind mean otherwise."""
    if pair.old.kind == "null":
        return
    keywords = ["default", "writeOnly", *sorted(significant)]
    if pair.old.kind in ("string", "number"):
        keywords += ["format", *_ENCODING]
    for keyword in keywords:
        old, new = _said(pair.here, pair.old.sources, keyword), _said(pair.there, pair.new.sources, keyword)
        if _keys(old) != _keys(new) or _keys(old[:1]) != _keys(new[:1]) or _moved(pair, keyword):
            yield _meaning(pair, keyword, old, new)


def _moved(pair: Pair, keyword: str) -> bool:
    """Whether alternatives of a choice changed places in what they say of their values."""
    if pair.old.values is None or pair.new.values is None:
        return False
    before, after = (_of_values(*side, keyword) for side in ((pair.here, pair.old), (pair.there, pair.new)))
    return any(before[key] != after[key] for key in before.keys() & after.keys())


def _of_values(space: Space, cell: Cell, keyword: str) -> dict[str, set[bytes]]:
    """Return what is said of each value of a choice, by all of it or by the alternatives that have the value."""
    found: dict[str, set[bytes]] = {key_of(value): set() for value in cell.values or ()}
    for source in cell.sources:
        node = space.nodes[source]
        said = _keys(_said(space, [source], keyword))
        if said and isinstance(node, dict):
            choice = node.get("enum", [node["const"]] if "const" in node else None)
            for key in found if choice is None else found.keys() & set(map(key_of, choice)):
                found[key] |= said
    return found


def _said(space: Space, sources: Iterable[str], keyword: str) -> list[Json]:
    """Return what the schemas say under *keyword*; `writeOnly: false` says nothing."""
    nodes = [space.nodes[source] for source in sources]
    found = [node[keyword] for node in nodes if isinstance(node, dict) and keyword in node]
    return [each for each in found if each is not False] if keyword == "writeOnly" else found


def _keys(values: list[Json]) -> set[bytes]:
    return set(map(canonical, values))


def _meaning(pair: Pair, keyword: str, old: list[Json], new: list[Json]) -> Note:
    come = "added" if not old else "removed" if not new else "changed"
    code = f"{keyword}_{come}" if keyword in ("default", "format") else _CODES.get(keyword, "significant_changed")
    before, after = (old or [None])[0], (new or [None])[0]
    texts = [shown(each[0]) if each else "nothing" for each in (old, new)]
    return Note(
        code=code,
        message=f"`{keyword}` was {texts[0]} and is {texts[1]}" if texts[0] != texts[1] else _MOVED.format(keyword),
        keywords=(keyword,),
        old=before,
        new=after,
        outcome="reinterpreted",
        tries=lambda: iter([pair.examples.cell(pair.old)]),
        absent=keyword == "default",
    )


def conditional(pair: Pair, significant: frozenset[str]) -> Iterator[Note]:
    """Yield that a condition (compared by its text only) says otherwise what values mean, or which names it reads."""
    if pair.old.conditions != pair.new.conditions:
        kept = frozenset({"default", "format", "writeOnly", *_ENCODING}) | significant
        if _inside(pair.here, pair.old.sources, kept) != _inside(pair.there, pair.new.sources, kept):
            message = "a condition says otherwise what a value means, or reads another name"
            yield Note(code="significant_changed", message=message, keywords=tuple(sorted(_CONDITIONS)))


def _inside(space: Space, sources: Iterable[str], kept: frozenset[str]) -> set[bytes]:
    """Return the words that conditions say about meaning, and the names that only conditions know, by their places."""
    nodes = [node for source in sources if isinstance(node := space.nodes[source], dict)]
    known = {name for node in nodes for name in node.get("properties", ())}
    waiting = [each for node in nodes for each in _below(node, _CONDITIONS)]
    found: set[bytes] = set()
    seen: set[str] = set()
    while waiting:
        place, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        if "$ref" in node and node["$ref"] not in seen:
            seen.add(node["$ref"])
            waiting.append((place, space.nodes[target_of(node["$ref"])]))
        found |= {canonical([place, word, node[word]]) for word in node.keys() & kept}
        found |= {canonical([place, name]) for name in node.get("properties", {}).keys() - known}
        waiting += [(f"{place}/{step}", each) for step, each in _below(node, _HOLDS)]
    return found


def _below(node: JsonObject, keywords: frozenset[str]) -> Iterator[tuple[str, Json]]:
    for word in node.keys() & keywords:
        value = node[word]
        named = word in MAP or word == "dependencies"
        entries = value.items() if named else enumerate(value) if isinstance(value, list) else [("", value)]
        yield from ((f"{word}/{step}", each) for step, each in entries)


def sources(space: Space, child: Child) -> list[str]:
    """Return the schemas that say something of a value, the outermost first."""
    found = dict.fromkeys(sorted(child, key=lambda each: (len(each), each)))
    for cell in space.cells(child):
        found.update(dict.fromkeys(cell.sources))
    return list(found)


def words(here: Space, old: Child, there: Space, new: Child, significant: frozenset[str]) -> Iterator[Note]:
    """Yield what people and models read otherwise at one value."""
    before, after = _words(here, sources(here, old), significant), _words(there, sources(there, new), significant)
    for keyword in sorted(before.keys() | after.keys()):
        for one, two in zip_longest(before.get(keyword, ()), after.get(keyword, ())):
            if canonical(one) != canonical(two):
                yield word(keyword, one, two)


def word(keyword: str, old: Json, new: Json) -> Note:
    """Return the note of one word for people: cosmetic, unless it shows signs of another meaning."""
    code = _CODES.get(keyword, "annotation_changed")
    message = f"another `{keyword}`"
    if keyword in _TELLS:
        code = turned(_text(old), _text(new)) or code
        message = _SAID[code].format(keyword) if code in _SAID else message
    outcome: Outcome | None = "reinterpreted" if code in _SAID else None
    return Note(code=code, message=message, keywords=(keyword,), old=old, new=new, outcome=outcome)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


_TELLS: Final = frozenset({"description", "markdownDescription", "notWhen", "title", "useWhen"})
"""Words that say what a value or a tool is; each may show signs of another meaning."""
_SAID: Final = {
    "description_reversed": "the {} may say the opposite now",
    "description_unit": "the {} names another unit or form",
    "description_default": "the {} names another default",
}


def _words(space: Space, pointers: list[str], significant: frozenset[str]) -> Mapping[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for pointer in pointers:
        node = space.nodes[pointer]
        for keyword, value in node.items() if isinstance(node, dict) else ():
            if keyword in _READ or _annotates(keyword, significant):
                found.setdefault(keyword, []).append(value)
    return found


def _annotates(keyword: str, significant: frozenset[str]) -> bool:
    """Whether it is an annotation that means nothing to programs; `nullable` has its own rule."""
    if keyword in OTHER_ANNOTATIONS:
        return keyword != "nullable"
    return keyword not in CHECKS and keyword not in significant and keyword != "$comment"
