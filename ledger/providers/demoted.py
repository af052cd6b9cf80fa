"""Calls of tools that are no longer declared, told as text: the call and its result together, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ledger.events.session_bodies import TurnRecorded
from ledger.providers.port import Answered
from ledger.providers.rendering import arguments_object
from ledger.strictjson import canonical

CALLED: Final = "[Call of a tool that is no longer offered]"
ANSWERED: Final = "[Result of a tool that is no longer offered]"


def demoted_turn(turn: TurnRecorded, gone: Sequence[Answered]) -> TurnRecorded:
    """
    Return the turn with these calls in its text.

    Its opaque items go with them: reasoning without the call that it led to is refused
    (https://github.com/pydantic/pydantic-ai/issues/3230).
    """
    calls = [f"{CALLED} {each.call.tool} {canonical(arguments_object(each.call)).decode()}" for each in gone]
    return replace(turn, items=None, text="\n".join(filter(None, (turn.text, *calls))))


def demoted_results(gone: Sequence[Answered]) -> str:
    """Return what the calls were answered with, as a text of the user's role."""
    return "\n".join(f"{ANSWERED} {each.call.tool} {each.text}" for each in gone)
