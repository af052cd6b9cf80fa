"""Looking at a server's ledger as a whole: its settings, every chain, the projection's edges. One state, read flat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Final

from ledger.errors import StoreUnavailable
from ledger.store.chains import MOST_SHOWN, Chains, Orphans, ServerHealth, Tally, stranger, walked
from ledger.store.columns import EVENT_COLUMNS
from ledger.store.postgres.door import Connection, Server
from ledger.store.postgres.opening import check as check_tables
from ledger.store.postgres.reader import Readers
from ledger.store.postgres.texts import bindable, meant
from ledger.store.roles import NEEDED
from ledger.store.schema import HEAD

GUARDS: Final = {
    f"event_no_{verb}": re.compile(
        rf"CREATE TRIGGER event_no_{verb} BEFORE {verb.upper()} ON \S+ FOR EACH STATEMENT"
        r" EXECUTE FUNCTION (\S+\.)?ledger_append_only\(\)"
    )
    for verb in ("delete", "truncate", "update")
}
"""The triggers that keep events as they are, as the server tells them."""

INDEXES: Final = {
    **dict.fromkeys(
        (
            "call_key",
            "call_pkey",
            "call_place",
            "call_resource_pkey",
            "event_once",
            "event_pkey",
            "event_sequence",
            "limited_start_pkey",
            "session_head_pkey",
            "session_key_pkey",
            "session_tag_pkey",
            "tool_version_pkey",
        ),
        True,
    ),
    **dict.fromkeys(
        (
            "call_class",
            "call_code",
            "call_copy",
            "call_end",
            "call_gate",
            "call_open",
            "call_position",
            "call_reason",
            "call_stage",
            "call_tool",
            "event_call",
            "event_closed",
            "event_time",
            "event_tool",
            "event_type",
            "limited_start_free",
        ),
        False,
    ),
}
"""The indexes of this release's tables, each with whether it keeps a key from being taken twice."""

RAISES: Final = (
    "BEGIN RAISE EXCEPTION 'ledger: an event is never changed or deleted' USING ERRCODE = 'restrict_violation'; END"
)
"""What the triggers run."""

_EVENTS: Final = (
    f"SELECT {', '.join(f'e.{name}' for name in EVENT_COLUMNS)}, e.position, h.sequence, h.digest, h.token"  # noqa: S608 - ours
    " FROM event e LEFT JOIN session_head h USING (session_id) ORDER BY e.session_id, e.sequence"
)
_LONE_HEADS: Final = (
    "SELECT session_id, sequence FROM session_head h WHERE sequence > 0 AND NOT EXISTS"
    " (SELECT 1 FROM event e WHERE e.session_id = h.session_id) ORDER BY session_id"
)
_NO_PROPOSAL: Final = (
    "FROM call WHERE NOT EXISTS"
    " (SELECT 1 FROM event WHERE event.call_id = call.call_id AND event.type = 'call.proposed')"
)
_NO_ROW: Final = (
    "FROM event WHERE type = 'call.proposed' AND call_id IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM call WHERE call.call_id = event.call_id)"
)
_TRIGGERS: Final = (
    "SELECT t.tgname, t.tgenabled, pg_get_triggerdef(t.oid), p.prosrc"
    " FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid"
    " WHERE t.tgrelid = to_regclass('event') AND NOT t.tgisinternal"
)
_ALL_TRIGGERS: Final = (
    "SELECT t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
    " WHERE NOT t.tgisinternal AND t.tgrelid IN (SELECT to_regclass(name) FROM unnest(%s::text[]) AS name)"
    " ORDER BY t.tgname"
)
_INDEXES: Final = (
    "SELECT c.relname, i.indisunique AND i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " WHERE i.indrelid IN (SELECT to_regclass(name) FROM unnest(%s::text[]) AS name)"
)
_FACTS: Final = (
    "SELECT current_setting('server_version'), current_setting('synchronous_commit'), current_setting('fsync'),"
    " current_setting('full_page_writes'), pg_is_in_recovery(),"
    " (SELECT sum(pg_total_relation_size(to_regclass(name)))::bigint FROM unnest(%s::text[]) AS name)"
)
_LACKING: Final = (
    "SELECT current_user, array(SELECT needed.verb || ' on ' || needed.name"
    " FROM unnest(%s::text[], %s::text[]) AS needed (name, verb) WHERE NOT CASE needed.verb"
    " WHEN 'DELETE' THEN has_table_privilege(needed.name, 'DELETE')"
    " ELSE has_any_column_privilege(needed.name, needed.verb) END)"
)
_TABLES: Final = [
    "event",
    "session_head",
    "call",
    "session_tag",
    "call_resource",
    "limited_start",
    "tool_version",
    "session_key",
]


