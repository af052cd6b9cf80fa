"""Repairs a transcript that a provider refuses: imported into memory and told again, valid and honestly marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ledger.events import read_event
from ledger.history import History
from ledger.importing.report import Problem, SessionReport
from ledger.importing.run import Wanted, imported
from ledger.importing.sources import Source
from ledger.providers.check import check
from ledger.providers.export import export
from ledger.providers.formats import FORMATS, get_format
from ledger.store.memory import MemoryStore
from ledger.store.port import Store
from ledger.strictjson import JsonObject

_PAGE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """
    A session told again: `body` is what a request to the provider of the wire format `format` holds.

    `report` counts what it holds, among it the calls without a result; `refused` is what the provider would still not
    take (nothing, if all is well).
    """

    report: SessionReport
    format: str
    body: JsonObject
    refused: tuple[str, ...] = ()


def repaired(source: Source, to: str | None = None, wanted: Wanted | None = None) -> Iterator[Repaired | Problem]:
    """
    Yield each session of a transcript as a provider takes it; nothing is kept.

    A call without a result is answered by a fixed text that says that its outcome is unknown. `to`: a wire format;
    None: the one that the session is of. Holds one session at a time. Raises `UsageError` for a format that is none.
    """
    if to is not None:
        get_format(to)
    current: list[Store] = []

    def fresh() -> Store:
        current[:] = [MemoryStore()]
        return current[0]

    for told in imported(source, fresh, wanted or Wanted()):
        if isinstance(told, Problem):
            yield told
        else:
            yield _told(told, current[0], to or source.format)


def _told(report: SessionReport, store: Store, to: str) -> Repaired:
    history = _history(store, report.session_id)
    name = to if to in FORMATS else format_of(history)
    body = export(history, get_format(name))
    refused = tuple(f"message {each.place}: {each.message}" for each in check(name, body))
    return Repaired(report=report, format=name, body=body, refused=refused)


def format_of(history: History) -> str:
    """Return the wire format that a session is of: that of its last turn's provider, else `openai`."""
    providers = (turn.body.provider for turn in reversed(history.turns))
    return next((provider for provider in providers if provider in FORMATS), "openai")


def _history(store: Store, session_id: str) -> History:
    history = History(session_id)
    while page := store.read(session_id, after=history.sequence, limit=_PAGE):
        for stored in page:
            history.load(read_event(stored.record, stored))
    return history
