"""Drafts a tool's schema from what the ledger recorded, for `tool infer`."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from pathlib import Path
from typing import Final

from ledger.audit.reading import placed_calls, stored_events
from ledger.audit.tools import recorded_tools
from ledger.catalog.definition import Catalog
from ledger.catalog.files import load_catalog
from ledger.catalog.infer import Inference
from ledger.catalog.lists import META
from ledger.catalog.names import check_name, folder_of
from ledger.cli.growing import write_files
from ledger.cli.opening import catalog_folder, reading
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.text import Ink, Line
from ledger.counting import counted
from ledger.errors import CatalogFault, NotKnown
from ledger.events import CallProposed, read_event
from ledger.session.redaction import MASK
from ledger.store.port import CallFilter, EventFilter, Reader

_WRONG: Final = ("decode", "schema", "business")
"""Gates that found the arguments wrong: what they refused is no example of what the tool takes."""


def inferred(shell: Shell, name: str, *, write: bool) -> Row:
    """Draft the schema of a tool. Raises NotKnown where no call of it is recorded, CatalogFault where it may not be."""
    if write:
        _check_free(shell, name)
    with reading(shell) as reader:
        inference, left_out, effect = _seen(reader, name)
        recorded = recorded_tools(reader).get(name)
    if not inference.calls:
        raise NotKnown(
            f"no call of {name!r} with arguments is recorded", code="unknown_tool", hint="See `ledger tool`."
        )
    schema = inference.schema()
    words = max(recorded.versions.items())[1].body.description if recorded and recorded.versions else None
    written = _write(shell, name, schema, words, effect) if write else []
    return {"tool": name, "calls": inference.calls, "leftOut": left_out, "schema": schema, "written": written}


def _check_free(shell: Shell, name: str) -> None:
    folder = catalog_folder(shell)
    catalog = load_catalog(folder) if folder is not None else Catalog(tools={}, digest="")
    catalog.check_not_given_up(name, "Its calls belong to {}: make a draft of the next version of that.")
    if name in catalog.tools or any(fault.tool == name for fault in catalog.faults):
        hint = f"Make a draft of its next version, and edit that: `ledger tool new-version {name}`."
        raise CatalogFault(f"the catalog has the tool {name} already", hint=hint)


def _seen(reader: Reader, name: str) -> tuple[Inference, int, str]:
    """Return what was sent, how many calls were left out, and the effect of the last one."""
    inference, effect = Inference(), "external"
    wrong = {
        placed.row.call_id
        for placed in placed_calls(reader, CallFilter(tool=name, states=("rejected",)))
        if placed.row.gate in _WRONG
    }
    left_out = 0
    for stored in stored_events(reader, EventFilter(types=("call.proposed",), tool=name)):
        event = read_event(stored.record, stored)
        body = event.body
        if not isinstance(body, CallProposed) or not isinstance(body.arguments, dict) or event.call_id in wrong:
            left_out += 1
            continue
        inference.add(body.arguments, session=event.session_id, hidden=MASK if body.redacted else None)
        effect = body.effect
    return inference, left_out, effect


def _write(shell: Shell, name: str, schema: Row, words: str | None, effect: str) -> list[str]:
    check_name(name)
    described = {"description": words} if words else {}
    versions = {"1": {"contract": {"effect": effect}}}
    document = {"$schema": META, "name": name, **described, "current": 1, "versions": versions}
    folder = Path(shell.catalog) / folder_of(name)
    files = {"v1.json": schema, "tool.json": document}
    write_files(folder, files)
    return [str(folder / file) for file in files]


def inferred_lines(data: Row) -> Iterator[Line]:
    """Yield the draft as a file holds it, so that it can be sent into one."""
    for line in dumps(data["schema"], indent=2, ensure_ascii=False).split("\n"):
        yield Ink(line, None, whole=True)


def inferred_notes(data: Row) -> Iterator[str]:
    """Yield what a person has to know of it."""
    out = f"; {counted(data['leftOut'], 'was', 'were')} left out: refused, or no JSON object" if data["leftOut"] else ""
    yield f"Drafted from {counted(data['calls'], 'call')}{out}."
    yield "Describe each field, add bounds and units, and close it (additionalProperties: false) if these are all."
    for path in data["written"]:
        yield f"written  {path}"
