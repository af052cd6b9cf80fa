"""Reads what `tool diff` compares, two versions of a tool or two files, and tells the difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Final

from ledger.catalog import Contract, load_catalog
from ledger.catalog.diff import (
    VERDICTS,
    Counterexample,
    Difference,
    Finding,
    Settings,
    Subject,
    difference,
    missing_tool,
    of_version,
    read_subjects,
    worst,
)
from ledger.catalog.upcast.between import NO_BRIDGE, Bridge, between
from ledger.catalog.upcast.proof import Status
from ledger.cli.commands import copyable
from ledger.cli.faults import DONE, FAILED
from ledger.cli.layout import block, facts, heading
from ledger.cli.opening import catalog_folder
from ledger.cli.shell import Shell
from ledger.cli.table import Column
from ledger.cli.text import Ink, Line, Tone
from ledger.cli.tools import KnownTool, known_tool
from ledger.errors import CatalogFault, JsonRejected, LedgerError, NotKnown
from ledger.strictjson import Json, Limits, decode, to_a_person, to_pointer

MAX_FILE: Final = 16 * 2**20
MAX_NESTED: Final = 80
"""A schema may be nested 64 deep, and stands a few levels deep in its file."""

_TONES: Final[Mapping[str, Tone]] = {
    **dict.fromkeys(("identical", "annotation", "dialect", "iso", "embed"), "good"),
    "widening": "warn",
    "semantic": "bad",
    "incompatible": "bad",
}
_UPCASTS: Final[Mapping[Status, Tone]] = {"proved": "good", "unknown": "warn", "refuted": "bad"}
_CARRIES: Final[Mapping[Status, str]] = {
    "proved": "Its file carries recorded calls over, each with a certificate.",
    "unknown": "Its file is not proved: nothing is carried by it. `ledger tool check` says why.",
    "refuted": "Its file contradicts the schemas: nothing is carried by it. `ledger tool check` says why.",
}
_SAID: Final = {
    "identical": "Nothing is different.",
    "annotation": "Only words for people and models are different.",
    "dialect": "The same, in another spelling.",
    "iso": "Exactly the same values are valid, and mean the same.",
    "embed": "Every old value is valid and means the same; the new version can say more.",
    "widening": "Old arguments of declared properties stay valid and mean the same; more is accepted.",
    "semantic": "Old arguments may be refused or mean something else: a person has to decide.",
    "incompatible": "What old arguments say has no place any more.",
}


@dataclass(frozen=True, slots=True)
class Leads:
    """What leads from a version to another one, and the command that drafts what is missing."""

    bridge: Bridge
    suggest: str | None


def versions(shell: Shell, name: str, old: str, new: str) -> Difference:
    """Compare two versions of a tool that the catalog or the ledger knows. Raises NotKnown, CatalogFault."""
    with fault_told(shell, name):
        tool = known_tool(shell, name, whoever_has_it=True)
        subjects = _version(tool, old), _version(tool, new)
    if tool.name != name:
        shell.out.note(f"{name} was renamed to {tool.name}: its versions are compared.")
    return difference(*subjects, _settings(shell))


@contextmanager
def fault_told(shell: Shell, name: str) -> Iterator[None]:
    """Where a version is not known as the catalog's tool is quarantined, tell why that is. Raises CatalogFault."""
    try:
        yield
    except NotKnown:
        folder = catalog_folder(shell)
        for fault in load_catalog(folder).faults if folder is not None else ():
            if fault.tool == name:
                raise CatalogFault(fault.message, path=fault.path, pointer=fault.pointer, hint=fault.hint) from None
        raise


def names_version(one: str, other: str) -> bool:
    """Whether two words are a tool and one version of it, and no files."""
    return number_of(other) is not None and not Path(one).exists() and not Path(other).exists()


def two_versions(shell: Shell, name: str | None) -> str:
    """Return what to give instead of what was given: of a tool that is known also the versions that it has."""
    usage = "Give a tool and two of its versions, or two files."
    if name is None or Path(name).exists():
        return usage
    try:
        tool = known_tool(shell, name, whoever_has_it=True)
    except LedgerError:
        return usage
    renamed = f"{name} was renamed to {tool.name}. " if tool.name != name else ""
    return f"{renamed}Give two versions of {tool.name}; there are: {', '.join(map(str, tool.versions))}."


def upcast(shell: Shell, name: str, old: str, new: str) -> Leads | None:
    """Return what is known of the upcast files between two versions; None where the catalog does not have both."""
    tool, start, end = known_tool(shell, name, whoever_has_it=True), number_of(old), number_of(new)
    if tool.defined is None or start is None or end is None:
        return None
    found = between(tool.defined, start, end, _settings(shell))
    guess = ("tool", "diff", tool.name, str(start), str(end), "--suggest")
    return Leads(found, copyable(shell, *guess) if found.missing is not None else None)


def files(shell: Shell, old: str, new: str) -> Difference:
    """Compare what two files describe. Raises CatalogFault for a file that is none of a tool."""
    ones, twos = read_subjects(_read(old), old), read_subjects(_read(new), new)
    settings = _settings(shell)
    if None in ones and None in twos:
        return difference(ones[None], twos[None], settings)
    return _lists(_listed(ones), _listed(twos), settings)


