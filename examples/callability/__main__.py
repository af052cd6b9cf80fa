"""`python -m examples.callability`: wrong calls of every tool, where they stop, and their repair."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.callability.host import RIGHT, WORKER, Host
from examples.callability.model import Repairing
from examples.callability.wrong import Wrong, wrong_calls
from examples.scripted import FORMATS, Format, Script
from examples.weather.service import Service
from examples.weather.tools import User
from ledger import CallResult

REPAIRS = 3
"""After so many the answers tell the model to ask its user."""
CHANGING = {"edit_file", "delete_file", "save_report"}
"""Their right call is right only once."""


def play(
    host: Host, session_id: str, model: Repairing, *, format: Format = "openai", user: User = WORKER
) -> list[CallResult]:
    """Let a model make its wrong call and repair what it is told to; return these calls."""
    before = RIGHT[model.wanted[0]].get("before", [])
    script = Script([*([call] for call in before), *[model] * (REPAIRS + 2)], format)
    calls: list[CallResult] = []
    with host.session(session_id, user) as session:
        messages = session.messages(format, start=[{"role": "user", "content": "Do it."}])
        while not session.final:
            results = session.dispatch(script.chat(messages), format=format)
            messages += results.messages
            calls += results.calls
        host.settle(session)
    return calls[len(before) :]


@dataclass(frozen=True, slots=True)
class Examined:
    """A wrong call, and what a model made of it: the calls in order, the wrong one first."""

    wrong: Wrong
    calls: list[CallResult]


def examine(host: Host, tool: str, right: Mapping[str, Any]) -> list[Examined]:
    """Let a model repair each wrong call of a tool, every other one in Anthropic's form."""
    version = host.ledger.registry.version(tool)
    found = []
    for number, wrong in enumerate(wrong_calls(version, right) if version else ()):
        if tool in CHANGING:
            host.restore()
        model = Repairing((tool, wrong.arguments), (tool, right))
        found.append(Examined(wrong, play(host, f"{tool} {number}", model, format=FORMATS[number % 2])))
    return found


def row(tool: str, found: Sequence[Examined]) -> str:
    gates = Counter(each.calls[0].answer["gate"] for each in found)
    stopped = ", ".join(f"{gate} {count}" for gate, count in sorted(gates.items()))
    started = sum(each.calls[0].call.started_at is not None for each in found)
    repaired = sum(each.calls[-1].state in {"succeeded", "awaiting-approval"} for each in found)
    return f"{tool:20}{len(found):<13}{stopped:24}{started:<9}{repaired}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Service() as service:
        host = Host(Path(folder), service)
        print(f"{'TOOL':20}{'WRONG CALLS':13}{'STOPPED AT':24}{'STARTED':9}REPAIRED")
        for tool, right in sorted(RIGHT.items()):
            print(row(tool, examine(host, tool, right["arguments"])))


if __name__ == "__main__":
    main()
