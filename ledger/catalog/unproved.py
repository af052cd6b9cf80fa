"""The upcasts that carry nothing: what the schemas contradict or do not prove, and what only a person can add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ledger.catalog.definition import ToolDefinition
from ledger.catalog.disk import LOCK, Sources
from ledger.catalog.lock import Lock, LockedTool, upcast_file
from ledger.catalog.notes import Note
from ledger.catalog.steps import Upcast

if TYPE_CHECKING:
    from ledger.catalog.upcast.proof import Proof

_NOTHING_CARRIED: Final = "Nothing is carried by it: a person is asked for each call."
_IF_MEANT: Final = "Nothing is carried by it. If that is meant, write into the file:"
_BEFORE: Final = "Nothing is carried by it. It is not locked like this: if it is meant, write into the file:"
_LOCKED_SO: Final = f"{_NOTHING_CARRIED} It was locked like this, and stays so."
_LOCKED_UNSIGNED: Final = (
    f"{_NOTHING_CARRIED} It was locked unsigned. So no call names it, and who signs it takes its entry out of {LOCK} by"
    " hand first, in a change that somebody else reads."
)
_A_PERSONS: Final[Mapping[str, str]] = {
    "not_asserted": '"assertedBy": "…", who says that every argument means what it meant; or why not, "semantic": "…"',
    "absence_not_asserted": '"absentMeans" in its introduce_optional',
}
"""What only a person can say in the file, by the code of what is not known without it."""


def unproved_notes(sources: Sources) -> Iterator[Note]:
    """Yield the upcasts that carry nothing, a note each; those that say that the meaning changes are meant so."""
    lock = sources.lock or Lock()
    for definition in sources.catalog.tools.values():
        if definition.upcasts:
            yield from _proofs(definition, sources, lock.of(definition))


def _proofs(definition: ToolDefinition, sources: Sources, locked: LockedTool) -> Iterator[Note]:
    from ledger.catalog.diff import Settings  # the prover is loaded only where there is something to prove
    from ledger.catalog.upcast.proof import prove

    catalog = sources.catalog
    settings = Settings(significant=catalog.significant, formats=catalog.formats)
    for upcast in definition.upcasts.values():
        proof = prove(
            upcast, definition.versions[upcast.from_version], definition.versions[upcast.to_version], settings
        )
        if proof.status in ("refuted", "unknown"):
            yield _note(definition, upcast, proof, locked)


def _note(definition: ToolDefinition, upcast: Upcast, proof: Proof, locked: LockedTool) -> Note:
    reason, number = proof.reasons[0], upcast.to_version
    lacks = proof.write or _A_PERSONS.get(reason.code)
    is_locked = upcast_file(upcast) in locked.upcasts
    hint = _NOTHING_CARRIED
    if lacks is not None and is_locked:
        hint = _LOCKED_UNSIGNED if reason.code == "not_asserted" else _LOCKED_SO
    elif lacks is not None:
        hint = f"{_IF_MEANT if proof.status == 'refuted' else _BEFORE} {lacks}."
    return Note(
        code="upcast_refuted" if proof.status == "refuted" else "upcast_unproved",
        tool=definition.name,
        version=number,
        path=upcast.path,
        pointer=reason.pointer,
        message=f"{proof.status}: {reason.message} ({reason.code})",
        hint=hint,
        before_lock=lacks is not None and not is_locked and (number <= definition.current or number in locked.versions),
    )
