"""Follows a ledger for `audit events --follow`: a row for each event, and the cursor to go on from at the end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import click

from ledger.audit import Tail, find_call
from ledger.audit.rows import stored_to_wire
from ledger.cli.draining import SIGNALS
from ledger.cli.opening import names_of, reading
from ledger.cli.output import Format, Output
from ledger.cli.shell import Shell
from ledger.cli.table import Column
from ledger.replay.summary import summary as summary_of


def followed(
    shell: Shell,
    format: Format | None,
    filters: dict[str, Any],
    columns: Sequence[Column],
    *,
    after: int,
    limit: int | None,
) -> None:
    """Print events, from the first behind `after` on, until a signal comes, or `limit` of them were printed."""
    if format not in (None, "table", "jsonl"):
        raise click.UsageError("--follow goes with --format table or jsonl: what never ends has no other form.")
    out = Output(json=True) if format == "jsonl" else shell.out
    with reading(shell) as reader, _signals() as stopped:
        if filters["call"] is not None:
            filters["call"] = find_call(reader, filters["call"]).call_id
        names = names_of(shell, reader)
        tail = Tail(reader, after=after, wait=stopped.wait, held=_Holders(shell).held, names=names, **filters)
        flow, told, last = out.flow(columns), 0, after
        for stored, event in islice(tail.events(), limit):
            told, last = told + 1, stored.position
            row = stored_to_wire(stored, event)
            out.progressed(row, flow.lines(row | {"summary": summary_of(event.body)}))
            out.narrow(flow.missing())
            if stopped.is_set():
                break
        else:
            last = last if told == limit else tail.cursor
    shell.out.note(f"Go on with --after {last}")


class _Holders:
    """Who keeps events from being final, told once each."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._told = ""

    def held(self, by: str) -> None:
        """Tell of a holder, if it is another one than before."""
        who = by.partition(" (")[0]
        if who != self._told:
            self._told = who
            self._shell.out.note(f"Newer events wait for {by}")


@contextmanager
def _signals() -> Iterator[threading.Event]:
    """Let SIGTERM and Ctrl-C set a flag instead of cutting a line."""
    stopped = threading.Event()
    kept: dict[int, Any] = {number: signal.signal(number, lambda *_: stopped.set()) for number in SIGNALS}
    try:
        yield stopped
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
