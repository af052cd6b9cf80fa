"""
Which columns of a table a terminal has room for, and how much of it each gets.

It knows columns by their places and widths alone; what stands in them is the table's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class Size:
    """Columns of the terminal: what all that stands in a column takes, the least it can be cut to, what it wants."""

    have: int
    least: int
    wanted: int

    def grown(self, other: Size) -> Size:
        """Return the size in which both fit."""
        return Size(max(self.have, other.have), max(self.least, other.least), max(self.wanted, other.wanted))


@dataclass(frozen=True, slots=True)
class Seat:
    """What one column asks for: its size, that in its short form, when it goes or is set apart, if it has a value."""

    size: Size
    short: Size
    leave: int
    apart: int
    valued: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """Which columns stand in the table and which apart, by their places, and whether they have their short form."""

    there: tuple[int, ...]
    apart: tuple[int, ...] = ()
    short: bool = False


def seated(seats: Sequence[Seat], room: int | None) -> Plan:
    """
    Return the first plan that fits: as little as possible goes, and what is set apart makes room for all the others.

    Where none fits, the one with the least in it. Without a `room` everything has its place.
    """
    everything = tuple(range(len(seats)))
    if room is None:
        return Plan(everything)
    apart = sorted((at for at in everything if seats[at].apart and seats[at].valued), key=lambda at: seats[at].apart)
    plan = Plan(everything)
    for count in range(len(apart) + 1):
        bound = seats[apart[count]].apart if count < len(apart) else None
        there = tuple(at for at in everything if at not in apart[:count])
        for plan in _thinned(Plan(there, tuple(apart[:count])), seats, bound):
            if _fits(plan, seats, room):
                return _filled(plan, seats, room)
    return plan


def _fits(plan: Plan, seats: Sequence[Seat], room: int) -> bool:
    wanted = [size.wanted for size in sizes(plan, seats)]
    return sum(wanted) + len(GAP) * (len(wanted) - 1) <= room


def _thinned(plan: Plan, seats: Sequence[Seat], bound: int | None) -> Iterator[Plan]:
    """Yield the plan, and then with less and less in it; `bound`: only what leaves before this number."""
    yield plan
    there = tuple(at for at in plan.there if seats[at].valued) or plan.there
    yield Plan(there, plan.apart)
    yield Plan(there, plan.apart, short=True)
    leaving = {seats[at].leave for at in there if seats[at].leave and (bound is None or seats[at].leave < bound)}
    for number in sorted(leaving):
        there = tuple(at for at in there if seats[at].leave != number)
        yield Plan(there, plan.apart, short=True)


def _filled(plan: Plan, seats: Sequence[Seat], room: int) -> Plan:
    """Return the plan with those columns back for which what left behind them made room, the last to go first."""
    gone = {at for at, seat in enumerate(seats) if seat.valued} - {*plan.there, *plan.apart}
    for number in sorted({seats[at].leave for at in gone}, reverse=True):
        back = {at for at in gone if seats[at].leave == number}
        more = Plan(tuple(sorted({*plan.there, *back})), plan.apart, short=True)
        plan = more if _fits(more, seats, room) else plan
    return plan


def sizes(plan: Plan, seats: Sequence[Seat]) -> list[Size]:
    """Return the sizes of the columns in the table."""
    return [seats[at].short if plan.short else seats[at].size for at in plan.there]


def fitted(sizes: Sequence[Size], room: int | None) -> list[int]:
    """
    Return the columns' widths: room is taken from the widest that may be cut, a column at a time, until the table fits.

    What a column wants is taken from it last. Where nothing is left to take, the table is wider than the room.
    """
    if room is None:
        return [size.have for size in sizes]
    widths = [max(size.least, min(size.have, room)) for size in sizes]
    for floor in ([size.wanted for size in sizes], [size.least for size in sizes]):
        over = sum(widths) + len(GAP) * (len(widths) - 1) - room
        for _ in range(over):
            spare = [have if have > low else 0 for have, low in zip(widths, floor, strict=True)]
            if not any(spare):
                break
            widths[spare.index(max(spare))] -= 1
    return widths
