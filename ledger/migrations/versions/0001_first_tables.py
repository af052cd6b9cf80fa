"""The first tables; what is written here stays as it is, later changes are later migrations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")
# An index of a server takes 2,700 bytes a row, and what a model calls a tool may be longer.
INDEXABLE = "length({}) < 500"
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")  # by code point, whatever the server's language
IS_RARE = (
    "type NOT IN ('call.authorized', 'call.proposed', 'call.started', 'call.succeeded', 'call.validated',"
    " 'message.recorded', 'turn.recorded')"
)
IS_OPEN = "state NOT IN ('abandoned', 'denied', 'failed', 'rejected', 'succeeded', 'superseded')"

APPEND_ONLY = (
    """
    CREATE TRIGGER event_no_update BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'ledger: an event is never changed'); END
    """,
    """
    CREATE TRIGGER event_no_delete BEFORE DELETE ON event
    BEGIN SELECT RAISE(ABORT, 'ledger: an event is never deleted'); END
    """,
    # INSERT OR REPLACE deletes without the trigger above: so nothing that is there may be hit. A position that is not
    # given reads as -1 here; one that is could be 2^63 - 1 and end all later appends. The CHECK refuses a given -1.
    """
    CREATE TRIGGER event_append BEFORE INSERT ON event
    BEGIN
        SELECT RAISE(ABORT, 'ledger: the position is not yours to give') WHERE NEW.position <> -1;
        SELECT RAISE(ABORT, 'ledger: not the next sequence of the session')
        WHERE NEW.sequence IS NOT
            ifnull((SELECT max(sequence) FROM event WHERE session_id = NEW.session_id), 0) + 1;
        SELECT RAISE(ABORT, 'ledger: the event id is recorded already')
        WHERE EXISTS (SELECT 1 FROM event WHERE session_id = NEW.session_id AND event_id = NEW.event_id);
    END
    """,
)

# ALWAYS: also for those who set session_replication_role. No trigger on each row: that costs 80 % of the speed; unique
# keys and the head's compare-and-set keep the order, an identity that is always generated keeps positions.
VERBS = ("update", "delete", "truncate")
RUN_GUARD = "FOR EACH STATEMENT EXECUTE FUNCTION ledger_append_only()"
APPEND_ONLY_SERVER = (
    """
    CREATE FUNCTION ledger_append_only() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''ledger: an event is never changed or deleted'' USING ERRCODE = ''restrict_violation''; END'
    """,
    *(f"CREATE TRIGGER event_no_{verb} BEFORE {verb} ON event {RUN_GUARD}" for verb in VERBS),
    *(f"ALTER TABLE event ENABLE ALWAYS TRIGGER event_no_{verb}" for verb in VERBS),
    "CREATE FUNCTION ledger_epoch() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1'",
    # Times do not grow with positions everywhere, but mostly: a summary of each few pages is all it needs.
    "CREATE INDEX event_time ON event USING brin (recorded_at) WITH (pages_per_range = 16, autosummarize = on)",
)


def upgrade() -> None:
    """Create the tables, the triggers that keep `event` append-only, and say whose database this is."""
    _event()
    _session_head()
    _call()
    _tool_version()
    _session_key()
    if op.get_context().dialect.name == "postgresql":
        for statement in APPEND_ONLY_SERVER:
            op.execute(statement)
        return
    for trigger in APPEND_ONLY:
        op.execute(trigger)
    op.execute("PRAGMA application_id = 1818584167")  # "ledg", for `file`
    op.execute("PRAGMA user_version = 1")


def _event() -> None:
    op.create_table(
        "event",
        sa.Column("position", BIG, sa.Identity(always=True), primary_key=True, autoincrement=True),
        sa.Column("session_id", TEXT, nullable=False),
        sa.Column("sequence", BIG, nullable=False),
        sa.Column("event_id", TEXT, nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("call_id", TEXT),
        sa.Column("tool", TEXT),
        sa.Column("schema_version", BIG),
        sa.Column("turn", BIG),
        sa.Column("idx", BIG),
        sa.Column("revision", BIG),
        sa.Column("attempt", BIG),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("principal", TEXT),
        sa.Column("recorded_at", TEXT, nullable=False),
        sa.Column("record", sa.LargeBinary, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("session_id", "sequence", name="event_sequence"),
        sa.UniqueConstraint("session_id", "event_id", name="event_once"),
        sa.CheckConstraint("position > 0", name="event_position"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "event_call",
        "event",
        ["call_id", "position"],
        sqlite_where=sa.text("call_id IS NOT NULL"),
        postgresql_where=sa.text("call_id IS NOT NULL"),
    )
    op.create_index(
        "event_type", "event", ["type", "position"], sqlite_where=sa.text(IS_RARE), postgresql_where=sa.text(IS_RARE)
    )
    op.create_index(
        "event_closed",
        "event",
        ["session_id"],
        sqlite_where=sa.text("type = 'session.closed'"),
        postgresql_where=sa.text("type = 'session.closed'"),
    )
    op.create_index(
        "event_tool",
        "event",
        ["tool", "position"],
        sqlite_where=sa.text("tool IS NOT NULL"),
        postgresql_where=sa.text(f"tool IS NOT NULL AND {INDEXABLE.format('tool')}"),
    )


def _session_head() -> None:
    op.create_table(
        "session_head",
        sa.Column("session_id", TEXT, primary_key=True),
        sa.Column("sequence", BIG, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("owner", TEXT),
        sa.Column("token", BIG, nullable=False),
        sa.Column("expires_at", TEXT, nullable=False),
    )


def _call() -> None:
    texts = ("reason", "duplicate_of")
    more = ("idempotency_key", "provider_call_id", "provider", "model", "description_digest")
    times = ("started_at", "waiting_since", "ended_at")
    op.create_table(
        "call",
        sa.Column("call_id", TEXT, primary_key=True),
        sa.Column("position", BIG, nullable=False),
        sa.Column("session_id", TEXT, nullable=False),
        sa.Column("turn", BIG, nullable=False),
        sa.Column("idx", BIG, nullable=False),
        sa.Column("revision", BIG, nullable=False),
        sa.Column("tool", TEXT, nullable=False),
        sa.Column("schema_version", BIG),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("effect", TEXT, nullable=False),
        *(sa.Column(name, TEXT) for name in ("stage", "gate", "code", "error_class", *texts)),
        sa.Column("attempt", BIG, nullable=False),
        sa.Column("arguments_digest", TEXT),
        *(sa.Column(name, TEXT) for name in more),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("principal", TEXT),
        sa.Column("proposed_at", TEXT, nullable=False),
        *(sa.Column(name, TEXT) for name in times),
        sa.Column("duration_ms", sa.Double),
        sa.Column("sequence", BIG, nullable=False),
        sa.UniqueConstraint("session_id", "turn", "idx", "revision", name="call_place"),
    )
    op.create_index("call_position", "call", ["position"])
    op.create_index("call_tool", "call", ["tool", "position"], postgresql_where=sa.text(INDEXABLE.format("tool")))
    op.create_index(
        "call_open", "call", ["session_id", "state"], sqlite_where=sa.text(IS_OPEN), postgresql_where=sa.text(IS_OPEN)
    )
    op.create_index(
        "call_copy",
        "call",
        ["duplicate_of"],
        sqlite_where=sa.text("duplicate_of IS NOT NULL"),
        postgresql_where=sa.text("duplicate_of IS NOT NULL"),
    )
    key = sa.text("idempotency_key IS NOT NULL")
    op.create_index(
        "call_key", "call", ["tenant", "idempotency_key"], unique=True, sqlite_where=key, postgresql_where=key
    )


def _tool_version() -> None:
    op.create_table(
        "tool_version",
        sa.Column("tool", TEXT, primary_key=True),
        sa.Column("version", BIG, primary_key=True, autoincrement=False),
        sa.Column("schema_digest", TEXT, primary_key=True),
        sa.Column("description_digest", TEXT, primary_key=True),
        sa.Column("schema", sa.LargeBinary, nullable=False),
        sa.Column("output_schema", sa.LargeBinary, nullable=False),
        sa.Column("contract", sa.LargeBinary, nullable=False),
        sa.Column("description", sa.LargeBinary, nullable=False),
        sa.Column("recorded_at", TEXT, nullable=False),
    )


def _session_key() -> None:
    op.create_table(
        "session_key",
        sa.Column("session_id", TEXT, primary_key=True),
        sa.Column("material", sa.LargeBinary, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
    )
