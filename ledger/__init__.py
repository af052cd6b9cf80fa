"""
A durable, event-sourced ledger for the tool calls of LLM agents.

Importing it is cheap: each name is loaded when it is first used (PEP 562); `__init__.pyi` tells type checkers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Allow": "ledger.answers",
    "Ask": "ledger.answers",
    "CallResult": "ledger.session.results",
    "CantTell": "ledger.answers",
    "Context": "ledger.execution.context",
    "Deny": "ledger.answers",
    "DidNotHappen": "ledger.answers",
    "Failed": "ledger.answers",
    "Happened": "ledger.answers",
    "Invalid": "ledger.answers",
    "Ledger": "ledger.session.ledger",
    "LedgerError": "ledger.errors",
    "Limits": "ledger.session.budget",
    "NotFound": "ledger.answers",
    "OutcomeUnknown": "ledger.answers",
    "Rejected": "ledger.answers",
    "Results": "ledger.session.results",
    "Session": "ledger.session.handle",
    "Structured": "ledger.session.structured",
    "Unavailable": "ledger.answers",
}

__all__ = [
    "Allow",
    "Ask",
    "CallResult",
    "CantTell",
    "Context",
    "Deny",
    "DidNotHappen",
    "Failed",
    "Happened",
    "Invalid",
    "Ledger",
    "LedgerError",
    "Limits",
    "NotFound",
    "OutcomeUnknown",
    "Rejected",
    "Results",
    "Session",
    "Structured",
    "Unavailable",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("ledger.version").VERSION
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
