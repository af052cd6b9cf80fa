"""What audit looks up: tags of sessions, resources of calls, spans of time, and indexes on how calls ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from ledger.strictjson import canonical, loads

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
IS_BAD_END = "state IN ('abandoned', 'denied', 'failed', 'rejected', 'superseded')"
SPAN = 1024
PAGE = 2000
REFUSED = ("call.rejected", "call.denied", "call.failed")


def upgrade() -> None:
    """Add the tables and indexes, and fill them from the events that are there; the events stay as they are."""
    _tables()
    _indexes()
    if op.get_context().dialect.name == "postgresql":
        return  # no release has written events of the first revision to a server
    connection = op.get_bind()
    for rows in _pages(connection):
        _fill(connection, rows)


def _tables() -> None:
    repairable = sa.Column("model_can_repair", sa.Integer, nullable=False, server_default=sa.text("0"))
    op.add_column("call", repairable)
    op.create_table(
        "session_tag",
        sa.Column("name", TEXT, primary_key=True),
        sa.Column("value", TEXT, primary_key=True),
        sa.Column("session_id", TEXT, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "call_resource",
        sa.Column("resource", TEXT, primary_key=True),
        sa.Column("position", BIG, primary_key=True, autoincrement=False),
        sa.Column("call_id", TEXT, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "event_span",
        sa.Column("position", BIG, primary_key=True, autoincrement=False),
        sa.Column("earliest", TEXT, nullable=False),
        sa.Column("latest", TEXT, nullable=False),
    )


def _indexes() -> None:
    op.create_index(
        "call_end",
        "call",
        ["state", "position"],
        sqlite_where=sa.text(IS_BAD_END),
        postgresql_where=sa.text(IS_BAD_END),
    )
    for name, column in (("gate", "gate"), ("code", "code"), ("class", "error_class"), ("reason", "reason")):
        where = sa.text(f"{column} IS NOT NULL")
        short = sa.text(f"{column} IS NOT NULL AND length({column}) < 500")
        op.create_index(f"call_{name}", "call", [column, "position"], sqlite_where=where, postgresql_where=short)
    op.create_index(
        "call_stage",
        "call",
        ["stage", "position"],
        sqlite_where=sa.text("stage <> 'active'"),
        postgresql_where=sa.text("stage <> 'active'"),
    )
    op.drop_index("call_key", "call")
    key = sa.text("idempotency_key IS NOT NULL")
    op.create_index(
        "call_key", "call", ["idempotency_key", "tenant"], unique=True, sqlite_where=key, postgresql_where=key
    )


def _pages(connection: sa.Connection) -> Iterator[list[Any]]:
    last = 0
    page = "SELECT position, session_id, type, call_id, record FROM event WHERE position > ? ORDER BY position LIMIT ?"
    while rows := list(connection.exec_driver_sql(page, (last, PAGE))):
        yield rows
        last = rows[-1][0]


def _fill(connection: sa.Connection, rows: list[Any]) -> None:
    tags: dict[tuple[Any, Any, Any], None] = {}
    resources: list[tuple[Any, Any]] = []
    repairable: list[tuple[bool, Any]] = []
    for _, session_id, kind, call_id, record in rows:
        wire, body = _read(record)
        tags |= {(_kept(name), _kept(value), session_id): None for name, value in _tags(wire, body, kind)}
        if kind == "call.started":
            resources += [(_kept(name), call_id) for name in body.get("resourceKeys") or ()]
        elif kind in REFUSED:
            repairable.append((bool(body.get("modelCanRepair")), call_id))
    _many(connection, "INSERT OR IGNORE INTO session_tag (name, value, session_id) VALUES (?, ?, ?)", list(tags))
    first = "SELECT ?1, min(position), ?2 FROM event WHERE call_id = ?2"
    _many(connection, f"INSERT OR IGNORE INTO call_resource (resource, position, call_id) {first}", resources)
    _many(connection, "UPDATE call SET model_can_repair = ? WHERE call_id = ?", repairable)
    _spans(connection, [row[0] for row in rows])


def _tags(wire: dict[str, Any], body: dict[str, Any], kind: str) -> Iterator[tuple[str, str]]:
    for name in ("tenant", "principal", "actor"):
        if wire.get(name):
            yield name, wire[name]
    if kind == "session.opened":
        for name, value in (body.get("labels") or {}).items():
            yield f"label:{name}", value if isinstance(value, str) else canonical(value).decode()


def _spans(connection: sa.Connection, positions: list[int]) -> None:
    """Close a span at each event that crosses a multiple of its length; it holds what no span held before."""
    bounds = "SELECT ?1, min(recorded_at), max(recorded_at) FROM event WHERE position <= ?1 AND position > "
    since = "ifnull((SELECT max(position) FROM event_span), 0)"
    for position in positions:
        if position // SPAN != (position - 1) // SPAN:
            statement = f"INSERT INTO event_span (position, earliest, latest) {bounds}{since}"
            connection.exec_driver_sql(statement, (position,))


def _many(connection: sa.Connection, statement: str, rows: list[Any]) -> None:
    if rows:
        connection.exec_driver_sql(statement, rows)


def _read(record: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a record and its body; of one that cannot be read nothing."""
    try:
        wire = loads(record)
        return wire, dict(wire["body"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}, {}


def _kept(text: str) -> str | bytes:
    """Return a text as it is stored: one that UTF-8 cannot hold as bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text
