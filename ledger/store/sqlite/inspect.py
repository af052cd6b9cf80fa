"""Looking at a file as a whole: its settings, every chain, the projection's edges. Reads in one snapshot, flat."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from ledger.store.chains import MOST_SHOWN, Chains, Orphans, Tally, walked
from ledger.store.columns import EVENT_COLUMNS
from ledger.store.sqlite import sql

GUARDS: Final = {
    "event_append": "30fc0a62a28b56e4cddff6879310289567385d7618ba4bb425f742f2b64bdf78",
    "event_no_delete": "950e69209e0ad0823c77b3ae18f7449fd216a6f5feb03db8cd99e54695d1ae27",
    "event_no_update": "778c862575ef8f09c9dd567ef3434d6ef2b2ea6ff1558131ff94d0941038db94",
}
"""The triggers that keep events as they are, each with the digest of its text."""

_EVENTS: Final = (
    f"SELECT {', '.join(EVENT_COLUMNS)}, position FROM event"  # noqa: S608 - our own names
    " ORDER BY session_id, sequence"
)
_LONE_HEADS: Final = (
    "SELECT session_id, sequence FROM session_head WHERE sequence > 0 AND NOT EXISTS"
    " (SELECT 1 FROM event WHERE event.session_id = session_head.session_id) ORDER BY session_id"
)
_NO_PROPOSAL: Final = (
    "FROM call WHERE NOT EXISTS"
    " (SELECT 1 FROM event WHERE event.call_id = call.call_id AND event.type = 'call.proposed')"
)
_NO_ROW: Final = (
    "FROM event WHERE type = 'call.proposed' AND call_id IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM call WHERE call.call_id = event.call_id)"
)


def chains(connection: sqlite3.Connection) -> Chains:
    """Verify every session: gapless places, chained digests, columns that copy their record, the head at the end."""
    return sql.tolerant(connection, lambda: _chains(connection))


def _chains(connection: sqlite3.Connection) -> Chains:
    tally = Tally()
    for session_id, rows in groupby(connection.execute(_EVENTS), key=itemgetter(0)):
        head = connection.execute(sql.HEAD, (session_id,)).fetchone()
        tally.add(walked(sql.readable((session_id,))[0], rows, head, sql.readable))
    for session_id, sequence in connection.execute(_LONE_HEADS):
        tally.lone_head(sql.readable((session_id,))[0], sequence)
    return tally.chains()


def orphans(connection: sqlite3.Connection) -> Orphans:
    """Find calls and proposals that lack each other."""
    return sql.tolerant(connection, lambda: _orphans(connection))


def _orphans(connection: sqlite3.Connection) -> Orphans:
    counts, names = [], []
    for condition in (_NO_PROPOSAL, _NO_ROW):
        counts.append(connection.execute(f"SELECT count(*) {condition}").fetchone()[0])
        rows = connection.execute(f"SELECT call_id {condition} ORDER BY call_id LIMIT {MOST_SHOWN}")
        names.append(tuple(sql.readable(row)[0] for row in rows))
    return Orphans(counts[0], counts[1], names[0], names[1])


def unguarded(connection: sqlite3.Connection, *, exact: bool) -> tuple[str, ...]:
    """
    Return what is wrong with the triggers that keep events from being changed, in words; empty where they stand.

    `exact`: their text has to be this release's; a newer one may have written them anew.
    """
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'event'")
    there = {str(name): str(text) for name, text in rows}
    missing = [f"the trigger {name} is missing" for name in GUARDS if name not in there]
    changed = [
        f"the trigger {name} is not as it was made"
        for name, digest in GUARDS.items()
        if exact and name in there and trigger_digest(there[name]) != digest
    ]
    return (*missing, *changed)


def trigger_digest(text: str) -> str:
    """Return the SHA-256 of a trigger's text, however it is laid out."""
    return sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def damage(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return what SQLite's own quick check says of the file; empty where it is sound."""
    found = [str(row[0]) for row in connection.execute(f"PRAGMA quick_check({MOST_SHOWN})")]
    return () if found == ["ok"] else tuple(found)


def pragma(connection: sqlite3.Connection, name: str) -> Any:
    """Return the value of a setting."""
    return connection.execute(f"PRAGMA {name}").fetchone()[0]
