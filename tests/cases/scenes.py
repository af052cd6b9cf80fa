"""What the cases share: one ledger file, a tool that writes a line, and a process that is killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ledger import Ledger
from ledger.replay.reading import session_at
from tests.helpers.counting import untraced
from tests.session.agents import asked

SESSION = "s"
MEMORY = "memory://"

KILLED = """
import json, os, signal, sys
from ledger import Ledger

folder = sys.argv[1]
ledger = Ledger.open(f"sqlite:///{folder}/ledger.db")

@ledger.tool(effect="write")
def pay(amount: int) -> dict:
    "Pay."
    with open(f"{folder}/paid", "a") as paid:
        paid.write(f"{amount}\\n")
    if amount < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"paid": amount}

ledger.session("s").dispatch(json.loads(sys.argv[2]))
"""


SERVER = "server"
"""Stands for the URL of a PostgreSQL server, which the test run knows."""


class Gone(BaseException):
    """The process is gone, as far as the test is concerned."""


def gone() -> None:
    """End at a crash point by raising instead of killing."""
    raise Gone


class Desk:
    """The folder of a case, with a ledger at `url`: by default the file in it."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.folder = folder
        self.url = url or f"sqlite:///{folder}/ledger.db"
        self.ledgers: list[Ledger] = []

    def open(self, *, tools: bool = True, **settings: Any) -> Ledger:
        """Open the ledger as another process would, with the tool `pay`."""
        ledger = Ledger.open(self.url, **settings)
        if self.url == MEMORY and self.ledgers:  # what the first one keeps, all of them see
            store: Any = self.ledgers[0].reader
            ledger.wrap_store(lambda _: store)
        self.ledgers.append(ledger)
        if tools:
            ledger.tool("pay", effect="write")(self.pay)
        return ledger

    def pay(self, amount: int) -> dict[str, int]:
        """Pay."""
        with (self.folder / "paid").open("a") as paid:
            paid.write(f"{amount}\n")
        return {"paid": amount}

    @property
    def paid(self) -> list[int]:
        """What was paid, in order, whatever the ledger says."""
        path = self.folder / "paid"
        return [int(line) for line in path.read_text().splitlines()] if path.exists() else []

    def killed(self, *amounts: int) -> None:
        """Dispatch payments in a process that is killed by `kill -9` in the tool, after a negative amount's effect."""
        reply = json.dumps(asked(*(("pay", {"amount": amount}) for amount in amounts)))
        done = subprocess.run([sys.executable, "-c", KILLED, str(self.folder), reply], env=untraced(), check=False)
        assert done.returncode == -9

    def states(self) -> list[str]:
        """Where each call of the session stands, in the order asked."""
        calls = session_at(self.open(tools=False).reader, SESSION).calls.values()
        return [call.state for call in calls]

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command line on this ledger."""
        environment = untraced() | {"LEDGER_DB": f"sqlite:///{self.folder}/ledger.db"}
        command = [sys.executable, "-m", "ledger", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    def close(self) -> None:
        """Close whatever was opened."""
        for ledger in self.ledgers:
            ledger.close()


def results(messages: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the content of each tool message."""
    for message in messages:
        if message["role"] == "tool":
            yield message["tool_call_id"], json.loads(message["content"])
