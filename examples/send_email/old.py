"""`python -m examples.send_email.old FOLDER PORT`: the program under version 1, killed while it works.

It sends one message; of the next two it is killed (SIGKILL) when the server has the first and nobody has recorded it.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from examples.scripted import Script
from examples.send_email.tools import NAME, Mailer, open_ledger

SESSION = "newsletter"
ADA, BOB, EVE = (
    (NAME, {"to": f"{name}@example.org", "body": f"Dear {name}, the build is green."}) for name in ("ada", "bob", "eve")
)
START = [{"role": "user", "content": "Tell everybody that the build is green."}]
MODEL = Script([[ADA], [BOB, EVE], "They know."])


def killed(recipient: str) -> None:
    if recipient == "bob@example.org":
        os.kill(os.getpid(), signal.SIGKILL)


def main(folder: str, port: str) -> None:
    with open_ledger(Path(folder), 1, Mailer(int(port), killed)) as ledger, ledger.session(SESSION) as session:
        messages = session.messages(start=START)
        while not session.final:
            messages += session.dispatch(MODEL.chat(messages, session.tools())).messages


if __name__ == "__main__":
    main(*sys.argv[1:])
