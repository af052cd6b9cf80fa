"""Looking at a file as a whole: its settings, every chain, the projection's edges. Reads in one snapshot, flat."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from ledger.counting import counted
from ledger.errors import IntegrityFailure
from ledger.store.chains import MOST_SHOWN, Chains, Orphans, Tally, Walk, stranger, walked
from ledger.store.columns import EVENT_COLUMNS, Row
from ledger.store.sqlite import sql
from ledger.store.sqlite.making import make_tables

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
_POSITIONS: Final = (
    "SELECT count(*), ifnull(max(position), 0),"
    " ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0) FROM event"
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
        walk = walked(sql.readable((session_id,))[0], rows, head, sql.bindable)
        if head is not None and walk.fault is None:
            _look_at_lease(walk, head)
        tally.add(walk)
    for session_id, sequence in connection.execute(_LONE_HEADS):
        tally.lone_head(sql.readable((session_id,))[0], sequence)
    return tally.chains()


def _look_at_lease(walk: Walk, head: Row) -> None:
    try:
        sql.head_of(head, walk.session_id)
    except IntegrityFailure as failure:
        walk.blame(walk.sequence, None, failure.message.partition(": ")[2])


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
    rows = sql.fetched(connection, "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'event'")
    there = {str(name): str(text) for name, text in rows}
    missing = [f"the trigger {name} is missing" for name in GUARDS if name not in there]
    changed = [
        f"the trigger {name} is not as it was made"
        for name, digest in GUARDS.items()
        if exact and name in there and trigger_digest(there[name]) != digest
    ]
    return (*missing, *changed, *(_unmade(connection) if exact else ()))


def _unmade(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield what is wrong with tables and indexes: without one a key may be taken twice, or a list cannot be read."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        make_tables(fresh)
        right = _made(fresh)
    there = _made(connection)
    for (kind, name), text in right.items():
        if (kind, name) not in there:
            yield f"the {kind} {name} is missing"
        elif there[kind, name] != text:
            yield f"the {kind} {name} is not as it was made"


def _made(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    rows = sql.fetched(connection, "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {(kind, name): " ".join(text.split()) for kind, name, text in rows if kind in ("table", "index")}


def strangers(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return the triggers that are not the ledger's, in words: somebody's own, which may do anything."""
    rows = sql.fetched(connection, "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
    return tuple(stranger(name, table) for name, table in rows if name not in GUARDS)


def trigger_digest(text: str) -> str:
    """Return the SHA-256 of a trigger's text, however it is laid out."""
    return sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def damage(connection: sqlite3.Connection) -> tuple[str, ...]:
    """
    Return what SQLite's own check says of the file, and whether events are gone; empty where it is sound.

    Its quick check compares no index with its table: a flipped bit in the one by key lets a host's call run twice.
    Positions have no gaps, for a transaction that is rolled back gives its own back.
    """
    found = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({MOST_SHOWN})")]
    return (*(() if found == ["ok"] else found), *_gone(connection))


def _gone(connection: sqlite3.Connection) -> Iterator[str]:
    count, last, counter = connection.execute(_POSITIONS).fetchone()
    if (count, last) != (counter, counter):
        there = f"{counted(count, 'event')}, the last one at {last}"
        yield f"events are gone, or their counter was set: it gave {counted(counter, 'position')}; there are {there}"


def pragma(connection: sqlite3.Connection, name: str) -> Any:
    """Return the value of a setting."""
    return connection.execute(f"PRAGMA {name}").fetchone()[0]
