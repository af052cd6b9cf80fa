"""Calls counted by columns: groups in one scan, then their durations in order, of which only the ranks are kept."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ledger.store.columns import CARRIED, counted
from ledger.store.fits import Group, in_order, rank, tally
from ledger.store.port import CallFilter, GroupKey, Tally
from ledger.store.sqlite import sql
from ledger.store.sqlite.filters import call_where
from ledger.store.sqlite.hints import look
from ledger.store.sqlite.where import Where

_COUNTS: Final = "count(*), sum(model_can_repair), count(duration_ms)"
_IS_CARRIED: Final = f"call.call_id IN ({CARRIED})"
_WHOLE: Final = 2**31
"""The page for which a tag is weighed up: all rows that fit."""


def tallied(connection: sqlite3.Connection, where: CallFilter, by: Sequence[GroupKey]) -> list[Tally]:
    """Count the calls that fit; memory is that of the groups."""
    hints = look(connection, where, _WHOLE)
    found = call_where(where, 0, hints)
    groups = _groups(connection, found, by)
    ranks = _ranks(connection, found, by, {key: group.timed for key, group in groups.items() if group.timed})
    return in_order(tally(key, group, *ranks.get(key, (None, None))) for key, group in groups.items())


def _groups(connection: sqlite3.Connection, where: Where, by: Sequence[GroupKey]) -> dict[tuple[Any, ...], Group]:
    columns = ", ".join(counted((*by, "state"), _IS_CARRIED))
    statement = f"{where.matching(f'{columns}, {_COUNTS}')} GROUP BY {columns}"
    found: dict[tuple[Any, ...], Group] = {}
    for row in sql.run(connection, statement, where.values):
        *values, state, calls, repairable, timed = sql.readable(row)
        before = found.get(tuple(values), Group(Counter(), 0, 0))
        states = before.states + Counter({state: calls})
        found[tuple(values)] = Group(states, before.repairable + repairable, before.timed + timed)
    return found


def _ranks(
    connection: sqlite3.Connection, where: Where, by: Sequence[GroupKey], timed: Mapping[tuple[Any, ...], int]
) -> dict[tuple[Any, ...], tuple[float, float]]:
    """Return the 50th and 95th percentile of each group's durations."""
    columns = ", ".join(counted(by, _IS_CARRIED))
    order = f"{columns}, duration_ms" if by else "duration_ms"
    chosen = f"{columns}, duration_ms" if by else "duration_ms"
    whole = f"{where.matching(chosen)} AND duration_ms IS NOT NULL ORDER BY {order}"
    found: dict[tuple[Any, ...], tuple[float, float]] = {}
    last, place, middle = None, 0, 0.0
    for row in sql.run(connection, whole, where.values):
        key, duration = row[:-1], row[-1]
        place = place + 1 if key == last else 1
        last = key
        count = timed[sql.readable(key)]
        if place == rank(count, 50):
            middle = duration
        if place == rank(count, 95):
            found[sql.readable(key)] = (middle, duration)
    return found
