"""The page of one question to a person: the doubt, what is known, the runbook, and the answers to copy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from json import dumps
from typing import Any, Final

from ledger.audit import Names, call_story, find_call
from ledger.audit.questions import Answers, answers, question, runs
from ledger.audit.repeating import Repeated, may_repeat, repeated_by
from ledger.audit.tools import recorded_tools
from ledger.calls import TERMINAL, WAITING, Call, kind_of
from ledger.catalog import Registry, ToolDefinition, load_catalog
from ledger.cli.commands import copyable
from ledger.cli.layout import block, bullets, heading
from ledger.cli.opening import catalog_folder
from ledger.cli.pages import arguments, besides, known, outcome, title, value
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.table import plain, tail
from ledger.cli.text import Ink, Line
from ledger.errors import CatalogFault, UnknownCall
from ledger.ids import iso
from ledger.schema_migration.approving import Foreseen, foreseen
from ledger.schema_migration.drafting import Draft, draft_of
from ledger.schema_migration.meaning import meaning_between
from ledger.store.port import EventFilter, Reader

_MEANINGS: Final[dict[str, str]] = {
    "approve": "let it run, once, with exactly these arguments",
    "deny": "refuse it; the model is told",
    "--happened": "it happened; put what it returned behind it as JSON, if you know",
    "--did-not-happen": "it surely did not happen: it ends as failed",
    "--did-not-happen --run": "it surely did not happen: send it again",
    "--did-not-happen --arguments": "it surely did not happen: send it with other arguments",
    "--run": "let it run now",
    "--abandon": "give it up: it never runs (again)",
    "--arguments": "let a new call with other arguments take its place",
}
_ANY: Final = "{...}"
_LATE: Final = "it happened: take the late outcome"
_NOT_YET: Final = "allow exactly these arguments, which run only where their version still does"
_LAPSES: Final = "; it runs only where its version still does, and is asked about anew elsewhere"
_FIRST: Final = "carry it to the current version first: what is allowed then runs"
_CLOSED: Final = ("session.closed",)
_HOLE: Final = re.compile(r"\{(\w+)\}")


def question_of(shell: Shell, reader: Reader, call: Call) -> Row:
    """Return a call's story with the question it puts, how to find out what happened, and the commands that answer."""
    registry = _registry(shell)
    story = call_story(reader, call, Names.of(registry.catalog if registry is not None else None))
    waits = call.state in WAITING
    definition = registry.defined_now(call.tool) if registry is not None else None
    closed = waits and bool(reader.events(EventFilter(session_id=call.session_id, types=_CLOSED), limit=1))
    said = answers(call, _now(), closed=closed)
    changed = call.reason == "schema-changed" and any(map(runs, said))
    ahead = foreseen(registry, call) if registry is not None and any(map(_as_it_is, said)) else None
    draft = draft_of(definition, call) if changed else ahead.draft if ahead is not None else None
    return {
        "kind": kind_of(call.state, call.reason) if waits else None,
        "question": question(call, _now(), _repeated(reader, definition, call)),
        "ifApproved": ahead.words if ahead is not None else None,
        "sessionClosed": closed,
        **story,
        "renamedTo": definition.name if definition is not None and definition.name != call.tool else None,
        **({"upcast": draft.to_wire()} if draft else {}),
        **({"instead": _instead(definition)} if waits and call.reason == "tool-retired" else {}),
        "neverRan": call.never_ran,
        "runbook": _runbook(reader, definition, call),
        "commands": [
            {"command": words, "meaning": meaning}
            for words, meaning in _commands(shell, call, _name(reader, call.call_id), said, draft, ahead)
        ],
    }


def question_lines(found: Row) -> Iterator[Line]:
    """Yield the page for people."""
    yield from title(found)
    yield ""
    yield Ink(found["question"] or "It asks nothing of anybody.", "warn" if found["question"] else None)
    if found["sessionClosed"]:
        yield Ink("Its session is closed: nothing of it runs any more.", "warn")
    if found["ifApproved"]:
        yield Ink(found["ifApproved"], "warn")
    yield from arguments(found)
    if "upcast" in found:
        yield from _change(found["upcast"])
    if found.get("instead"):
        yield from heading("What is there instead of the tool")
        yield from bullets(
            f"{each['tool']}{': ' if each['when'] else ''}{each['when'] or ''}" for each in found["instead"]
        )
    yield from outcome(found)
    yield from known(found)
    yield from besides(found)
    if found["runbook"] and not found["neverRan"] and found["state"] not in TERMINAL:
        yield from heading("How to find out")
        yield from block(found["runbook"])
    yield from heading("What you can say")
    for each in found["commands"]:
        yield ("  ", Ink(each["command"], "strong", whole=True))
        yield ("      ", Ink(each["meaning"], "dim"))


def _repeated(reader: Reader, definition: ToolDefinition | None, call: Call) -> Repeated | None:
    """Return the call that this one may repeat, as it stands now: what its flag says of it may be old."""
    other = repeated_by(reader, call)
    if other is None:
        return None
    meaning = meaning_between(definition, other.call, call) if definition is not None else None
    return replace(other, compared=str(meaning) if meaning is not None else None)


