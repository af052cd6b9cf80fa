"""Checks the defaults that the ledger fills in (`applyDefaults`): what is filled in has to fit the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ledger.catalog.compile import compile_guarded
from ledger.catalog.defaults import DefaultsWithoutEnd, fillings
from ledger.catalog.definition import ToolVersion
from ledger.catalog.guarding import guarded_of
from ledger.catalog.notes import Note


def default_notes(versions: Sequence[ToolVersion]) -> Iterator[Note]:
    """Yield the defaults of these versions with which no call could run."""
    for version in versions:
        if version.contract.apply_defaults:
            yield from _version(version)


def _version(version: ToolVersion) -> Iterator[Note]:
    guarded = guarded_of(version)
    schema = compile_guarded(guarded, version.formats)
    for place, value in fillings(guarded.schema, guarded.nodes):
        if isinstance(value, DefaultsWithoutEnd):
            message = "this default leads to more defaults without an end"
        elif violations := schema.violations_at(place, value):
            first = violations[0]
            inside = f"{first.pointer}: " if first.pointer else ""
            message = f"the schema refuses this default: {inside}{first.message}"
        else:
            continue
        yield Note(
            code="default_refused",
            tool=version.tool,
            version=version.version,
            path=version.path,
            pointer=f"{place}/default",
            message=message,
            hint="A call that it would be filled into is refused. Correct it, or take `applyDefaults` out.",
        )
