"""
For tests of those who use or extend the ledger; nothing here is loaded by a running program.

`plugin` holds fixtures that pytest finds by itself; all else works without pytest. Each name is loaded when it is
first used; `__init__.pyi` tells type checkers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Crash": "ledger.testing.simulated",
    "Effects": "ledger.testing.effects",
    "ScriptedModel": "ledger.testing.model",
    "assert_valid_export": "ledger.testing.exports",
    "check_export": "ledger.testing.exports",
    "no_second_effect": "ledger.testing.effects",
}

__all__ = ["Crash", "Effects", "ScriptedModel", "assert_valid_export", "check_export", "no_second_effect"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
