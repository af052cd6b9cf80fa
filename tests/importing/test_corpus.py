"""Real sessions and exchanges through imports, replays and exports; a seeded part here, all of them in `make soak`."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from ledger.store.memory import MemoryStore
from ledger.store.urls import open_store
from tests.importing.journeys import cut_everywhere, exchange_taken, exchanges, journey, lines, packed, taken

SEED = 20261129


def test_sessions_are_imported_replayed_exported_and_imported_again(corpus: Path, tmp_path: Path) -> None:
    """Thirty of them: raw texts to the byte, every format's export accepted, the same calls when they come back."""
    some = random.Random(SEED).sample(list(lines(corpus / "sessions.jsonl.gz")), 30)
    store = open_store(f"sqlite:///{tmp_path}/l.db", create=True)
    data = packed(some)
    report = taken(data, store)
    counts: Counter[str] = Counter()
    for session, each in zip(some, report.sessions, strict=True):
        counts += journey(session, each, store)
    assert counts["sessions"] == 30
    assert counts["events"] == report.added > 800
    assert taken(data, store).added == 0
    store.close()


def test_sessions_that_are_cut_anywhere_go_on(corpus: Path) -> None:
    """Behind each message of two of them: nothing side-effecting runs again, and providers take what is told."""
    some = [each for each in lines(corpus / "sessions.jsonl.gz") if 15 < len(each["messages"]) < 30]
    counts: Counter[str] = Counter()
    for session in random.Random(SEED).sample(some, 2):
        counts += cut_everywhere(session)
    assert counts["cuts"] > 30
    assert counts["open_when_cut"] > 3


def test_exchanges_with_providers_are_imported(corpus: Path) -> None:
    """Fifty with every provider among them: known by their first bytes, and accepted after every export."""
    some = random.Random(SEED).sample(list(exchanges(corpus / "provider_exchanges.jsonl.gz")), 50)
    counts: Counter[str] = Counter()
    for name, document in some:
        counts += exchange_taken(name, document)
    assert counts["exchanges"] == 50
    assert {"calls_anthropic", "calls_gemini", "calls_openai", "calls_responses"} <= counts.keys()


def test_the_store_in_memory_and_the_one_on_disk_hold_the_same(corpus: Path, tmp_path: Path) -> None:
    """An import's records do not depend on where they go, nor on how many are committed together."""
    some = random.Random(SEED).sample(list(lines(corpus / "sessions.jsonl.gz")), 5)
    disk, memory = open_store(f"sqlite:///{tmp_path}/l.db", create=True), MemoryStore()
    for store in (disk, memory):
        taken(packed(some), store)
    for session in some:
        found = [[row.event_id for row in store.read(session["session"], limit=9999)] for store in (disk, memory)]
        assert found[0] == found[1]
    disk.close()
