"""
A host process for the tests: one session, one turn, a tool that does what each call asks for.

    python -m tests.recovery.child FOLDER '[["act", {"number": 1, "then": "wait"}], …]'

It says on stdout where it is, one line a word: `in NUMBER` as soon as a tool is at work, at last `end` with the calls'
states or the error. A tool that waits goes on with the next byte on stdin. SIGTERM stops the ledger.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from ledger import Ledger, LedgerError
from tests.recovery.scenes import SESSION
from tests.session.agents import asked


def say(*words: object) -> None:
    """Write one line, unbuffered."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def register(ledger: Ledger, folder: Path, names: set[str]) -> None:
    """Register the tools of these names: writes one after another, writes beside each other, reads."""

    def act(number: int, then: str = "") -> Any:
        """Act."""
        with (folder / "effects").open("a") as effects:
            effects.write(f"{number}\n")
        say("in", number)
        if then == "wait":
            os.read(0, 1)
        if then == "exit":
            os._exit(3)
        return {"done": number}

    contracts: dict[str, dict[str, Any]] = {
        "act": {"effect": "write"},
        "apart": {"effect": "write", "resource_keys": lambda arguments: [str(arguments["number"])]},
        "look": {"effect": "read"},
    }
    for name in names:
        ledger.tool(name, **contracts[name])(act)


def main(folder: Path, calls: list[Any]) -> None:
    """Work on the turn."""
    with Ledger.open(f"sqlite:///{folder}/ledger.db") as ledger:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background inherits that it is ignored
        signal.signal(signal.SIGTERM, lambda *_: ledger.stop())

        register(ledger, folder, {name for name, _ in calls})
        session = ledger.session(SESSION)
        try:
            results = session.dispatch(asked(*((name, arguments) for name, arguments in calls)))
        except (KeyboardInterrupt, LedgerError) as error:
            say("end", type(error).__name__)
        else:
            say("end", *(result.state for result in results.calls))


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
