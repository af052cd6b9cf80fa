"""What the demo's acts share: the place, the teller, the call they are about, and the ledger to look at."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ledger.audit import event_rows
from ledger.calls import Call
from ledger.cli.telling import Teller, expect_that
from ledger.demo.agent import SESSION
from ledger.demo.edits import state_of
from ledger.demo.place import Place
from ledger.history import History
from ledger.replay import session_at
from ledger.session.reading import open_reader
from ledger.store.port import Reader


@dataclass(slots=True)
class Scene:
    """Where it happens, who tells it, and the call that it is about."""

    place: Place
    teller: Teller
    call: Call = field(default_factory=Call)

    @property
    def name(self) -> str:
        """The tail by which a person names the call."""
        return self.call.call_id[-8:]

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Lend the ledger for looking at it."""
        store = open_reader(self.place.url)
        try:
            yield store
        finally:
            store.close()

    def session(self) -> History:
        """Return the session as it stands."""
        with self.reading() as reader:
            return session_at(reader, SESSION)

    def look(self) -> Call:
        """Return the call as it stands."""
        return self.session().calls[self.call.call_id]

    def digests(self) -> list[str]:
        """Return the digest of each event of the session: each one covers all before it."""
        with self.reading() as reader:
            return [row["digest"] for row in event_rows(reader, session=SESSION)]

    @property
    def agent(self) -> str:
        """The command that starts the agent."""
        return shlex.join([sys.executable, "-m", "ledger.demo", str(self.place.folder)])

    @property
    def file(self) -> Path:
        """The file that the call changes."""
        return self.place.work / str(self.call.arguments["path"])

    def look_at_the_file(self) -> str:
        """Look whether the file holds the new text, and show what was seen as `grep -n` would."""
        asked = self.call.arguments
        content = self.file.read_bytes()
        state = state_of(content, asked["old_text"], asked["new_text"])
        expect_that(state == "replaced", f"{self.file} was to hold the new text, and it is {state}")
        lines = content.decode().splitlines()
        seen = [f"{number}:{line}" for number, line in enumerate(lines, 1) if asked["new_text"] in line]
        self.teller.shown(shlex.join(["grep", "-nF", asked["new_text"], str(self.file)]), seen)
        return seen[0]
