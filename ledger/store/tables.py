"""
The tables, declared once. Loaded only by migrations and tests: the adapters speak plain SQL.

`event` holds the truth and only grows. `session_head` is what an append compares and moves. `call`, `tool_version`,
`session_tag`, `call_resource` and `event_span` are copies for look-ups, made in the same transaction, never the truth.
Unique keys of events hold `session_id`, so that a ledger can be split by session later.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from ledger.store.columns import IS_BAD_END, IS_OPEN, IS_RARE

BIG = BigInteger().with_variant(Integer, "sqlite")  # only INTEGER is SQLite's own row number
TEXT = Text().with_variant(Text(collation="C"), "postgresql")  # by code point, whatever the server's language


class Table(SQLModel, registry=registry()):
    """Keeps our tables out of `SQLModel.metadata`, which is the host's."""

    metadata = MetaData()


class EventRow(Table, table=True):
    """
    An event; `record` holds its exact bytes (never a JSON type, which would not keep them).

    The columns beside it are copies for look-ups. `position` is the global order: given by the database, never reused.
    """

    __tablename__ = "event"
    __table_args__ = (
        UniqueConstraint("session_id", "sequence", name="event_sequence"),
        UniqueConstraint("session_id", "event_id", name="event_once"),
        CheckConstraint("position > 0", name="event_position"),
        Index(
            "event_call",
            "call_id",
            "position",
            sqlite_where=text("call_id IS NOT NULL"),
            postgresql_where=text("call_id IS NOT NULL"),
        ),
        # The types of every call's happy path are in no index by type: they would dirty a page each at every commit
        # (23 instead of 17 pages, a fifth of an append's time), and find hardly more than a scan does.
        Index("event_type", "type", "position", sqlite_where=text(IS_RARE), postgresql_where=text(IS_RARE)),
        Index(
            "event_closed",
            "session_id",
            sqlite_where=text("type = 'session.closed'"),
            postgresql_where=text("type = 'session.closed'"),
        ),
        Index(
            "event_tool",
            "tool",
            "position",
            sqlite_where=text("tool IS NOT NULL"),
            postgresql_where=text("tool IS NOT NULL AND length(tool) < 500"),
        ),
        {"sqlite_autoincrement": True},
    )

    position: int | None = Field(
        default=None, sa_column=Column(BIG, Identity(always=True), primary_key=True, autoincrement=True)
    )
    session_id: str = Field(sa_column=Column(TEXT, nullable=False))
    sequence: int = Field(sa_column=Column(BIG, nullable=False))
    event_id: str = Field(sa_column=Column(TEXT, nullable=False))
    type: str = Field(sa_column=Column(TEXT, nullable=False))
    format: int = Field(sa_column=Column(Integer, nullable=False))
    call_id: str | None = Field(default=None, sa_column=Column(TEXT))
    tool: str | None = Field(default=None, sa_column=Column(TEXT))
    schema_version: int | None = Field(default=None, sa_column=Column(BIG))
    turn: int | None = Field(default=None, sa_column=Column(BIG))
    idx: int | None = Field(default=None, sa_column=Column(BIG))
    revision: int | None = Field(default=None, sa_column=Column(BIG))
    attempt: int | None = Field(default=None, sa_column=Column(BIG))
    tenant: str = Field(sa_column=Column(TEXT, nullable=False))
    principal: str | None = Field(default=None, sa_column=Column(TEXT))
    recorded_at: str = Field(sa_column=Column(TEXT, nullable=False))
    record: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class SessionHeadRow(Table, table=True):
    """Where a session stands, and who works on it: `expires_at` is "" where nobody does."""

    __tablename__ = "session_head"

    session_id: str = Field(sa_column=Column(TEXT, primary_key=True))
    sequence: int = Field(sa_column=Column(BIG, nullable=False))
    digest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    owner: str | None = Field(default=None, sa_column=Column(TEXT))
    token: int = Field(sa_column=Column(BIG, nullable=False))
    expires_at: str = Field(sa_column=Column(TEXT, nullable=False))


