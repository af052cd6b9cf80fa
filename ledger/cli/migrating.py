"""Plans and applies upcasts for the command line, and tells what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ledger.cli.answering import answering
from ledger.cli.commands import copyable
from ledger.cli.faults import DONE, FAILED, WAITS, fault_of
from ledger.cli.rows import dumps
from ledger.cli.shell import Shell
from ledger.cli.table import tail
from ledger.cli.text import Ink, Line
from ledger.errors import LedgerError, UsageError
from ledger.schema_migration import Judged, Plan, planned
from ledger.schema_migration.plan import Scope
from ledger.session.ledger import Ledger
from ledger.strictjson import JsonObject

_MOST_LINES: Final = 20
_WORDS: Final = {
    "current": "need nothing",
    "migratable": "can be carried",
    "needs-person": "need a person",
    "invalid": "are invalid under their own version",
    "in-doubt": "may have happened: their form does not change",
}


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
    with answering(shell, read_only=not wanted.apply) as ledger:
        _known(ledger, wanted)
        if wanted.apply:
            _apply(shell, ledger, scope, told)
        else:
            for judged in shell.out.progress(planned(ledger.reader, ledger.registry, scope), "Planning"):
                told.plan.add(judged)
            told.drafts = list(_drafts(ledger, told.plan)) if wanted.suggest else None
    shell.out.show(told.to_wire(), _lines(shell, told))
    if told.errors or (wanted.strict and told.plan.needed):
        return FAILED
    return WAITS if wanted.apply and told.plan.needed else DONE


def _drafts(ledger: Ledger, plan: Plan) -> Iterator[JsonObject]:
    """Yield a guess of each upcast file that the plan misses, where one can be made; names mislead, so none counts."""
    from ledger.catalog.upcast.suggest import suggest

    missed = {(each.call.tool, each.reached or 0) for each in plan.asked if each.code == "no_upcast"}
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
    definition = ledger.registry.definition(wanted.tool)
    if definition is None:
        hint = "Name it as `ledger tool` does, or give --catalog."
        raise UsageError(f"the catalog has no tool {wanted.tool!r}", hint=hint)
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


def _lines(shell: Shell, told: _Told) -> Iterator[Line]:
    if not told.plan.groups:
        yield "No call is open: nothing to carry."
    for group in told.plan.to_wire()["groups"]:
        versions = f"v{group['fromVersion'] or '?'} to v{group['toVersion'] or '?'}"
        grade = f" ({group['grade']})" if group["grade"] else ""
        why = f": {group['code']}" if group["code"] else ""
        asks = group["status"] in ("needs-person", "invalid")
        words = f"{group['calls']} {_WORDS[group['status']]}{grade}{why}"
        yield (Ink(group["tool"], "strong"), f"  {versions}  ", Ink(words, "warn") if asks else words)
    for judged in told.plan.asked[:_MOST_LINES]:
        yield _asked(judged)
    if len(told.plan.asked) > _MOST_LINES:
        yield f"  … and {told.plan.needed - _MOST_LINES} more (--json names them)"
    for draft in told.drafts or ():
        yield f"A guess at {draft['tool']}/v{draft['from']}-v{draft['to']}.upcast.json, for whoever asserts it:"
        yield dumps(draft)
    if told.drafts == []:
        yield "Nothing can be guessed."
    for session_id, error in told.errors:
        yield (Ink(session_id, "strong"), ": ", Ink(fault_of(error).words, "bad"))
    yield _end(shell, told)


def _asked(judged: Judged) -> Line:
    call = judged.call
    reached = f", carried to v{judged.reached}" if judged.reached not in (None, call.schema_version) else ""
    return f"  {tail(call.call_id)}  {call.tool} in {call.session_id}{reached}: {judged.message}"


def _end(shell: Shell, told: _Told) -> Line:
    ready = told.plan.count("migratable")
    if told.applied:
        return f"{told.carried} carried; {told.plan.needed} need a person."
    if ready:
        return f"Nothing was changed. {ready} can be carried: `{copyable(shell, 'migrate-schemas', '--apply')}`."
    return "Nothing was changed."