def _listed(subjects: Mapping[str | None, Subject]) -> dict[str, Subject]:
    return {name or subject.name or "tool": subject for name, subject in subjects.items()}


def _lists(old: Mapping[str, Subject], new: Mapping[str, Subject], settings: Settings) -> Difference:
    """Compare two lists of tools by name; a finding's pointer begins with the tool's name."""
    findings: list[Finding] = []
    shown = None
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            findings.append(missing_tool(name, gone=name in old))
            continue
        found = difference(old[name], new[name], settings)
        place = to_pointer([name])
        findings += [
            Finding(each.code, place + each.pointer, each.old, each.new, f"{name}: {each.message}")
            for each in found.findings
        ]
        shown = shown or found.counterexample
    findings.sort(key=lambda each: -VERDICTS.index(each.verdict))
    return Difference(
        verdict=worst([each.verdict for each in findings]), findings=tuple(findings), counterexample=shown
    )


def _read(file: str) -> Json:
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise CatalogFault(f"the file cannot be read ({error.strerror or type(error).__name__})", path=file) from None
    if len(data) > MAX_FILE:
        raise CatalogFault(f"the file has more than {MAX_FILE:,} bytes", path=file)
    try:
        return decode(data, Limits(max_bytes=MAX_FILE, max_depth=MAX_NESTED))
    except JsonRejected as rejected:
        message, hint = to_a_person(rejected)
        raise CatalogFault(message, path=file, hint=hint) from None


def _settings(shell: Shell) -> Settings:
    """Return what the catalog says for all tools, if there is one."""
    folder = catalog_folder(shell)
    if folder is None:
        return Settings()
    catalog = load_catalog(folder)
    return Settings(significant=catalog.significant, formats=catalog.formats)


def number_of(text: str) -> int | None:
    """Return the version that a word names, `2` or `v2`; None where it names none."""
    plain = text.removeprefix("v")
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= len("999999") else None


def _version(tool: KnownTool, text: str) -> Subject:
    defined, recorded = tool.version(number_of(text))
    if defined is not None:
        return of_version(defined)
    if recorded is None:
        there = ", ".join(map(str, tool.versions)) or "none"
        message = f"{tool.name} has no version {text!r}"
        raise NotKnown(message, code="unknown_tool", hint=f"There are: {there}.")
    body = recorded.body
    return Subject(
        name=tool.name,
        schema=body.schema,
        output_schema=body.output_schema,
        words={"description": body.description},
        contract=Contract.from_wire(body.contract),
    )


def status(found: Difference) -> int:
    """Return the exit status: 1 where a person has to decide."""
    return FAILED if found.needs_person else DONE


def told(shell: Shell, found: Difference, upcast: Leads | None = None) -> None:
    """Print the difference: the verdict, a row for each finding with the worst first, and what shows it."""
    verdict = found.verdict
    lines: list[Line] = [(Ink(verdict, _TONES[verdict]), f"  {_SAID[verdict]}")]
    bridge = upcast.bridge if upcast is not None else NO_BRIDGE
    lines += _bridge_lines(bridge, upcast.suggest if upcast is not None else None)
    more = {"grade": bridge.grade, "suggest": upcast.suggest if upcast is not None else None}
    shell.out.show(found.to_wire(bridge.status) | more, lines)
    if not shell.json and found.findings:
        shell.out.lines([""])
        shell.out.rows(({**each.to_wire(), "verdict": each.verdict} for each in found.findings), COLUMNS)
        shell.out.lines(_shown(found.counterexample))


def _bridge_lines(bridge: Bridge, suggest: str | None) -> Iterator[Line]:
    """Yield what becomes of recorded calls, as far as the upcast files say it."""
    if bridge.status != "none":
        grade = f" ({bridge.grade})" if bridge.grade is not None else ""
        yield (Ink(f"upcast {bridge.status}{grade}", _UPCASTS[bridge.status]), f"  {_CARRIES[bridge.status]}")
    elif bridge.semantic is not None:
        yield (Ink("no upcast", "warn"), f"  The file says that the meaning changes: {bridge.semantic}")
    elif suggest is not None:
        yield (
            Ink("no upcast", "warn"),
            f"  No file leads on from v{bridge.missing}: a person is asked about each open call. A draft of it: ",
            Ink(suggest, "strong", whole=True),
        )


COLUMNS: Final = (
    Column(key="verdict", keep="all", tone=lambda verdict: _TONES[verdict]),
    Column(key="code", keep="all", leave=2),
    Column(key="pointer", show=lambda pointer: pointer or "/", keep="all", apart=3),
    Column(key="old", leave=1),
    Column(key="new", leave=1),
    Column(key="message", wants=24),
)


def _shown(shown: Counterexample | None) -> Iterator[Line]:
    if shown is not None:
        yield from heading(f"Arguments that were valid and are {shown.outcome} now")
        yield from block(dumps(shown.arguments, ensure_ascii=False))
        yield from facts({"at": shown.pointer or "/", "why": shown.message})
