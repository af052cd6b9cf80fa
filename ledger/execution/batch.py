"""Which calls of a turn may run at the same time: decided by trusted metadata, never by the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ledger.events import BatchPlanned
from ledger.events.session_bodies import BatchMode


@dataclass(frozen=True, slots=True)
class Member:
    """A call of the batch; `keys` None = unknown, which conflicts with everything."""

    index: int
    side_effecting: bool
    keys: frozenset[str] | None


def conflict(one: Member, other: Member) -> bool:
    """
    Return whether two calls must not run at the same time.

    Reads run together; a side-effecting call runs beside any other only where their resource keys are known and
    disjoint.
    """
    if not one.side_effecting and not other.side_effecting:
        return False
    if one.keys is None or other.keys is None:
        return True
    if (not one.keys and one.side_effecting) or (not other.keys and other.side_effecting):
        return True  # a side effect on nothing named may touch anything
    return not one.keys.isdisjoint(other.keys)


def groups(members: Sequence[Member], *, workers: int) -> tuple[tuple[int, ...], ...]:
    """
    Return the indexes in groups: one group after the other, the calls of a group at the same time.

    The order asked is kept: a call never starts before a conflicting one that stands before it has ended. A group is
    never larger than `workers`.
    """
    found: list[list[Member]] = []
    for member in members:
        current = found[-1] if found else None
        if current is None or len(current) >= workers or any(conflict(member, other) for other in current):
            found.append([member])
        else:
            current.append(member)
    return tuple(tuple(member.index for member in group) for group in found)


def planned(members: Sequence[Member], *, workers: int) -> BatchPlanned:
    """Return the plan of a batch as the event that records it."""
    batches = groups(members, workers=workers)
    mode: BatchMode = "grouped"
    if len(batches) <= 1:
        mode = "parallel"
    elif len(batches) == len(members):
        mode = "sequential"
    keys = tuple(None if member.keys is None else sorted(member.keys) for member in members)
    return BatchPlanned(size=len(members), mode=mode, groups=tuple(map(list, batches)), resource_keys=keys)
