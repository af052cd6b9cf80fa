"""What the files between two versions of a tool say of a change of its meaning, for a person who compares two calls."""

from __future__ import annotations

from dataclasses import dataclass

from ledger.calls import Call
from ledger.catalog import ToolDefinition
from ledger.catalog.upcast.values import as_far, at_both, same
from ledger.strictjson import Json


@dataclass(frozen=True, slots=True)
class Meaning:
    """
    `why`: each change of meaning between the versions, in its file's words, the oldest first.

    `same`: where the last of them carries a value over as it is, and both calls have the same there (JSON Pointers).
    """

    why: tuple[str, ...]
    same: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = " ".join(f'"{each}"' for each in self.why)
        carried = f", and what is carried is the same in both: {', '.join(self.same)}" if self.same else ""
        return f"the meaning changed between the versions: {said}{carried}"


def meaning_between(definition: ToolDefinition, one: Call, other: Call) -> Meaning | None:
    """Return what changed in meaning between the versions of two calls; None where no file, or no change, says it."""
    older, newer = sorted((one, other), key=lambda call: call.schema_version or 0)
    version, form, why = older.schema_version, older.to_run, list[str]()
    alike: tuple[str, ...] = ()
    while version != newer.schema_version:
        step = definition.upcasts.get(version or 0)
        if step is None or step.to_version > (newer.schema_version or 0):
            return None
        version, form = step.to_version, as_far(step.ops, form)
        alike = ()  # behind a change of meaning nobody knows what became of the values that it carried
        if step.semantic is not None:
            why.append(step.semantic)
            alike = tuple(pointer for pointer in step.carry if pointer and _alike(form, newer.to_run, pointer))
    certain = len(why) == 1 and not (older.redacted or newer.redacted)  # a mask may be any value
    return Meaning(tuple(why), alike if certain else ()) if why else None


def _alike(one: Json, other: Json, pointer: str) -> bool:
    found = at_both(one, other, pointer)
    return found is not None and same(*found)
