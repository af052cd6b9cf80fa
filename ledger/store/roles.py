"""The roles of a ledger on a server, as SQL for its administrator: who may do what, and nobody may change an event."""

from __future__ import annotations

import re
from typing import Final

from ledger.errors import UsageError
from ledger.store.chains import COLUMNS

_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,40}")
_ALL: Final = (
    "alembic_version, call, call_resource, event, event_span, limited_start, session_head, session_tag, tool_version"
)
_WRITES: Final = (
    f"GRANT INSERT ({', '.join((*COLUMNS, 'record', 'digest'))}) ON event TO {{role}};  -- never its position",
    "GRANT INSERT, UPDATE ON session_head, call TO {role};",
    "GRANT INSERT ON session_tag, call_resource, tool_version TO {role};",
)


def roles(prefix: str = "ledger", *, schema: str = "public") -> list[str]:
    """
    Return the lines of the SQL: three roles without login, to be granted to the users that programs log in as.

    `<prefix>_app` is for hosts and workers, `<prefix>_reviewer` for people who give verdicts, `<prefix>_reader` for
    audits. It may be run again. Raises `UsageError` for a name that is not plain.
    """
    for name in (prefix, schema):
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no plain name: small letters, digits and _")
    app, reviewer, reader = (f"{prefix}_{what}" for what in ("app", "reviewer", "reader"))
    return [
        "BEGIN;",
        f"SET LOCAL search_path = {schema};",
        *(_made(role) for role in (app, reviewer, reader)),
        f"GRANT USAGE ON SCHEMA {schema} TO {app}, {reviewer}, {reader};",
        f"GRANT SELECT ON {_ALL} TO {app}, {reviewer}, {reader};",
        f"-- {app}: hosts and workers",
        *(line.format(role=app) for line in _WRITES),
        f"GRANT INSERT, UPDATE, DELETE ON limited_start TO {app};",
        f"GRANT SELECT, INSERT, DELETE ON session_key TO {app};",
        f"-- {reviewer}: people who approve, resolve and note",
        *(line.format(role=reviewer) for line in _WRITES),
        f"-- {reader}: audits; it can change nothing",
        f"ALTER ROLE {reader} SET default_transaction_read_only = on;",
        "COMMIT;",
    ]


def _made(role: str) -> str:
    there = f"SELECT FROM pg_roles WHERE rolname = '{role}'"
    return f"DO $$ BEGIN IF NOT EXISTS ({there}) THEN CREATE ROLE {role} NOLOGIN; END IF; END $$;"
