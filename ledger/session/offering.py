"""Which tools a model may choose from in its next turn: those the host names, those it found, those it keeps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from ledger.answers import Rejected
from ledger.catalog import Registry, ToolVersion, describe
from ledger.catalog.finding import FIND_TOOLS, find
from ledger.errors import UsageError
from ledger.events import TurnRecorded
from ledger.execution.paging import READ_RESULT
from ledger.history import History
from ledger.providers.port import HOST, USER
from ledger.session.border import text
from ledger.session.core import Core

MOST: Final = 20
"""Tools that one search returns at most."""

_SHOWN: Final = 300
_NO_MODEL: Final = (HOST, USER)  # the providers of turns in which no model chose


def tool_finder(registry: Registry) -> Callable[..., dict[str, Any]]:
    """Return the built-in tool `find_tools` over these tools; it is recorded like every other read."""

    def find_tools(query: str, limit: int = 5) -> dict[str, Any]:
        """
        Find tools by what they are for.

        `query`: some words, for example what you want to do. `limit`: how many at most, 1 to 20. The tools found can
        be called from your next turn on.
        """
        if not 1 <= limit <= MOST:
            raise Rejected("out_of_range", f"limit is 1 to {MOST}.")
        known = [version for version in registry.offered() if version.tool not in (FIND_TOOLS, READ_RESULT)]
        found = find(known, query, limit)
        return {"tools": [{"name": version.tool, "description": _short(describe(version))} for version in found]}

    return find_tools


def _short(description: str) -> str:
    return description if len(description) <= _SHOWN else f"{description[: _SHOWN - 1]}…"


def offered(core: Core, only: object = None) -> list[ToolVersion]:
    """
    Return what `tools` offers, by name: active tools with a function here, hidden ones that this session had before.

    `only`: their names. With `find_tools` among them, what the session has found is offered too. `read_result` is
    there once a result was cut. Raises `UsageError` for a name that nobody knows, or that has no function here.
    """
    registry, history = core.wiring.registry, core.history
    versions = registry.offered(also=_had(registry, history))
    if only is None:
        names = {version.tool for version in versions} - {FIND_TOOLS}
    else:
        names = _named(registry, only)
        if FIND_TOOLS in names:
            names |= set(map(registry.home, history.found))
    names = names | {READ_RESULT} if history.truncated else names - {READ_RESULT}  # nothing was cut: nothing to read on
    return [version for version in versions if version.tool in names]


def chose(turn: TurnRecorded) -> bool:
    """
    Whether a model chose from an offer in this turn, which is used up by that.

    An answer under a schema is asked for without tools; the host's own calls are no choice of a model.
    """
    return turn.provider not in _NO_MODEL and turn.structured is None


def kept(core: Core) -> frozenset[str] | None:
    """
    Return what a resumed session still offers, where its host does not say anew: what its last turn recorded.

    Derived from events alone, with each tool under the name it has now; None: nothing was recorded, so nothing is
    checked.
    """
    history = core.history
    last = next((turn.body for turn in reversed(history.turns) if chose(turn.body)), None)
    if last is None or last.offered is None:
        return None
    names = set(_names(last.offered))
    if FIND_TOOLS in names:
        names |= history.found.keys()
    names = set(map(core.wiring.registry.home, names))
    return frozenset(names | {READ_RESULT} if history.truncated else names)


def choosable(core: Core, names: Collection[str] | None, tool: str) -> Collection[str] | None:
    """
    Return what a call of this tool could choose from, where its turn was offered these names (None: nobody knows).

    A read in stage compat is offered to nobody any more, and may still run: its session's model knows it.
    """
    definition = core.wiring.registry.definition(tool)
    if names is None or tool in names or definition is None or definition.stage != "compat":
        return names
    return names if tool not in _familiar(core.wiring.registry, core.history) else {*names, tool}


def _had(registry: Registry, history: History) -> frozenset[str]:
    """Return what was offered in this session before: it keeps what was hidden since, new sessions do not see it."""
    definitions = [registry.definition(name) for name in registry.names]
    if not any(each is not None and each.stage == "hidden" for each in definitions):  # a long session is not read then
        return frozenset()
    return _familiar(registry, history)


def _familiar(registry: Registry, history: History) -> frozenset[str]:
    """
    Return the tools that a session's model knows: it was offered them, or called them where no offer is recorded.

    A tool that got another name since is known under that one.
    """
    offered = {name for turn in history.turns for name in _names(turn.body.offered or ())}
    elsewhere = (turn for turn in history.turns if turn.body.offered is None and turn.body.provider not in _NO_MODEL)
    called = (history.calls[slot[0]] for turn in elsewhere for slot in turn.slots if slot)
    return frozenset(map(registry.home, offered | {call.tool for call in called if call.gate != "lookup"}))


def _names(recorded: Collection[Any]) -> Iterator[str]:
    return (each["tool"] for each in recorded if isinstance(each, Mapping) and isinstance(each.get("tool"), str))


def _named(registry: Registry, only: object) -> set[str]:
    if isinstance(only, str | bytes | Mapping) or not isinstance(only, Collection):
        raise UsageError(f"only= is a list of tools' names, not {type(only).__name__}")
    names = {text(name, "a tool's name") for name in only}
    for name in sorted(names):
        if registry.definition(name) is None:
            raise UsageError(f"only= names the tool {name!r}, which nobody knows", hint=_known(registry))
        if name not in registry:
            raise UsageError(
                f"only= names the tool {name!r}, which has no function in this program", hint="Register its function."
            )
    return names


def _known(registry: Registry) -> str:
    return f"There is {', '.join(registry.names)}."
