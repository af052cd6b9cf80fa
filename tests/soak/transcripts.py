"""
Every real session and exchange, counted: imported, replayed, exported in every format, brought back, cut, resumed.

    python -m tests.soak.transcripts         all of it, some minutes; `make soak` does it where LEDGER_CORPUS is set
    python -m tests.soak.transcripts --cuts 50   cuts and resumes only so many sessions

Prints the figures. A broken promise ends it with the assertion that failed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ledger.store.urls import open_store
from tests.importing.journeys import Counts, cut_everywhere, exchange_taken, exchanges, journey, lines, taken

_SEED = 20261129


def counted(corpus: Path, cuts: int | None = None) -> dict[str, Any]:
    """Return what was counted; `cuts`: how many sessions are cut (None: all). Raises AssertionError."""
    file = corpus / "sessions.jsonl.gz"
    sessions = list(lines(file))
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/l.db", create=True)
        begun = time.monotonic()
        report = taken(file.read_bytes(), store)
        seconds = {"import": time.monotonic() - begun}
        found = Counts(added=report.added)
        for session, each in zip(sessions, report.sessions, strict=True):
            found += journey(session, each, store)
        seconds["import, replay, exports and back"] = time.monotonic() - begun
        again = taken(file.read_bytes(), store).added
        store.close()
    begun = time.monotonic()
    for name, document in exchanges(corpus / "provider_exchanges.jsonl.gz"):
        found += exchange_taken(name, document)
    seconds["exchanges"] = time.monotonic() - begun
    begun = time.monotonic()
    found += _cut(sessions, cuts)
    seconds["cuts"] = time.monotonic() - begun
    return dict(found) | {"added_again": again, "seconds": {name: round(each, 1) for name, each in seconds.items()}}


def _cut(sessions: Sequence[dict[str, Any]], most: int | None) -> Counts:
    chosen = sessions if most is None else random.Random(_SEED).sample(sessions, most)
    found = Counts()
    for number, session in enumerate(chosen, 1):
        found += cut_everywhere(session)
        if number % 50 == 0:
            sys.stderr.write(f"{number:4} sessions cut\n")
    return found


def main() -> None:
    """Count and print."""
    options = argparse.ArgumentParser(prog="python -m tests.soak.transcripts", description="Every real transcript.")
    options.add_argument("--cuts", type=int, help="cut so many sessions (default: all)")
    asked = options.parse_args()
    corpus = os.environ.get("LEDGER_CORPUS")
    if not corpus:
        sys.exit("LEDGER_CORPUS names no folder with transcripts")
    sys.stdout.write(json.dumps(counted(Path(corpus), asked.cuts), indent=2) + "\n")


if __name__ == "__main__":
    main()
