"""Prints a replay in each of its forms; a long session flows, it is never held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os.path import commonprefix
from typing import Final, NamedTuple, cast

from ledger.calls import Call
from ledger.cli.looks import CALL, TOOL, place, tone_of_event
from ledger.cli.output import FORMATS, Format
from ledger.cli.rows import Row, json_array
from ledger.cli.shell import Shell
from ledger.cli.table import WHOLE, Column, plain, tail
from ledger.cli.when import short_instant
from ledger.counting import counted
from ledger.providers.formats import get_format
from ledger.providers.port import WireFormat
from ledger.replay import ReplayRow, begins_with_instructions, compare, replay_json, replay_messages, replay_rows
from ledger.replay.shapes import Shaped, Shaping
from ledger.store.port import Reader

COLUMNS: Final = (
    Column(key="sequence", title="SEQ", keep="all"),
    Column(key="recordedAt", title="TIME (UTC)", show=short_instant, keep="all", leave=2),
    Column(key="place", title="TURN", keep="all"),
    Column(key="type", keep="all", tone=tone_of_event),
    replace(TOOL, leave=3),
    replace(CALL, leave=1),
    Column(key="summary", title="WHAT", wants=20),
)
_MOST_NOTES: Final = 20
_ALIKE: Final = 8
"""Characters that are shown in front of a difference."""


class _Side(NamedTuple):
    """A value as text, and the one beside it."""

    text: str
    other: str


def _side(side: _Side | None) -> str:
    return plain(side and side.text)


def _from_difference(side: _Side | None) -> str:
    """Return a value from where it is another one: what both begin with says nothing, and may be all that has room."""
    if side is None:
        return plain(None)
    alike = len(commonprefix(side)) - _ALIKE  # noqa: RUF071 - texts, no paths
    return "..." + side.text[alike:] if alike > len("...") else side.text


DIFFERENCES: Final = (
    Column(key="turn", keep="all"),
    Column(key="index", keep="all"),
    Column(key="field", keep="all"),
    Column(key="a", show=_side, short=_from_difference, wants=WHOLE),
    Column(key="b", show=_side, short=_from_difference, wants=WHOLE),
)


class Replay:
    """One session as it was after the event `at` (None: now)."""

    def __init__(self, shell: Shell, reader: Reader, session_id: str, at: int | None, *, shaped: bool = False) -> None:
        self._shell = shell
        self._reader = reader
        self._session_id = session_id
        self._at = at
        self._shaping = Told(newest(shell, reader)) if shaped else None

    def tell(self, format: str | None) -> None:
        """Print it as a table, as rows, as the document (`json`), or as messages of a provider."""
        out = self._shell.out
        if self._shell.json or format == "json":
            out.document(replay_json(self._reader, self._session_id, self._at, shaping=self._shaping))
        elif format is None or format in FORMATS:
            people = format in (None, "table")
            out.rows(self._rows(people=people), COLUMNS, format=format)
        else:
            self._messages(get_format(format))

    def _messages(self, wire: WireFormat) -> None:
        out = self._shell.out
        told = replay_messages(self._reader, self._session_id, wire, at=self._at, shaping=self._shaping)
        out.document(json_array(told))
        for note in self._shaping.notes() if self._shaping else ():
            out.note(note)
        if wire.system_apart and begins_with_instructions(self._reader, self._session_id, self._at):
            out.note(f"In the format {wire.name} the instructions stand beside the messages: they are not among these.")

    def _rows(self, *, people: bool) -> Iterator[Row]:
        for row in replay_rows(self._reader, self._session_id, self._at, shaping=self._shaping):
            wire = row.to_wire()
            if self._shaping is not None:
                wire.setdefault("asVersion", None)  # a CSV takes its columns from the first row
            yield {**wire, **_for_people(row)} if people else {**wire, "raw": row.raw}

    def equals(self, other: str, format: str | None) -> bool:
        """Print what differs in another session and say whether nothing does."""
        found = [difference.to_wire() for difference in compare(self._reader, self._session_id, other)]
        same = f"{self._session_id} and {other} are equal."
        people = format in (None, "table") and not self._shell.json
        rows = map(_beside, found) if people else found
        self._shell.out.rows(rows, DIFFERENCES, format=cast("Format | None", format), empty=same)
        return not found


def _beside(row: Row) -> Row:
    """Return a difference with its two values as texts, each knowing the other."""
    a, b = plain(row["a"]), plain(row["b"])
    sides = {"a": _Side(a, b), "b": _Side(b, a)}
    return {**row, **{key: side for key, side in sides.items() if row[key] is not None}}


class Told:
    """Shapes calls, and knows afterwards which of them are not in the newest form."""

    def __init__(self, shaping: Shaping) -> None:
        self._shaping = shaping
        self._left: dict[str, str] = {}

    def __call__(self, call: Call) -> Shaped:
        """Return how the call reads."""
        shaped = self._shaping(call)
        if shaped.code is not None:
            version = f"v{shaped.version}" if shaped.version else "it was"
            self._left[call.call_id] = f"{tail(call.call_id)}, {call.tool}, is told as {version}: {shaped.message}"
        return shaped

    def notes(self) -> list[str]:
        """Return a line for each call that messages cannot tell in the newest form."""
        found = list(self._left.values())
        left = len(found) - _MOST_NOTES
        more = [f"… and {counted(left, 'call')} more (--json tells of each)."] if left > 0 else []
        return [*found[:_MOST_NOTES], *more]


def newest(shell: Shell, reader: Reader) -> Shaping:
    """Return what shapes calls by the catalog; raises CatalogFault where there is none."""
    from ledger.catalog import Registry, load_catalog  # only this option needs the catalog, and the proofs
    from ledger.schema_migration.newest import Newest

    return Newest(Registry(load_catalog(shell.catalog)), reader)


def _for_people(row: ReplayRow) -> Row:
    """Return what a table says more shortly: the place in the conversation, and a state that the type does not say."""
    implied = row.state is None or row.type == f"call.{row.state}"
    return {
        "place": place(row.turn, row.index),
        "summary": row.summary if implied else f"is {row.state}; {row.summary}",
    }