class CallTableRow(Table, table=True):
    """One call as it stands (`ledger.calls.CallRow`), with the position of its proposal as the key of pages."""

    __tablename__ = "call"
    __table_args__ = (
        UniqueConstraint("session_id", "turn", "idx", "revision", name="call_place"),
        Index(
            "call_key",
            "idempotency_key",
            "tenant",
            unique=True,
            sqlite_where=text("idempotency_key IS NOT NULL"),
            postgresql_where=text("idempotency_key IS NOT NULL"),
        ),
        Index("call_position", "position"),
        Index("call_open", "session_id", "state", sqlite_where=text(IS_OPEN), postgresql_where=text(IS_OPEN)),
        Index("call_tool", "tool", "position", postgresql_where=text("length(tool) < 500")),
        Index(
            "call_copy",
            "duplicate_of",
            sqlite_where=text("duplicate_of IS NOT NULL"),
            postgresql_where=text("duplicate_of IS NOT NULL"),
        ),
        # A call that goes well is in none of these: they cost an append nothing then.
        Index("call_end", "state", "position", sqlite_where=text(IS_BAD_END), postgresql_where=text(IS_BAD_END)),
        Index(
            "call_gate",
            "gate",
            "position",
            sqlite_where=text("gate IS NOT NULL"),
            postgresql_where=text("gate IS NOT NULL AND length(gate) < 500"),
        ),
        Index(
            "call_code",
            "code",
            "position",
            sqlite_where=text("code IS NOT NULL"),
            postgresql_where=text("code IS NOT NULL AND length(code) < 500"),
        ),
        Index(
            "call_class",
            "error_class",
            "position",
            sqlite_where=text("error_class IS NOT NULL"),
            postgresql_where=text("error_class IS NOT NULL AND length(error_class) < 500"),
        ),
        Index(
            "call_reason",
            "reason",
            "position",
            sqlite_where=text("reason IS NOT NULL"),
            postgresql_where=text("reason IS NOT NULL AND length(reason) < 500"),
        ),
        Index(
            "call_stage",
            "stage",
            "position",
            sqlite_where=text("stage <> 'active'"),
            postgresql_where=text("stage <> 'active'"),
        ),
    )

    call_id: str = Field(sa_column=Column(TEXT, primary_key=True))
    position: int = Field(sa_column=Column(BIG, nullable=False))
    session_id: str = Field(sa_column=Column(TEXT, nullable=False))
    turn: int = Field(sa_column=Column(BIG, nullable=False))
    idx: int = Field(sa_column=Column(BIG, nullable=False))
    revision: int = Field(sa_column=Column(BIG, nullable=False))
    tool: str = Field(sa_column=Column(TEXT, nullable=False))
    schema_version: int | None = Field(default=None, sa_column=Column(BIG))
    state: str = Field(sa_column=Column(TEXT, nullable=False))
    effect: str = Field(sa_column=Column(TEXT, nullable=False))
    stage: str | None = Field(default=None, sa_column=Column(TEXT))
    gate: str | None = Field(default=None, sa_column=Column(TEXT))
    code: str | None = Field(default=None, sa_column=Column(TEXT))
    error_class: str | None = Field(default=None, sa_column=Column(TEXT))
    reason: str | None = Field(default=None, sa_column=Column(TEXT))
    duplicate_of: str | None = Field(default=None, sa_column=Column(TEXT))
    attempt: int = Field(sa_column=Column(BIG, nullable=False))
    arguments_digest: str | None = Field(default=None, sa_column=Column(TEXT))
    idempotency_key: str | None = Field(default=None, sa_column=Column(TEXT))
    provider_call_id: str | None = Field(default=None, sa_column=Column(TEXT))
    provider: str | None = Field(default=None, sa_column=Column(TEXT))
    model: str | None = Field(default=None, sa_column=Column(TEXT))
    description_digest: str | None = Field(default=None, sa_column=Column(TEXT))
    tenant: str = Field(sa_column=Column(TEXT, nullable=False))
    principal: str | None = Field(default=None, sa_column=Column(TEXT))
    proposed_at: str = Field(sa_column=Column(TEXT, nullable=False))
    started_at: str | None = Field(default=None, sa_column=Column(TEXT))
    waiting_since: str | None = Field(default=None, sa_column=Column(TEXT))
    ended_at: str | None = Field(default=None, sa_column=Column(TEXT))
    duration_ms: float | None = Field(default=None, sa_column=Column(Double))
    sequence: int = Field(sa_column=Column(BIG, nullable=False))
    model_can_repair: int = Field(sa_column=Column(Integer, nullable=False, server_default=text("0")))


