"""The roles of a ledger on a server, as SQL for its administrator: who may do what, and nobody may change an event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs, urlsplit

from ledger.errors import UsageError
from ledger.store.chains import COLUMNS

_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,40}")
_SEARCH_PATH: Final = re.compile(r"(?:-c\s*|--)search[_-]path\s*=\s*([^\s,]+)")
_ALL: Final = (
    "alembic_version, call, call_resource, event, event_span, limited_start, session_head, session_tag, tool_version"
)
_EVENT: Final = f"GRANT INSERT ({', '.join((*COLUMNS, 'record', 'digest'))}) ON event TO {{role}};  -- not its position"
_WRITES: Final = {
    "session_head, call": ("INSERT", "UPDATE"),
    "session_tag, call_resource, tool_version": ("INSERT",),
}
_HOSTS: Final = {"limited_start": ("INSERT", "UPDATE", "DELETE"), "session_key": ("SELECT", "INSERT", "DELETE")}

NEEDED: Final[tuple[tuple[str, str], ...]] = (
    ("event", "INSERT"),  # of every column but its position
    *(
        (table, right)
        for tables, rights in {_ALL: ("SELECT",), **_WRITES, **_HOSTS}.items()
        for table in tables.split(", ")
        for right in rights
    ),
)
"""What a host must be allowed to do, as (table, right); it is what `<prefix>_app` may do."""


def roles(prefix: str = "ledger", *, schema: str = "public") -> list[str]:
    """
    Return the lines of the SQL: three roles without login, to be granted to the users that programs log in as.

    `<prefix>_app` is for hosts and workers, `<prefix>_reviewer` for people who give verdicts, `<prefix>_reader` for
    audits. Rights are all that holds them: a setting of a role is not that of its members. It may be run again.
    Raises `UsageError` for a name that is not plain.
    """
    for option, name in (("prefix", prefix), ("schema", schema)):
        if not _NAME.fullmatch(name):
            hint = f"Name another one with --{option}."
            raise UsageError(f"{name!r} is no plain name: small letters, digits and _", hint=hint)
    app, reviewer, reader = (f"{prefix}_{what}" for what in ("app", "reviewer", "reader"))
    return [
        "BEGIN;",
        "-- After `ledger db upgrade`, by `psql -v ON_ERROR_STOP=1`: without it psql hides that something failed.",
        "-- Before PostgreSQL 15 all may make tables in public, until REVOKE CREATE ON SCHEMA public FROM PUBLIC.",
        f"SET LOCAL search_path = {schema};",
        *(_made(role) for role in (app, reviewer, reader)),
        f"GRANT USAGE ON SCHEMA {schema} TO {app}, {reviewer}, {reader};",
        f"GRANT SELECT ON {_ALL} TO {app}, {reviewer}, {reader};",
        f"-- {app}: hosts and workers",
        *_granted({**_WRITES, **_HOSTS}, app),
        f"-- {reviewer}: people who approve, resolve and note",
        *_granted(_WRITES, reviewer),
        f"-- {reader}: audits; it has the right to read, and no other",
        "COMMIT;",
    ]


def schema_of(url: str) -> str:
    """Return the schema that a server's URL names first (`options=-csearch_path=…`), else `public`."""
    options = parse_qs(urlsplit(url).query).get("options", [""])[-1]
    named: list[str] = _SEARCH_PATH.findall(options)
    return named[-1] if named else "public"


def _granted(rights: Mapping[str, tuple[str, ...]], role: str) -> list[str]:
    grants = [f"GRANT {', '.join(each)} ON {tables} TO {role};" for tables, each in rights.items()]
    return [_EVENT.format(role=role), *grants]


def _made(role: str) -> str:
    there = f"SELECT FROM pg_roles WHERE rolname = '{role}'"
    return f"DO $$ BEGIN IF NOT EXISTS ({there}) THEN CREATE ROLE {role} NOLOGIN; END IF; END $$;"
