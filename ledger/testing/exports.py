"""Whether what a session exports would be accepted: the rules that providers refuse whole conversations for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ledger.history import History
from ledger.providers.check import CHECKS, Problem, check
from ledger.providers.export import export
from ledger.providers.formats import get_format
from ledger.session.handle import Session

Exported: TypeAlias = Session | History | Mapping[str, Any] | Sequence[Any]
"""A session, or what was exported of one: the body of a request, or its messages."""


def check_export(exported: Exported, format: str = "openai") -> list[Problem]:
    """
    Return what the provider of this format would refuse; empty: nothing.

    A session is exported first. Raises `UsageError` for a format without a check.
    """
    history = exported.history if isinstance(exported, Session) else exported
    body = export(history, get_format(format)) if isinstance(history, History) else history
    return check(format, body)


def assert_valid_export(exported: Exported, *formats: str) -> None:
    """Fail with every problem of these formats; none named: of all that have a check (for a session)."""
    problems = [f"{name}: {problem}" for name in formats or CHECKS for problem in check_export(exported, name)]
    if problems:
        raise AssertionError("the export would be refused:\n" + "\n".join(problems))