def _instead(definition: ToolDefinition | None) -> list[Row]:
    """Return what replaces a retired tool: a person may ask for that; the ledger maps nothing onto it."""
    replacements = definition.replacements if definition is not None else ()
    return [{"tool": each.tool, "when": each.when, "example": each.example} for each in replacements]


def _change(upcast: Row) -> Iterator[Line]:
    """Yield what of the old call goes into a new one, and what only a person knows."""
    if upcast["to"] is None:
        return
    if upcast["draft"] is not None:
        yield from heading(f"What is carried to v{upcast['to']}")
        yield from value(upcast["draft"] or "nothing")
    if upcast["ask"]:
        yield from heading("What is asked")
        yield from bullets(f"{each['pointer']}: {each['question']}" for each in upcast["ask"])


def _name(reader: Reader, call_id: str) -> str:
    """Return what to call it by in a command: the tail that tables show, unless another call has it too."""
    try:
        return tail(find_call(reader, tail(call_id)).call_id)
    except UnknownCall:
        return call_id


def _now() -> str:
    return iso(datetime.now(UTC))


def _commands(
    shell: Shell, call: Call, called: str, said: Answers, draft: Draft | None, ahead: Foreseen | None
) -> Iterator[tuple[str, str]]:
    if call.flag is not None and call.state == "needs-review" and call.flag.duplicate_of is not None:
        yield (
            copyable(shell, "review", "show", call.flag.duplicate_of),
            "look at the original: its end settles this one",
        )
    if call.state == "needs-review" and (beside := may_repeat(call)) is not None:
        yield copyable(shell, "review", "show", str(beside["mayRepeat"])), "look at the call that this one may repeat"
    if call.superseded_by is not None:
        yield copyable(shell, "review", "show", call.superseded_by), "look at the call that has its place now"
    if ahead is not None and ahead.carried_first:
        yield copyable(shell, "migrate-schemas", "--tool", call.tool, "--apply"), _FIRST
    for answer in said:
        digest = ("--digest", (call.arguments_digest or "")[:12]) if answer == "approve" else ()
        verb = (answer,) if answer in ("approve", "deny") else ("resolve",)
        options = () if answer in ("approve", "deny") else answer.split()
        given = (_given(draft),) if "--arguments" in options else ()
        meaning = _meaning(call, answer, lapses=ahead is not None)
        if given and draft is not None and draft.ask and given[0] != _ANY:
            meaning += "; put your answers where it says null"
        yield (
            copyable(shell, "review", *verb, called, *options, *given, *digest, *(_by(call) if runs(answer) else ())),
            meaning,
        )
    yield copyable(shell, "review", "note", called, "TEXT"), "add a note; nothing else changes"


def _as_it_is(answer: str) -> bool:
    """Return whether an answer lets the call run with the arguments it has."""
    return answer == "approve" or answer.endswith("--run")


def _meaning(call: Call, answer: str, *, lapses: bool) -> str:
    """Return what an answer means; `lapses`: where a newer version runs it does not hold."""
    if answer == "--happened" and call.late is not None and call.late.ended == "succeeded":
        return _LATE
    if not (lapses and _as_it_is(answer)):
        return _MEANINGS[answer]
    return _NOT_YET if answer == "approve" else _MEANINGS[answer] + _LAPSES


def _by(call: Call) -> tuple[str, ...]:
    """Return who alone may let it run, as an option: said by anybody else the command is refused."""
    who = call.approval.who if call.approval is not None else None
    return ("--by", who[0]) if who is not None and len(who) == 1 else ()


def _given(draft: Draft | None) -> str:
    """Return the arguments to put behind the option: those that were prepared, if there are any."""
    found = draft.to_fill_in if draft is not None else None
    return _ANY if found is None else dumps(found, ensure_ascii=False)


def _registry(shell: Shell) -> Registry | None:
    """Return what the catalog at hand defines; None, with a warning, where it cannot be read."""
    folder = catalog_folder(shell)
    try:
        return Registry(load_catalog(folder) if folder is not None else None)
    except CatalogFault as fault:
        shell.out.warn(str(fault))
        return None


def _runbook(reader: Reader, definition: ToolDefinition | None, call: Call) -> str | None:
    """
    Return the tool's runbook with the call's values in it, if there is one.

    That of the catalog; of a tool that is in no catalog at hand the one that its program had.
    """
    text = _written(definition, call) if definition is not None else _recorded(reader, call)
    values: dict[str, Any] = call.to_run if isinstance(call.to_run, dict) else {}
    values = values | {"callId": call.call_id, "idempotencyKey": call.idempotency_key or call.call_id}
    return _HOLE.sub(lambda hole: plain(values[hole[1]]) if hole[1] in values else hole[0], text or "") or None


def _written(definition: ToolDefinition, call: Call) -> str | None:
    return (definition.versions.get(call.schema_version or 0) or definition.latest).runbook


def _recorded(reader: Reader, call: Call) -> str | None:
    tool = recorded_tools(reader).get(call.tool)
    version = tool.versions.get(call.schema_version or 0) if tool is not None else None
    return version.body.runbook if version is not None else None
