"""Closed sets that events, calls, gates and the catalog share: each is declared here and nowhere else."""

from __future__ import annotations

from typing import Literal, TypeAlias

Effect: TypeAlias = Literal["read", "write", "external"]
"""`write` changes what this host owns and can look at again, `external` reaches somebody else."""

RecoveryPolicy: TypeAlias = Literal["review", "retry"]
"""What a started call without an outcome leads to, where its tool supports idempotency: a person, or another start."""

Stage: TypeAlias = Literal["active", "hidden", "compat", "removed"]
"""active → hidden (not offered) → compat (answers with its replacement; a read may run) → removed (never runs)."""