def check(url: str) -> ServerHealth:
    """Look at everything, change nothing. Raises `NoDatabase`, and `StoreUnavailable` where it cannot be read."""
    server = Server(url, read_only=True)
    try:
        revision = check_tables(server, "off").revision or ""
        with Readers(server).snapshot() as connection:
            version, synchronous, fsync, whole_pages, standby, size = connection.execute(_FACTS, (_TABLES,)).fetchall()[
                0
            ]
            return ServerHealth(
                place=server.shown,
                revision=revision,
                server_version=version,
                synchronous_commit=synchronous,
                size=size,
                chains=chains(connection),
                orphans=orphans(connection),
                unguarded=unguarded(connection, exact=revision == HEAD),
                notes=(*_notes(fsync, whole_pages, standby=standby), *strangers(connection)),
            )
    finally:
        server.close()


def ready(url: str) -> str:
    """
    Return the revision of a ledger that a host can write now; quick, for probes.

    Raises `NoDatabase`, `SchemaOutdated`, and `StoreUnavailable`, also where the server is a standby or the user lacks
    a right that a host needs.
    """
    server = Server(url)
    try:
        revision = check_tables(server, "check").revision or ""
        with server.lent() as connection:
            ((read_only,),) = connection.execute("SHOW transaction_read_only").fetchall()
            user, missing = lacking(connection)
        if read_only == "on":
            raise StoreUnavailable(f"{server.shown} takes no writes: it is a standby, or was made read-only")
        if missing:
            hint = f"Grant {user} the role of hosts: `ledger db roles` prints it."
            raise StoreUnavailable(f"{user} lacks rights at {server.shown}: {', '.join(missing)}", hint=hint)
        return revision
    finally:
        server.close()


def lacking(connection: Connection) -> tuple[str, list[str]]:
    """Return who this user is, and which rights of a host it lacks (`INSERT on event`)."""
    names, verbs = map(list, zip(*NEEDED, strict=True))
    ((user, missing),) = connection.execute(_LACKING, (names, verbs)).fetchall()
    return user, missing


def chains(connection: Connection) -> Chains:
    """Verify every session, in a transaction of the caller."""
    tally = Tally()
    with connection.cursor("ledger_chains") as cursor:
        cursor.itersize = 2000
        cursor.execute(_EVENTS)
        for session_id, rows in groupby(cursor, key=itemgetter(0)):
            first = next(rows)
            head = first[-3:] if first[-1] is not None else None  # it stands beside each of its events
            events = (row[:-3] for row in chain([first], rows))
            walk = walked(meant(session_id), events, head, bindable)
            if head is not None and head[2] < 0:
                walk.blame(walk.sequence, None, "its head was damaged or changed")
            tally.add(walk)
    for session_id, sequence in connection.execute(_LONE_HEADS).fetchall():
        tally.lone_head(meant(session_id), sequence)
    return tally.chains()


def orphans(connection: Connection) -> Orphans:
    """Find calls and proposals that lack each other."""
    counts, names = [], []
    for condition in (_NO_PROPOSAL, _NO_ROW):
        counts.append(connection.execute(f"SELECT count(*) {condition}").fetchall()[0][0])
        rows = connection.execute(f"SELECT call_id {condition} ORDER BY call_id LIMIT {MOST_SHOWN}").fetchall()
        names.append(tuple(meant(call_id) for (call_id,) in rows))
    return Orphans(counts[0], counts[1], names[0], names[1])


def unguarded(connection: Connection, *, exact: bool) -> tuple[str, ...]:
    """
    Return what is wrong with the triggers that keep events from being changed, and with indexes; empty where all stand.

    `exact`: the indexes have to be this release's, for the tables are. Without one a key may be taken twice, or a list
    takes long.
    """
    there: dict[str, Any] = {name: rest for name, *rest in connection.execute(_TRIGGERS).fetchall()}
    indexes = dict(connection.execute(_INDEXES, (_TABLES,)).fetchall())
    return (*_unguarded(there), *(_unmade(indexes) if exact else ()))


def _unmade(indexes: Mapping[str, bool]) -> Iterator[str]:
    for name, unique in INDEXES.items():
        if name not in indexes:
            yield f"the index {name} is missing"
        elif indexes[name] != unique:
            yield f"the index {name} is not as it was made"


def strangers(connection: Connection) -> tuple[str, ...]:
    """Return the triggers that are not the ledger's, in words: somebody's own, which may do anything."""
    rows = connection.execute(_ALL_TRIGGERS, (_TABLES,)).fetchall()
    return tuple(stranger(name, table) for name, table in rows if name not in GUARDS)


def _unguarded(there: Mapping[str, Any]) -> Iterator[str]:
    for name, words in GUARDS.items():
        if name not in there:
            yield f"the trigger {name} is missing"
            continue
        enabled, text, raises = there[name]
        if enabled != "A":
            yield f"the trigger {name} is not ENABLE ALWAYS"
        if not words.fullmatch(text) or raises != RAISES:
            yield f"the trigger {name} is not as it was made"


def _notes(fsync: str, whole_pages: str, *, standby: bool) -> Iterator[str]:
    for name, value in (("fsync", fsync), ("full_page_writes", whole_pages)):
        if value != "on":
            yield f"{name} is off: a crash of the server's machine can damage or lose what was acknowledged."
    if standby:
        yield "This server is a standby: it may be behind the primary."
