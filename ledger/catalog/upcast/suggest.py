"""
Guesses an upcast file from two schemas, for a person to read.

Names mislead: `branch` became `ref`, and means any reference now. So a guess has no `assertedBy`, and nothing is
carried by a file without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final

from ledger.catalog.definition import ToolVersion
from ledger.catalog.steps import EACH, Steps
from ledger.catalog.upcast.reading import closed
from ledger.catalog.vocabulary import OTHER_ANNOTATIONS, WORDS
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, to_pointer

LIKE: Final = 0.6
"""So alike two names have to be (1: equal, upper case and underscores aside), where their schemas are equal."""
MAX_DEPTH: Final = 8
MAX_PAIRS: Final = 10_000
"""Pairs of names that are compared in one object."""


def suggest(old: ToolVersion, new: ToolVersion) -> JsonObject | None:
    """Return a draft of the file between two versions, without `assertedBy`; None where nothing can be guessed."""
    try:
        ops = list(_ops(closed(old.schema), closed(new.schema), ()))
    except CatalogFault:
        return None
    if not ops:
        return None
    return {
        "$schema": "../../meta/upcast.schema.json",
        "tool": new.tool,
        "from": old.version,
        "to": new.version,
        "ops": ops,
    }


def _ops(old: Json, new: Json, path: Steps) -> Iterator[JsonObject]:
    """Yield operations that may make *new* of *old*, which stand at one place."""
    if len(path) > MAX_DEPTH or not isinstance(old, dict) or not isinstance(new, dict):
        return
    if isinstance(old.get("properties"), dict) and isinstance(new.get("properties"), dict):
        yield from _object(old, new, path)
    elif isinstance(old.get("items"), dict) and isinstance(new.get("items"), dict):
        yield from _value(old["items"], new["items"], (*path, EACH))


def _object(old: JsonObject, new: JsonObject, path: Steps) -> Iterator[JsonObject]:
    before, after = old["properties"], new["properties"]
    renamed = _renamed(before, after)
    for name, other in renamed.items():
        yield {"op": "rename", "from": to_pointer((*path, name)), "to": to_pointer((*path, other))}
    for name in before:
        other = renamed.get(name, name)
        if other in after:
            place = (*path, other)
            yield from _absence(name in old.get("required", ()), other in new.get("required", ()), after[other], place)
            yield from _value(before[name], after[other], place)
    if before.keys() - after.keys() - renamed.keys():
        return  # something has no place any more: what is new may be for it
    known = {*before, *renamed.values(), *new.get("required", ())}
    for name, node in after.items():
        if name not in known and isinstance(node, dict) and "default" not in node:
            yield {"op": "introduce_optional", "path": to_pointer((*path, name)), "absentMeans": None}


def _absence(needed: bool, needs: bool, there: Json, place: Steps) -> Iterator[JsonObject]:  # noqa: FBT001 - a pair
    nullable = isinstance(there, dict) and "null" in (there.get("type") or ())
    if needed and not needs:
        yield {"op": "null_to_absent", "path": to_pointer(place)}
    elif needs and not needed and nullable:
        yield {"op": "absent_to_null", "path": to_pointer(place)}


def _renamed(before: JsonObject, after: JsonObject) -> dict[str, str]:
    """Pair names that are gone with new ones: the most alike first, each once."""
    gone, come = [name for name in before if name not in after], [name for name in after if name not in before]
    if len(gone) * len(come) > MAX_PAIRS:
        return {}
    pairs = [
        (_likeness(one, before[one], two, after[two], len(gone) == len(come) == 1), one, two)
        for one in gone
        for two in come
    ]
    found: dict[str, str] = {}
    for score, one, two in sorted(pairs, key=lambda pair: -pair[0]):
        if score >= LIKE and one not in found and two not in found.values():
            found[one] = two
    return found


def _likeness(one: str, here: Json, two: str, there: Json, alone: bool) -> float:  # noqa: FBT001 - see below
    """Return how alike two properties are: names spelled alike, or one that alone came for one that alone went."""
    plain = [name.replace("_", "").replace("-", "").casefold() for name in (one, two)]
    if plain[0] == plain[1]:
        return 1.0
    if _bare(here) != _bare(there) and not list(_value(here, there, (one,))):
        return 0.0
    return max(SequenceMatcher(None, plain[0], plain[1]).ratio(), LIKE if alone else 0.0)


def _bare(node: Json) -> Json:
    if not isinstance(node, dict):
        return node
    return {key: value for key, value in node.items() if key not in WORDS | OTHER_ANNOTATIONS}


def _value(old: Json, new: Json, path: Steps) -> Iterator[JsonObject]:
    """Yield the operation that may make a value of the one kind one of the other."""
    if not isinstance(old, dict) or not isinstance(new, dict) or _bare(old) == _bare(new):
        return
    place, kinds = to_pointer(path), (old.get("type"), new.get("type"))
    if kinds[1] == "array" != kinds[0] and _kind(new.get("items")) == kinds[0]:
        yield {"op": "wrap_array", "path": place}
    elif kinds[0] == "array" != kinds[1] and _kind(old.get("items")) == kinds[1]:
        yield {"op": "unwrap_array", "path": place}
    elif kinds in (("string", "integer"), ("string", "number")):
        yield {"op": "cast", "path": place, "to": "integer"}
    elif kinds == ("integer", "string"):
        yield {"op": "cast", "path": place, "to": "string"}
    elif (key := _only(new, old)) is not None:
        yield {"op": "wrap_object", "path": place, "key": key}
    elif (key := _only(old, new)) is not None:
        yield {"op": "unwrap_object", "path": place, "key": key}
    elif values := _spelled_alike(old.get("enum"), new.get("enum")):
        yield {"op": "map_values", "path": place, "values": values}
    else:
        yield from _ops(old, new, path)


def _kind(node: Json) -> Json:
    return node.get("type") if isinstance(node, dict) else None


def _only(outer: JsonObject, inner: JsonObject) -> str | None:
    """Return the one key of an object that holds a value of the other kind."""
    fields = outer.get("properties") or {}
    if len(fields) == 1 and _kind(inner) != "object":
        [(name, node)] = fields.items()
        return name if _kind(node) == _kind(inner) else None
    return None


def _spelled_alike(old: Any, new: Any) -> dict[str, str]:
    """Return which text of a choice may have become which: equal but for upper case and underscores."""
    plain = {_plain(each): each for each in new or () if isinstance(each, str)}
    found = {each: plain[_plain(each)] for each in old or () if isinstance(each, str) and _plain(each) in plain}
    turned = any(one != two for one, two in found.items())
    return found if turned and len(set(found.values())) == len(found) else {}


def _plain(text: str) -> str:
    return text.casefold().replace("_", "").replace("-", "")
