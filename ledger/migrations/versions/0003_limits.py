"""Who has a place under a limit; a table of its own, so that starts without a limit write nothing more."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table; a limit counts from when it is declared, so there is nothing to fill in."""
    op.create_table(
        "limited_start",
        sa.Column("limit_key", TEXT, primary_key=True),
        sa.Column("free_at", TEXT, primary_key=True),
        sa.Column("call_id", TEXT, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("limited_start_free", "limited_start", ["free_at"])
