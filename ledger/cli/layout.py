"""Pieces of a page for people: headings, named facts and blocks of text, as lines for the door to print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ledger.cli.table import plain
from ledger.cli.text import Ink, Line, Part, width

_INDENT: Final = "  "


def heading(text: str) -> list[Line]:
    """Return an empty line and a heading."""
    return ["", Ink(text, "strong")]


def facts(named: Mapping[str, object]) -> list[Line]:
    """Return one line a fact, the values below each other. An `Ink` keeps its tone, other values are shown `plain`."""
    room = max(map(width, named), default=0)
    return [
        (_INDENT, Ink(name + " " * (room - width(name)), "dim"), _INDENT, _part(value)) for name, value in named.items()
    ]


def block(text: str, *, indent: str = _INDENT) -> list[Line]:
    """Return a text of several lines indented, so that no line of data can pass for one of ours."""
    return [(indent, line) for line in text.replace("\r\n", "\n").split("\n")]


def bullets(items: Iterable[Part]) -> list[Line]:
    """Return one indented line an item, with a dash that every encoding has."""
    return [(_INDENT, "- ", item) for item in items]


def _part(value: object) -> Part:
    return value if isinstance(value, Ink) else plain(value)
