"""What rows look like wherever they are shown: the same columns, tones and places in every table."""

from __future__ import annotations

from typing import Any, Final

from ledger.cli.table import Column, tail
from ledger.cli.text import Tone
from ledger.cli.when import instant, short_instant

_TONES: Final[dict[str, Tone]] = {
    "succeeded": "good",
    "rejected": "bad",
    "denied": "bad",
    "failed": "bad",
    "started": "warn",
    "awaiting-approval": "warn",
    "needs-review": "warn",
}


_ASKS: Final = {"call.flagged": "needs-review", "call.approval_requested": "awaiting-approval"}


def tone_of(state: Any) -> Tone | None:
    """Return the tone of a call's state: what ended well, what ended badly, what is open."""
    return _TONES.get(state)


def tone_of_event(type: Any) -> Tone | None:
    """Return the tone of an event: that of the state it leads to, where its name says one."""
    return _TONES.get(_ASKS.get(type, str(type).removeprefix("call.")))


def place(turn: int | None, index: int | None) -> str:
    """Return where a call stands in its conversation: `3.0` is the first call of the third turn."""
    return "-" if turn is None else f"{turn}" if index is None else f"{turn}.{index}"


def version(number: int | None) -> str:
    """Return a schema version: `v3`, or `-` for a tool that nobody knows."""
    return "-" if number is None else f"v{number}"


WHY: Final = 15
"""Columns that a reason wants: `outcome-unknown` is the one that people have to tell from the others."""


def called(tool: str, *, now: str | None = None, carried: str | None = None, version: str = "") -> str:
    """
    Return a tool's name as it was recorded, and what it is called now where that is another one.

    Of a call that was `carried` to another name: that one, and which it was.
    """
    name = tool if carried is None else carried
    told = [f"was {tool}"] if carried is not None else []
    told += [f"now {now}"] if now not in (None, name) else []
    return f"{name}{version}" + (f" ({', '.join(told)})" if told else "")


CALL: Final = Column(key="callId", title="CALL", show=tail, keep="all")
SESSION: Final = Column(key="sessionId", title="SESSION", keep="all", apart=3)


def named(key: str, title: str | None = None, *, leave: int = 0) -> Column:
    """Return the column of a name that others give: of a tool, a model, a tenant; a model may make up any text."""
    return Column(key=key, title=title, keep="word", leave=leave, apart=9)


TOOL: Final = named("tool")
VERSION: Final = Column(key="schemaVersion", title="V", show=version, keep="all")
STATE: Final = Column(key="state", keep="all", tone=tone_of)


def at(key: str, title: str) -> Column:
    """Return the column of a time, in UTC to the second; without its year where there is no room for it."""
    return Column(key=key, title=title, show=instant, short=short_instant, keep="all")
