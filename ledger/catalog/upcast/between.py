"""What is known of the upcasts between two versions of a tool, from the schemas alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ledger.catalog.definition import ToolDefinition
from ledger.catalog.diff import Settings
from ledger.catalog.diff.difference import DEFAULT
from ledger.catalog.upcast.proof import Proof, Status, prove
from ledger.catalog.upcast.records import GRADES, Grade

_WORST: Final[tuple[Status, ...]] = ("none", "refuted", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """
    The files that lead from a version to another one: the worst status of them, the weakest grade of proved ones.

    `missing` is the version from which no file leads on, `semantic` why a file says that the meaning changes.
    """

    status: Status = "none"
    grade: Grade | None = None
    missing: int | None = None
    semantic: str | None = None


NO_BRIDGE: Final = Bridge()


def between(definition: ToolDefinition, old: int, new: int, settings: Settings = DEFAULT) -> Bridge:
    """Return what is known of the files that lead from *old* to *new*, a version of the tool that is not lower."""
    proofs: list[Proof] = []
    semantic: str | None = None
    while old < new:
        upcast = definition.upcasts.get(old)
        if upcast is None or upcast.to_version > new or not {old, upcast.to_version} <= definition.versions.keys():
            return Bridge(missing=old if {old, new} <= definition.versions.keys() else None)
        proofs.append(prove(upcast, definition.versions[old], definition.versions[upcast.to_version], settings))
        semantic, old = semantic or upcast.semantic, upcast.to_version
    found = {proof.status for proof in proofs}
    status = next((each for each in _WORST if each in found), "proved" if found else "none")
    grades = [proof.grade for proof in proofs if proof.grade is not None]
    weakest = max(grades, key=GRADES.index) if status == "proved" else None
    return Bridge(status=status, grade=weakest, semantic=semantic)
