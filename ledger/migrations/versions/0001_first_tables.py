"""The first tables; what is written here stays as it is, later changes are later migrations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")
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


def upgrade() -> None:
    """Create the tables, the triggers that keep `event` append-only, and say whose file this is."""
    _event()
    _session_head()
    _call()
    _tool_version()
    _session_key()
    for trigger in APPEND_ONLY:
        op.execute(trigger)
    op.execute("PRAGMA application_id = 1818584167")  # "ledg", for `file`
    op.execute("PRAGMA user_version = 1")


def _event() -> None:
    op.create_table(
        "event",
        sa.Column("position", BIG, primary_key=True, autoincrement=True),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("sequence", BIG, nullable=False),
        sa.Column("event_id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("call_id", sa.Text),
        sa.Column("tool", sa.Text),
        sa.Column("schema_version", BIG),
        sa.Column("turn", BIG),
        sa.Column("idx", BIG),
        sa.Column("revision", BIG),
        sa.Column("attempt", BIG),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("principal", sa.Text),
        sa.Column("recorded_at", sa.Text, nullable=False),
        sa.Column("record", sa.LargeBinary, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("session_id", "sequence", name="event_sequence"),
        sa.UniqueConstraint("session_id", "event_id", name="event_once"),
        sa.CheckConstraint("position > 0", name="event_position"),
        sqlite_autoincrement=True,
    )
    op.create_index("event_call", "event", ["call_id", "position"], sqlite_where=sa.text("call_id IS NOT NULL"))
    op.create_index("event_type", "event", ["type", "position"], sqlite_where=sa.text(IS_RARE))
    op.create_index("event_closed", "event", ["session_id"], sqlite_where=sa.text("type = 'session.closed'"))
    op.create_index("event_tool", "event", ["tool", "position"], sqlite_where=sa.text("tool IS NOT NULL"))


def _session_head() -> None:
    op.create_table(
        "session_head",
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("sequence", BIG, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("token", BIG, nullable=False),
        sa.Column("expires_at", sa.Text, nullable=False),
    )


def _call() -> None:
    texts = ("reason", "duplicate_of")
    more = ("idempotency_key", "provider_call_id", "provider", "model", "description_digest")
    times = ("started_at", "waiting_since", "ended_at")
    op.create_table(
        "call",
        sa.Column("call_id", sa.Text, primary_key=True),
        sa.Column("position", BIG, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("turn", BIG, nullable=False),
        sa.Column("idx", BIG, nullable=False),
        sa.Column("revision", BIG, nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("schema_version", BIG),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("effect", sa.Text, nullable=False),
        *(sa.Column(name, sa.Text) for name in ("stage", "gate", "code", "error_class", *texts)),
        sa.Column("attempt", BIG, nullable=False),
        sa.Column("arguments_digest", sa.Text),
        *(sa.Column(name, sa.Text) for name in more),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("principal", sa.Text),
        sa.Column("proposed_at", sa.Text, nullable=False),
        *(sa.Column(name, sa.Text) for name in times),
        sa.Column("duration_ms", sa.Double),
        sa.Column("sequence", BIG, nullable=False),
        sa.UniqueConstraint("session_id", "turn", "idx", "revision", name="call_place"),
    )
    op.create_index("call_position", "call", ["position"])
    op.create_index("call_tool", "call", ["tool", "position"])
    op.create_index("call_open", "call", ["session_id", "state"], sqlite_where=sa.text(IS_OPEN))
    op.create_index("call_copy", "call", ["duplicate_of"], sqlite_where=sa.text("duplicate_of IS NOT NULL"))
    key = sa.text("idempotency_key IS NOT NULL")
    op.create_index("call_key", "call", ["tenant", "idempotency_key"], unique=True, sqlite_where=key)


def _tool_version() -> None:
    op.create_table(
        "tool_version",
        sa.Column("tool", sa.Text, primary_key=True),
        sa.Column("version", BIG, primary_key=True, autoincrement=False),
        sa.Column("schema_digest", sa.Text, primary_key=True),
        sa.Column("description_digest", sa.Text, primary_key=True),
        sa.Column("schema", sa.LargeBinary, nullable=False),
        sa.Column("output_schema", sa.LargeBinary, nullable=False),
        sa.Column("contract", sa.LargeBinary, nullable=False),
        sa.Column("description", sa.LargeBinary, nullable=False),
        sa.Column("recorded_at", sa.Text, nullable=False),
    )


def _session_key() -> None:
    op.create_table(
        "session_key",
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("material", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
    )
