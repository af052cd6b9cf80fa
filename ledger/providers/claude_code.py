"""Reads Claude Code's session files: one line a block, a tree by `parentUuid`, parts repeated after a resume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from ledger.providers import anthropic_parse
from ledger.providers.anthropic_parse import blocks_of
from ledger.providers.apart import take_apart
from ledger.providers.assembling import Assembler
from ledger.providers.imported import ImportedSession, Item, Read, Skipped
from ledger.providers.plain import plain, text_or_none
from ledger.strictjson import Json, JsonObject

NAME: Final = "claude-code"
_TYPES: Final = frozenset({"assistant", "user"})
_SYNTHETIC: Final = "<synthetic>"  # what the program itself said in the assistant's name


@dataclass(slots=True, eq=False)
class _Line:
    """A line of the conversation: its place in the file, what it says, and the line before it."""

    place: int
    value: JsonObject
    uuid: str
    parent: _Line | None = None

    @property
    def message(self) -> JsonObject:
        """What was said to or by the API."""
        message = self.value.get("message")
        return message if isinstance(message, dict) else {}

    @property
    def blocks(self) -> list[JsonObject]:
        """Its content."""
        return blocks_of(self.message.get("content"))

    @property
    def key(self) -> object:
        """What the lines of one assistant's message share."""
        return self.message.get("id") or self.value.get("requestId") or self.uuid


def read_claude_code(documents: Iterable[Json]) -> Iterator[Read]:
    """
    Yield the sessions of a file: the one that its last line belongs to, then what branched off, then its subagents.

    The lines of the last one's way back to the first are the session; results stand beside the calls they answer,
    wherever they hang in the tree. A line whose parent is lost follows the one before it. Types that say nothing to the
    model are passed over.
    """
    lines, skipped = _lines(documents)
    main = [line for line in lines if not line.value.get("isSidechain")]
    on_path = _joined(main, _path(main[-1])) if main else set()
    branches: list[list[_Line]] = [[line for line in main if line.uuid in on_path]] if main else []
    branches += _grouped([line for line in main if line.uuid not in on_path])
    branches += _grouped([line for line in lines if line.value.get("isSidechain")])
    first: ImportedSession | None = None
    for number, branch in enumerate(branches):
        head = _session(branch, None if first is None else first.id, number)
        first = first or head
        yield head
        if number == 0:
            yield from skipped
        yield from _items(branch)


def _lines(documents: Iterable[Json]) -> tuple[list[_Line], list[Skipped]]:
    """Return the lines of the conversation, each once, tied to the one before."""
    lines: dict[str, _Line] = {}
    between: dict[str, str] = {}  # lines of other types stand in the tree too
    skipped: list[Skipped] = []
    for place, value in enumerate(documents):
        if not isinstance(value, dict):
            skipped.append(Skipped(place=place, what=f"no line of a session: {type(value).__name__}"))
            continue
        uuid = text_or_none(value.get("uuid"))
        above = text_or_none(value.get("parentUuid")) or text_or_none(value.get("logicalParentUuid"))
        if value.get("type") not in _TYPES:
            if uuid is not None and above is not None:
                between[uuid] = above
        elif uuid is None or uuid not in lines:
            line = _Line(place, value, uuid or f"line {place}")
            line.parent = _parent(line, above, lines, between)
            lines[line.uuid] = line
    return list(lines.values()), skipped


def _parent(line: _Line, above: str | None, lines: dict[str, _Line], between: dict[str, str]) -> _Line | None:
    seen: set[str] = set()
    while above is not None and above not in lines and above not in seen:
        seen.add(above)
        above = between.get(above)
    if above in lines:
        return lines[above]
    if not line.value.get("parentUuid"):
        return None
    side = bool(line.value.get("isSidechain"))  # the parent is lost: the line before it is the next best
    return next((each for each in reversed(lines.values()) if bool(each.value.get("isSidechain")) == side), None)


def _path(line: _Line | None) -> set[str]:
    found: set[str] = set()
    while line is not None:
        found.add(line.uuid)
        line = line.parent
    return found


def _joined(lines: list[_Line], path: set[str]) -> set[str]:
    """Return the path with the other lines of its messages, and the results of its calls."""
    keys = {line.key for line in lines if line.uuid in path and line.value["type"] == "assistant"}
    calls: set[Any] = set()
    found = set(path)
    for line in lines:
        if line.value["type"] == "assistant":
            if line.key in keys:
                found.add(line.uuid)
                calls |= {block.get("id") for block in line.blocks if block.get("type") == "tool_use"}
        elif any(block.get("tool_use_id") in calls for block in line.blocks if block.get("type") == "tool_result"):
            found.add(line.uuid)
    return found


def _grouped(lines: list[_Line]) -> list[list[_Line]]:
    """Return lines that hang together, group by group."""
    groups: dict[str, list[_Line]] = {}
    tops: dict[str, str] = {}
    for line in lines:
        top = tops.get(line.parent.uuid, line.uuid) if line.parent is not None else line.uuid
        top = str(line.value.get("agentId") or top)
        tops[line.uuid] = top
        groups.setdefault(top, []).append(line)
    return list(groups.values())


def _session(branch: list[_Line], parent: str | None, number: int) -> ImportedSession:
    own = text_or_none(branch[-1].value.get("sessionId"))
    models = [line.message.get("model") for line in branch if line.value["type"] == "assistant"]
    found = {key: branch[0].value.get(key) for key in ("cwd", "gitBranch", "version", "agentId")}
    return ImportedSession(
        source=NAME,
        id=own if number == 0 or own is None else f"{own}/{number}",
        model=next((model for model in models if isinstance(model, str) and model != _SYNTHETIC), None),
        parent=parent,
        started=text_or_none(branch[0].value.get("timestamp")),
        labels={key: value for key, value in found.items() if isinstance(value, str)},
    )


def _items(branch: list[_Line]) -> Iterator[Item]:
    assembler = Assembler()
    parts: dict[object, list[_Line]] = {}
    for line in branch:
        if line.value["type"] == "assistant":
            parts.setdefault(line.key, []).append(line)
    for line in branch:
        at = text_or_none(line.value.get("timestamp"))
        if line.value["type"] == "user":
            _user(assembler, line, at)
        elif line.message.get("model") == _SYNTHETIC:
            assembler.say("assistant", anthropic_parse.NAME, _said("assistant", line), at)
        elif line.key in parts:  # where its first line stands
            assembler.turn(anthropic_parse.parse(_message(parts.pop(line.key))), at)
        yield from assembler.ready()
    yield from assembler.end()


def _message(lines: list[_Line]) -> JsonObject:
    """Return an assistant's message, put together from its lines; the last one knows how it ended."""
    whole: JsonObject = {}
    content: list[JsonObject] = []
    for line in lines:
        content += line.blocks
        whole |= {name: value for name, value in line.message.items() if value is not None}
    return whole | {"role": "assistant", "content": content}


def _said(role: str, line: _Line) -> JsonObject:
    return {"role": role, "content": plain(line.message.get("content"))}


def _user(assembler: Assembler, line: _Line, at: str | None) -> None:
    message = _said("user", line)
    apart = take_apart(anthropic_parse.NAME, "user", message)
    for given in apart.results:
        if not assembler.answer(given, at):
            block = {"type": "tool_result", "tool_use_id": given.id, "content": given.content}
            assembler.orphan("user", anthropic_parse.NAME, {"role": "user", "content": [block]}, at)
    if apart.rest is not None:
        assembler.say("user", anthropic_parse.NAME, apart.rest, at)