class SessionTagRow(Table, table=True):
    """
    A session has events with this tenant, principal or actor, or was opened with this label (`label:NAME`).

    Written once a session and value, where an index over the events themselves would cost every append a page.
    """

    __tablename__ = "session_tag"
    __table_args__ = ({"sqlite_with_rowid": False},)

    name: str = Field(sa_column=Column(TEXT, primary_key=True))
    value: str = Field(sa_column=Column(TEXT, primary_key=True))
    session_id: str = Field(sa_column=Column(TEXT, primary_key=True))


class CallResourceRow(Table, table=True):
    """A call was started on a resource; `position` is that of the call's first event."""

    __tablename__ = "call_resource"
    __table_args__ = ({"sqlite_with_rowid": False},)

    resource: str = Field(sa_column=Column(TEXT, primary_key=True))
    position: int = Field(sa_column=Column(BIG, primary_key=True, autoincrement=False))
    call_id: str = Field(sa_column=Column(TEXT, nullable=False))


class EventSpanRow(Table, table=True):
    """
    Between which times the events up to `position` were recorded that are behind the span before it.

    Times of recording do not grow with positions (imports, clocks that are set back), so no search by halves finds a
    time; spans tell which events need not be looked at.
    """

    __tablename__ = "event_span"

    position: int = Field(sa_column=Column(BIG, primary_key=True, autoincrement=False))
    earliest: str = Field(sa_column=Column(TEXT, nullable=False))
    latest: str = Field(sa_column=Column(TEXT, nullable=False))


class ToolVersionRow(Table, table=True):
    """A tool's version as this ledger first saw it, by its digests; JSON as canonical bytes."""

    __tablename__ = "tool_version"

    tool: str = Field(sa_column=Column(TEXT, primary_key=True))
    version: int = Field(sa_column=Column(BIG, primary_key=True, autoincrement=False))
    schema_digest: str = Field(sa_column=Column(TEXT, primary_key=True))
    description_digest: str = Field(sa_column=Column(TEXT, primary_key=True))
    schema_: bytes = Field(sa_column=Column("schema", LargeBinary, nullable=False))
    output_schema: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    contract: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    description: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    recorded_at: str = Field(sa_column=Column(TEXT, nullable=False))


class LimitedStartRow(Table, table=True):
    """
    A place that a started call has under a limit (`ledger.store.port.RateGuard`) until `free_at` ("": while it runs).

    Written only by starts that have a limit: an index on `call` would cost every append a page.
    """

    __tablename__ = "limited_start"
    __table_args__ = (Index("limited_start_free", "free_at"), {"sqlite_with_rowid": False})

    limit_key: str = Field(sa_column=Column(TEXT, primary_key=True))
    free_at: str = Field(sa_column=Column(TEXT, primary_key=True))
    call_id: str = Field(sa_column=Column(TEXT, primary_key=True))


class SessionKeyRow(Table, table=True):
    """The key that a session's sealed fields need; destroying it erases them, and the chain still holds."""

    __tablename__ = "session_key"

    session_id: str = Field(sa_column=Column(TEXT, primary_key=True))
    material: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created_at: str = Field(sa_column=Column(TEXT, nullable=False))
