"""Takes a tool out of use, stage by stage, for `tool retire`: looks at what still needs it, and changes its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ledger.audit.holding import knowing_sessions, open_calls
from ledger.catalog.definition import Replacement, ToolDefinition
from ledger.catalog.disk import read_sources, write_json
from ledger.catalog.lock import TOOL
from ledger.catalog.retire import Retirement, retired, skipped
from ledger.cli.commands import copyable
from ledger.cli.growing import defined
from ledger.cli.opening import reading
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.text import Ink, Line
from ledger.cli.verdicts import json_value
from ledger.counting import counted
from ledger.errors import NoDatabase, RetirementRefused, UsageError
from ledger.events.words import Stage
from ledger.ids import iso
from ledger.store.port import Reader

_NAMED: Final = 10
"""Calls or sessions that a refusal names; all are counted."""
_MEANS: Final[Mapping[Stage, str]] = {
    "active": "",
    "hidden": "New sessions are not offered it; those that had it keep it, and its calls run as before.",
    "compat": "A call of it that would change something is answered with its replacement; a read may still run, and "
    "says so.",
    "removed": "It never runs again. Its name stays taken and its schemas stay here: what was recorded can be read.",
}
_NEXT: Final[Mapping[Stage, Stage]] = {"active": "hidden", "hidden": "compat", "compat": "removed"}


@dataclass(frozen=True, slots=True)
class _Held:
    """What the ledger says of a tool: how many of its calls are open. None: no ledger was looked at."""

    open_calls: int | None = None


def retirement_of(stage: Stage, said: Mapping[str, Any]) -> Retirement:
    """
    Return what the options of the command ask for.

    `use`: names, or whole replacements as JSON objects; `when` and `example`: `NEW=…` for one of those. Raises
    `UsageError` where they do not fit together.
    """
    used = [_used(text) for text in said["use"]]
    texts = {"when": _by_name(said["when"], "--when"), "example": _by_name(said["example"], "--example")}
    replacements = [_completed(each, texts) for each in used]
    for option, rest in texts.items():
        for name in rest:
            raise UsageError(f"--{option} speaks of {name!r}, which no --use names once", hint=f"Add --use {name}.")
    return Retirement(
        stage=stage,
        replacements=() if said["no_replacement"] else tuple(replacements) or None,
        hint=said["hint"],
        retention_days=said["retention_days"],
    )


def _used(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith("{"):
        return {"tool": text}
    found = json_value("--use", text)
    if not isinstance(found.get("tool"), str) or found.keys() - {"tool", "when", "example"}:
        raise UsageError("--use takes a tool's name, or an object", hint='Write {"tool": …, "when": …, "example": …}.')
    return dict(found)


def _by_name(words: Sequence[str], option: str) -> dict[str, str]:
    found = {}
    for word in words:
        name, there, text = word.partition("=")
        if not there or not name or not text.strip():
            raise UsageError(f"{option} takes NEW=…, and this is {word!r}")
        found[name] = text
    return found


def _completed(used: dict[str, Any], texts: Mapping[str, dict[str, str]]) -> Replacement:
    when, example = (texts[option].pop(used["tool"], None) for option in ("when", "example"))
    if when is not None:
        used["when"] = when
    if example is not None:
        used["example"] = json_value("--example", example)
    if not isinstance(used.get("when", ""), str):
        raise UsageError(f'"when" is a text that says for which part {used["tool"]} is there')
    return Replacement(**used)


def retire(shell: Shell, name: str, asked: Retirement, *, write: bool) -> Row:
    """
    Move a tool to another stage, or change what is said of its replacements.

    Raises `NotKnown`, `CatalogFault`, and `RetirementRefused` where the rules of a stage or the ledger forbid it: a
    stage is skipped while calls are open, or a tool is removed that an open session still knows.
    """
    sources = read_sources(shell.catalog)
    definition = defined(sources, name)
    folder = next(each for each in sources.folders if each.tool == name)
    document = retired(definition, folder.documents[TOOL], sources.catalog, asked)
    held = _looked_up(shell, definition, asked)
    changed = document != folder.documents[TOOL]
    if write and changed:
        write_json(Path(folder.path) / TOOL, document)
    retirement = document.get("retirement", {})
    return {
        "tool": name,
        "from": definition.stage,
        "stage": asked.stage,
        "replacements": retirement.get("replacements", []),
        "hint": retirement.get("hint"),
        "retentionDays": retirement.get("retentionDays"),
        "openCalls": held.open_calls,
        "path": folder.file(TOOL),
        "written": write and changed,
        "changed": changed,
        "next": list(_next(shell, name, asked.stage)),
    }


def _looked_up(shell: Shell, definition: ToolDefinition, asked: Retirement) -> _Held:
    """Ask the ledger, where there is one: a catalog alone may be kept far from any."""
    try:
        with reading(shell) as reader:
            return _held(shell, reader, definition, asked)
    except NoDatabase:
        if "db" in shell.given:
            raise
        return _Held()


def _held(shell: Shell, reader: Reader, definition: ToolDefinition, asked: Retirement) -> _Held:
    name, left_out = definition.name, skipped(definition.stage, asked.stage)
    calls = [call for each in (name, *definition.renamed) for call in open_calls(reader, each)]
    if calls and left_out:
        raise RetirementRefused(
            f"{counted(len(calls), 'call')} of {name} {'is' if len(calls) == 1 else 'are'} open, and "
            f"{' and '.join(left_out)} would be skipped: {_some([row.call_id for row in calls])}",
            code="open_calls",
            hint=f"Go on with `{copyable(shell, 'tool', 'retire', name, '--stage', left_out[0])}`.",
        )
    if asked.stage == "removed" and definition.stage != "removed":
        _nobody_knows(reader, definition, asked)
    return _Held(len(calls))


def _nobody_knows(reader: Reader, definition: ToolDefinition, asked: Retirement) -> None:
    days = asked.retention_days or definition.retention_days
    since = None if days is None else iso(datetime.now(UTC) - timedelta(days=days))
    names = (definition.name, *definition.renamed)
    sessions = (row.session_id for each in names for row in knowing_sessions(reader, each, since=since))
    knowing = list(dict.fromkeys(sessions))
    if knowing:
        within = "" if days is None else f" and lived in the last {counted(days, 'day')}"
        raise RetirementRefused(
            f"{counted(len(knowing), 'open session')} {'knows' if len(knowing) == 1 else 'know'} "
            f"{definition.name}{within}: {_some(knowing)}",
            code="known_by_sessions",
            hint="Close them (`ledger session close S`), or wait until retentionDays are over.",
        )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(islice(names, _NAMED)) + more


def _next(shell: Shell, name: str, stage: Stage) -> Iterator[str]:
    yield copyable(shell, "tool", "check")
    if stage in _NEXT:
        yield copyable(shell, "tool", "retire", name, "--stage", _NEXT[stage])


def retired_lines(data: Row) -> Iterator[Line]:
    """Yield what changed, what that means, and what may follow."""
    was = f" (was {data['from']})" if data["from"] != data["stage"] else ""
    if not data["changed"]:
        yield (Ink(data["tool"], "strong"), f" is {data['stage']} already, as it is asked for: nothing to write.")
        return
    yield (
        Ink(data["tool"], "strong"),
        f" is {data['stage']} now{was}." if data["written"] else f": {data['stage']}{was}.",
    )
    yield _MEANS[data["stage"]]
    for each in data["replacements"]:
        yield ("  instead  ", Ink(each["tool"], "strong"), f": {each['when']}" if "when" in each else "")
    if data["openCalls"]:
        yield f"{counted(data['openCalls'], 'call')} of it not ended yet: `ledger resume` goes by the new stage."
    if data["openCalls"] is None:
        yield Ink("No ledger was looked at: open calls and sessions are not known here.", "warn")
    yield (Ink("written  ", "good"), data["path"]) if data["written"] else "Nothing is written."
    yield "What may follow:"
    for command in data["next"]:
        yield ("  ", Ink(command, "strong", whole=True))
