"""Programs that the command line is given as --app: modules in the current folder, each under a name of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

NUMBERS = count()

HOST = """
import sys
from ledger import Allow, Ask, Ledger

print("imported")
ledger = Ledger.open("sqlite:///ledger.db")


@ledger.tool("send_email", effect="external")
def send(to: str, body: str = "") -> dict:
    "Send an email."
    print("sending", to)
    with open("sent.txt", "a") as file:
        file.write(to + "\\n")
    return {"sent": to}


@ledger.tool(effect="read")
def find(q: str) -> dict:
    "Find."
    return {"q": q, "hits": []}


@ledger.authorize
def policy(call, principal):
    return Ask() if call.arguments.get("to") == "boss@x" else Allow()


class Box:
    inner = ledger
"""


@pytest.fixture
def app(world: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module with a host's code, in the folder of the ledger."""
    yield from module(world, HOST, monkeypatch)


def module(folder: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Write a module nobody has imported yet; forget it, and the path it came by, behind the test."""
    name = f"host_{next(NUMBERS)}"
    (folder / f"{name}.py").write_text(source)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield name
    sys.modules.pop(name, None)
