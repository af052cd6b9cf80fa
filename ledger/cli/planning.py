"""A plan of `migrate-schemas` as people read it: groups, the calls that need a person by their reasons, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any, Final

from ledger.cli.commands import copyable
from ledger.cli.looks import called
from ledger.cli.shell import Shell
from ledger.cli.table import tail
from ledger.cli.text import Ink, Line
from ledger.counting import counted
from ledger.schema_migration import Judged, Plan
from ledger.schema_migration.judging import APPROVAL_BOUND
from ledger.strictjson import JsonObject

_MOST_LINES: Final = 20
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "current": ("needs nothing", "need nothing"),
    "migratable": ("can be carried", "can be carried"),
    "needs-person": ("needs a person", "need a person"),
    "invalid": ("is invalid under its own version", "are invalid under their own version"),
    "in-doubt": ("may have happened: its form does not change", "may have happened: their form does not change"),
}


def plan_lines(plan: Plan, now: Mapping[str, str]) -> Iterator[Line]:
    """
    Yield a line a group, then the calls that need a person, those of one reason below it.

    *now*: what tools are called now whose recorded names were given up.
    """
    if not plan.groups:
        yield "No call is open: nothing to carry."
    for group in plan.to_wire()["groups"]:
        grade = f" ({group['grade']})" if group["grade"] else ""
        why = f": {group['code']}" if group["code"] else ""
        words = f"{_calls(group['calls'], *_WORDS[group['status']])}{grade}{why}"
        asks = group["status"] in ("needs-person", "invalid")
        yield (
            Ink(called(group["tool"], now=now.get(group["tool"])), "strong"),
            f"  {_versions(group)}  ",
            Ink(words, "warn") if asks else words,
        )
    reasons: dict[str, list[Judged]] = {}
    for judged in plan.asked[:_MOST_LINES]:
        reasons.setdefault(_reason(judged), []).append(judged)
    for reason, found in reasons.items():
        yield f"  {reason}"
        yield from (f"    {tail(each.call.call_id)}  in {each.call.session_id}" for each in found)
    if plan.needed > _MOST_LINES:
        yield f"  … and {plan.needed - _MOST_LINES} more (--json names them)"


def _calls(number: int, one: str, many: str) -> str:
    """Return how many calls do what."""
    return counted(number, f"call {one}", f"calls {many}")


def _versions(group: Mapping[str, Any]) -> str:
    old, new = group["fromVersion"], group["toVersion"]
    known = "v?" if old is None else f"v{old}"
    return known if new in (None, old) else f"{known} to v{new}"


def _reason(judged: Judged) -> str:
    """Return why a person is asked: of which tool, where in the arguments, and how far the proved steps lead."""
    far = judged.reached if judged.code != APPROVAL_BOUND else None
    reached = f" (proved up to v{far})" if far not in (None, judged.call.schema_version) else ""
    where = f"{judged.pointer}: " if judged.pointer else ""
    return f"{judged.call.tool}{reached}: {where}{judged.message}"


def draft_lines(shell: Shell, drafts: list[JsonObject]) -> Iterator[Line]:
    """Yield each guessed file under the name that it would have."""
    for draft in drafts:
        name = f"{shell.catalog}/{draft['tool']}/v{draft['from']}-v{draft['to']}.upcast.json"
        yield f"A guess at {name}, for whoever asserts it:"
        yield from (Ink(line, None, whole=True) for line in dumps(draft, indent=2, ensure_ascii=False).split("\n"))
    if not drafts:
        yield "Nothing can be guessed."


def end_lines(shell: Shell, plan: Plan, *, carried: int | None, strict: bool, suggested: bool) -> Iterator[Line]:
    """Yield what was done (`carried`: None where nothing was to be), and what to do next."""
    ready = plan.count("migratable")
    if carried is not None:
        yield f"{_calls(carried, 'was carried', 'were carried')}; {_calls(plan.needed, *_WORDS['needs-person'])}."
        if plan.asked_anew:
            yield f"Of the approvals that lapsed a person is asked anew: {_command(shell, 'review', 'list')}."
    elif ready or plan.asked_anew:
        anew = f", {plan.asked_anew} to be asked about anew" if plan.asked_anew else ""
        words = _calls(ready, *_WORDS["migratable"]) + anew
        yield f"Nothing was changed. {words}: {_command(shell, 'migrate-schemas', '--apply')}."
    else:
        yield "Nothing was changed."
    if not suggested and plan.lacks_file:
        yield f"Upcast files are missing; drafts of them: {_command(shell, 'migrate-schemas', '--suggest')}."
    if strict and plan.needed:
        yield Ink(f"Failed by --strict: {_calls(plan.needed, *_WORDS['needs-person'])}.", "bad")


def _command(shell: Shell, *words: str) -> str:
    return f"`{copyable(shell, *words)}`"
