"""What is killed: for each kind of call a script of the model and the processes that work on it, one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.crash.host import Script, answer, converse, keep
from tests.crash.world import Kill, World

Job = Callable[[World, Script], None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """
    A script and its jobs, each a process of its own, killed at every point in turn.

    `published`: the tools are known to the ledger beforehand; else their first publication is killed as well.
    `crashed`: the first job is killed at this one point, and it is the recovery that is killed everywhere.
    `spare`: so many appends more than were counted may come another time, where calls beside each other share them.
    """

    script: Script
    jobs: tuple[Job, ...] = (converse,)
    published: bool = True
    crashed: Kill | None = None
    spare: int = 0


_ONE_EFFECT = Kill("effect", "after", 1)
_NO_EFFECT = Kill("effect", "before", 1)

SCENARIOS: dict[str, Scenario] = {
    "read": Scenario([[("look", {"number": 1})]], published=False),
    "write": Scenario([[("send", {"number": 1})]]),
    "write, own transcript": Scenario([[("send", {"number": 1})]], (keep,)),
    "two writes in turn": Scenario([[("send", {"number": 1})], [("send", {"number": 2})]]),
    "write with reconcile": Scenario([[("pay", {"number": 1})]]),
    "write with reconcile and retry": Scenario([[("buy", {"number": 1})]]),
    "write with retry by key": Scenario([[("charge", {"number": 1})]]),
    "approved write": Scenario([[("wire", {"number": 1})]], (converse, answer, converse)),
    "approved write, own transcript": Scenario([[("wire", {"number": 1})]], (keep, answer, keep)),
    "batch of three, disjoint": Scenario(
        [[("look", {"number": 1}), ("put", {"number": 2, "path": "a"}), ("put", {"number": 3, "path": "b"})]], spare=1
    ),
    "batch of three, in order": Scenario([[("look", {"number": 1}), ("move", {"number": 2}), ("move", {"number": 3})]]),
    "recovery of a read": Scenario([[("look", {"number": 1})]], (converse, converse), crashed=_ONE_EFFECT),
    "recovery of a write": Scenario([[("send", {"number": 1})]], (converse, converse), crashed=_ONE_EFFECT),
    "recovery by reconcile": Scenario([[("pay", {"number": 1})]], (converse, converse), crashed=_ONE_EFFECT),
    "recovery by reconcile and retry": Scenario([[("buy", {"number": 1})]], (converse, converse), crashed=_NO_EFFECT),
    "recovery by key": Scenario([[("charge", {"number": 1})]], (converse, converse), crashed=_ONE_EFFECT),
}
