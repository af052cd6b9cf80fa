"""Which turn is it? The same one again, another content at its place, or a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ledger.calls import Call
from ledger.errors import DivergentTurn, UsageError
from ledger.history import History, Turn
from ledger.session.redaction import MASK
from ledger.strictjson import canonical

Texts: TypeAlias = tuple[str | None, ...]
"""What a reply says: as it came, and as it would be recorded where that differs."""


def _as_recorded(call: Call, arguments: Any) -> bool:
    return canonical(arguments) == canonical(call.arguments)


@dataclass(frozen=True, slots=True)
class Shape:
    """
    What of a proposal counts for sameness: the tool, and the arguments (or the raw text that is none).

    `same` compares a recorded call's arguments with these, in the form of one version; `home` says which name a
    recorded tool has now, as `tool` does. `key` is the host's own for this call, where it gives one.
    """

    tool: str
    arguments: Any
    raw: str | None
    same: Callable[[Call, Any], bool] = _as_recorded
    home: Callable[[str], str] = str
    key: str | None = None

    def equals(self, call: Call) -> bool:
        """Whether a recorded call asks for the same; provider ids are ignored, 1 and 1.0 are kept apart."""
        if self.tool != self.home(call.tool):
            return False
        if self.arguments is None or call.arguments is None:
            return self.arguments is call.arguments and (call.redacted or self.raw == call.raw_arguments)
        return self.same(call, self.arguments)

    def keyed_apart(self, call: Call) -> bool:
        """Whether the host gave both a key, and not the same one: then it means another call, whatever it asks for."""
        return None not in (self.key, call.given_key) and self.key != call.given_key


def find_turn(
    history: History,
    shapes: Sequence[Shape],
    *,
    texts: Texts,
    response_id: str | None,
    given: int | None,
    delivered: int,
) -> Turn | None:
    """
    Return the recorded turn that this one is, or None for a new turn.

    The given number decides; else the same response id with equal calls; else, while the last recorded turn was not
    delivered in this handle, equal calls that the host did not give another key. Everything else is new: models do
    repeat a turn word for word (550 of 743 repeats of provider ids in real sessions). An answer without calls is also
    the turn that its number or response id names where the text is not kept, or is masked in part. Raises
    `DivergentTurn` where another content is recorded at the given number, `UsageError` for a number out of reach.
    """
    last = history.turns[-1] if history.turns else None
    if given is not None:
        return _given(history, shapes, texts, given)
    again = history.responses.get(response_id or "")
    if again is not None and _same(history, again, shapes, texts, named=True):
        return again
    if last is not None and last.number > delivered and _same(history, last, shapes, texts, named=False):
        apart = any(shape.keyed_apart(call) for shape, call in zip(shapes, _first_calls(history, last), strict=True))
        return None if apart else last
    return None


def _given(history: History, shapes: Sequence[Shape], texts: Texts, given: int) -> Turn | None:
    following = history.turns[-1].number + 1 if history.turns else 1
    if not 1 <= given <= following:
        raise UsageError(f"turn={given} is out of reach: turns count from 1 and the next one is {following}")
    if given == following:
        return None
    turn = history.turn(given)
    if turn is None or not _same(history, turn, shapes, texts, named=True):
        expected = _named(tuple(call.tool for call in history.turn_calls(turn))) if turn else "an unreadable turn"
        got = _named(tuple(shape.tool for shape in shapes))
        raise DivergentTurn(given, expected=expected, got=got if got != expected else f"other content for {got}")
    return turn


def _named(tools: tuple[str, ...]) -> str:
    return f"calls of {', '.join(tools)}" if tools else "a text"


def _first_calls(history: History, turn: Turn) -> list[Call]:
    """Return what the turn asked for, before a person put anything in its place."""
    return [history.calls[slot[0]] for slot in turn.slots if slot]


def _same(history: History, turn: Turn, shapes: Sequence[Shape], texts: Texts, *, named: bool) -> bool:
    first = _first_calls(history, turn)
    if len(first) != len(shapes):
        return False
    if not shapes:
        return turn.body.text in texts or (named and _may_be(history, turn.body.text, texts[0]))
    return all(shape.equals(call) for shape, call in zip(shapes, first, strict=True))


def _may_be(history: History, recorded: str | None, text: str | None) -> bool:
    """Whether a turn's text, of which some or all is not recorded, may have been this one."""
    if recorded is None:
        return history.opened is not None and history.opened.transcript != "full"
    first, *rest = recorded.split(MASK)
    if text is None or not rest or not text.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return text[at:].endswith(rest[-1])
