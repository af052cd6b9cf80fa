"""References inside one schema: only local ones, no circle without progress, no explosion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

from ledger.catalog.vocabulary import IN_PLACE, Dialect, children
from ledger.catalog.words import shown
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, to_pointer

MAX_EXPANSION: Final = 10_000
"""So many schemas may look at one value, references written out."""


_LOOKS_AGAIN: Final = IN_PLACE | {"$ref"}


def target_of(reference: str) -> str:
    """Return the pointer that a local reference means (a URI's fragment may be percent-encoded)."""
    return unquote(reference[1:])


def check_references(nodes: Mapping[str, Json], dialect: Dialect) -> None:
    """Raise CatalogFault if a reference leaves the schema, points at nothing, or never ends."""
    for pointer, node in nodes.items():
        if isinstance(node, dict) and "$ref" in node:
            _check_target(pointer, node["$ref"], nodes)
    _check_expansion(nodes, dialect)


def _check_target(pointer: str, reference: str, nodes: Mapping[str, Json]) -> None:
    place = f"{pointer}/$ref"
    if reference != "#" and not reference.startswith("#/"):
        raise CatalogFault(
            f"the reference {shown(reference)} leaves this schema: nothing is fetched, from no network and no file",
            pointer=place,
            hint="Copy the schema under `$defs` and refer to `#/$defs/…`.",
        )
    if target_of(reference) not in nodes:
        raise CatalogFault(f"the reference {shown(reference)} points at no schema", pointer=place)


def in_place(pointer: str, node: JsonObject, dialect: Dialect) -> Iterator[str]:
    """Yield the pointers of the schemas that look at the same value as *node* does."""
    if _LOOKS_AGAIN.isdisjoint(node):
        return
    if "$ref" in node:
        yield target_of(node["$ref"])
        if dialect == "draft-07":
            return  # there the reference hides everything beside it
    for path, _ in children(node):
        if path[0] in IN_PLACE:
            yield pointer + to_pointer(path)


def _check_expansion(nodes: Mapping[str, Json], dialect: Dialect) -> None:
    """Count how many schemas look at one value, bottom up and without recursion."""
    looking = {
        pointer for pointer, node in nodes.items() if isinstance(node, dict) and not _LOOKS_AGAIN.isdisjoint(node)
    }
    costs = {pointer: 1 for pointer in nodes if pointer not in looking}
    for start in (pointer for pointer in nodes if pointer in looking):
        waiting, active = [start], set[str]()
        while waiting:
            pointer = waiting[-1]
            node = nodes[pointer]
            after = list(in_place(pointer, node, dialect)) if isinstance(node, dict) else []
            missing = [each for each in after if each not in costs]
            if pointer in costs or not missing:
                waiting.pop()
                active.discard(pointer)
                costs[pointer] = min(1 + sum(costs[each] for each in after), MAX_EXPANSION + 1)
                continue
            if pointer in active:
                raise CatalogFault(
                    "this reference leads back to itself without looking at another value",
                    pointer=pointer,
                    hint="Put `properties` or `items` between, or take the reference out.",
                )
            active.add(pointer)
            waiting.extend(missing)
        if costs[start] > MAX_EXPANSION:
            raise CatalogFault(
                f"written out, these references are more than {MAX_EXPANSION:,} schemas for one value",
                pointer=start,
                hint="Refer to fewer schemas inside one another.",
            )
