"""Which revision of the tables this release works on; known without loading Alembic."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

HEAD: Final = "0003"
"""The newest revision in ledger/migrations/versions."""

EPOCH: Final = 1
"""
Raised by a migration that older releases cannot work beside (a contracting one); kept in `PRAGMA user_version`.

A database with a newer revision of the same epoch is fine: that release only added to it.
"""

Migrate: TypeAlias = Literal["auto", "check", "off"]
