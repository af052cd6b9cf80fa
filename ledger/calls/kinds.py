"""Which question a waiting call puts to a person."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["approval", "doubt", "change"]
"""May it run; did it happen (or: shall it run at all); does it still mean the same."""

CHANGES: Final = ("schema-changed", "tool-retired")
"""The reasons of a flag that say that the tool has changed since."""


def kind_of(state: str, reason: str | None) -> Kind:
    """Return the kind of question that a waiting call puts."""
    if state == "awaiting-approval":
        return "approval"
    return "change" if reason in CHANGES else "doubt"
