"""
Where a schema may call a value sensitive: only where masking reaches it before anything is recorded.

A mark that masks nothing is worse than none: its author relies on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ledger.catalog.references import target_of
from ledger.catalog.vocabulary import MAP, STORES, children
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, to_pointer

MARKS: Final = ("x-sensitive", "writeOnly")
"""Keywords that call a value sensitive where they are true."""
_UNREACHED: Final = STORES | {"contentSchema"}


def check_marks(nodes: Mapping[str, Json], path: str = "") -> None:
    """Raise CatalogFault with the place of the first mark that would mask nothing, and what to write instead."""
    marked = {pointer: mark for pointer, node in nodes.items() if (mark := _mark(node))}
    for pointer, node in nodes.items():
        _check_names(pointer, node, path)
    for pointer, node in nodes.items() if marked else ():
        if isinstance(node, dict) and "contentSchema" in node:
            _check_content(f"{pointer}/contentSchema", nodes, marked, path)
    reached = set(_reached("", nodes)) if marked else set()
    for pointer, mark in marked.items():
        if pointer not in reached:
            raise CatalogFault(
                f"`{mark}` stands in a definition that nothing refers to, so it masks nothing",
                path=path,
                pointer=f"{pointer}/{mark}",
                hint="Refer to it by `$ref` where the value stands, or take the definition out.",
            )


def refuse_marks(nodes: Mapping[str, Json], path: str = "") -> None:
    """
    Raise CatalogFault if the schema of a result says `x-sensitive`: results are recorded as they are.

    `writeOnly` may stand there: it says that the result does not hold the value.
    """
    for pointer, node in nodes.items():
        if isinstance(node, dict) and node.get("x-sensitive") is True:
            raise CatalogFault(
                "`x-sensitive` in the schema of a result masks nothing: the model reads the result, and it is recorded",
                path=path,
                pointer=f"{pointer}/x-sensitive",
                hint="Let the tool leave the secret out of its result, or return a reference to it.",
            )


def _mark(node: Json) -> str | None:
    return next((mark for mark in MARKS if node.get(mark) is True), None) if isinstance(node, dict) else None


def _check_names(pointer: str, node: Json, path: str) -> None:
    """Refuse a mark among the names of properties: it is taken for the name of one."""
    for keyword in MAP & node.keys() if isinstance(node, dict) else ():
        for mark in MARKS:
            if isinstance(node[keyword].get(mark), bool):
                raise CatalogFault(
                    f"`{mark}` is a name under `{keyword}` here, so it masks nothing",
                    path=path,
                    pointer=pointer + to_pointer([keyword, mark]),
                    hint=f"Write it into the property's own schema. A property of that name says `{mark}: {{}}`.",
                )


def _check_content(pointer: str, nodes: Mapping[str, Json], marked: Mapping[str, str], path: str) -> None:
    for place in _reached(pointer, nodes):
        if place in marked:
            raise CatalogFault(
                f"`{marked[place]}` looks into the content of a text, which is not decoded, so it masks nothing",
                path=path,
                pointer=pointer,
                hint=f"Write `{marked[place]}: true` beside `contentSchema`: the text is masked as a whole.",
            )


def _reached(start: str, nodes: Mapping[str, Json]) -> Iterator[str]:
    """Yield the pointers of the schemas that masking applies, beginning with one."""
    seen, waiting = {start}, [start]
    while waiting:
        pointer = waiting.pop()
        yield pointer
        node = nodes[pointer]
        after = set(_after(pointer, node)) - seen if isinstance(node, dict) else set()
        seen |= after
        waiting.extend(after)


def _after(pointer: str, node: JsonObject) -> Iterator[str]:
    if "$ref" in node:
        yield target_of(node["$ref"])
    for path, _ in children(node):
        if path[0] not in _UNREACHED:
            yield pointer + to_pointer(path)
