"""Plans and applies upcasts for the command line, and tells what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ledger.catalog.words import meant
from ledger.cli.answering import answering
from ledger.cli.faults import DONE, FAILED, WAITS, fault_of
from ledger.cli.opening import catalog_folder
from ledger.cli.planning import draft_lines, end_lines, plan_lines
from ledger.cli.shell import Shell
from ledger.cli.text import Ink, Line
from ledger.errors import CatalogFault, LedgerError, UsageError
from ledger.schema_migration import Plan, planned
from ledger.schema_migration.plan import Scope
from ledger.session.ledger import Ledger
from ledger.strictjson import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the command line asks for; the options are checked."""

    tool: str | None
    session: str | None
    to: int | None
    apply: bool
    strict: bool
    suggest: bool
    every: bool


@dataclass(slots=True)
class _Told:
    """The plan, with what applying it did."""

    applied: bool
    plan: Plan = field(default_factory=Plan)
    carried: int = 0
    drafts: list[JsonObject] | None = None
    errors: list[tuple[str, LedgerError]] = field(default_factory=list)

    def to_wire(self) -> dict[str, Any]:
        failed = [{"sessionId": session_id, **fault_of(error).to_wire()} for session_id, error in self.errors]
        drafts = {} if self.drafts is None else {"drafts": self.drafts}
        return {"applied": self.applied, "carried": self.carried, **self.plan.to_wire(), **drafts, "errors": failed}


def run(shell: Shell, wanted: Wanted) -> int:
    """Do what is wanted, print it, and return the exit status."""
    scope = Scope(tool=wanted.tool, session=wanted.session, every=wanted.every, to=wanted.to)
    told = _Told(applied=wanted.apply)
    if catalog_folder(shell) is None:
        hint = "Name the folder of the release's tools with --catalog."
        raise CatalogFault("there is no catalog folder here", path=str(Path(shell.catalog)), hint=hint)
    with answering(shell, read_only=not wanted.apply) as ledger:
        _known(ledger, wanted)
        if wanted.apply:
            _apply(shell, ledger, scope, told)
        else:
            for judged in shell.out.progress(planned(ledger.reader, ledger.registry, scope), "Planning"):
                told.plan.add(judged)
            told.drafts = list(_drafts(ledger, told.plan)) if wanted.suggest else None
        now = {name: ledger.registry.home(name) for name in ledger.registry.given_up}
    shell.out.show(told.to_wire(), _lines(shell, wanted, told, now))
    if told.errors or (wanted.strict and told.plan.needed):
        return FAILED
    return WAITS if wanted.apply and told.plan.needed else DONE


def _drafts(ledger: Ledger, plan: Plan) -> Iterator[JsonObject]:
    """Yield a guess of each upcast file that the plan misses, where one can be made; names mislead, so none counts."""
    from ledger.catalog.upcast.suggest import suggest

    home = ledger.registry.home  # a tool's earlier names are in the records only
    missed = {(home(each.call.tool), each.reached or 0) for each in plan.asked if each.code == "no_upcast"}
    for tool, reached in sorted(missed):
        definition = ledger.registry.definition(tool)
        versions = definition.versions if definition is not None else {}
        later = min((number for number in versions if number > reached), default=reached)
        draft = suggest(versions[reached], versions[later])
        if draft is not None:
            yield draft


def _known(ledger: Ledger, wanted: Wanted) -> None:
    """Refuse a tool or a version that the catalog does not have: an empty plan would look like good news."""
    if wanted.tool is None:
        return
    definition = ledger.registry.defined_now(wanted.tool)
    if definition is None:
        hint = "Name it as `ledger tool` does, or give --catalog."
        near = meant(wanted.tool, ledger.registry.names)
        raise UsageError(f"the catalog has no tool {wanted.tool!r}{near}", hint=hint)
    if wanted.to is not None and wanted.to not in definition.versions:
        there = ", ".join(f"v{number}" for number in definition.versions)
        raise UsageError(f"{wanted.tool} has no version {wanted.to}", hint=f"There are {there}.")


def _apply(shell: Shell, ledger: Ledger, scope: Scope, told: _Told) -> None:
    from ledger.session.migrating import migrate

    for session in shell.out.progress(migrate(ledger, scope), "Carrying"):
        told.carried += session.carried
        for judged in session.judged:
            told.plan.add(judged)
        if session.error is not None:
            told.errors.append((session.session_id, session.error))


def _lines(shell: Shell, wanted: Wanted, told: _Told, now: Mapping[str, str]) -> Iterator[Line]:
    yield from plan_lines(told.plan, now)
    if told.drafts is not None:
        yield from draft_lines(shell, told.drafts)
    for session_id, error in told.errors:
        yield (Ink(session_id, "strong"), ": ", Ink(fault_of(error).words, "bad"))
    carried = told.carried if told.applied else None
    yield from end_lines(shell, told.plan, carried=carried, strict=wanted.strict, suggested=wanted.suggest)
