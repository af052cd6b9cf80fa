"""The figures of a run of kills, counted up for the end of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from tests.crash.matrix import Verdict


@dataclass(slots=True)
class Figures:
    """What the issue asks to see: how many kills, and what they broke."""

    kill_points: int = 0
    random_kills: int = 0
    acknowledged_events: int = 0
    acknowledged_events_lost: int = 0
    second_effects: int = 0
    started_writes_without_outcome: int = 0
    settled_by_reconcile_or_key: int = 0
    in_the_review_queue: int = 0
    events_added_by_a_second_resume: int = 0
    problems: list[str] = field(default_factory=list)

    def count(self, verdict: Verdict, *, at_random: bool) -> None:
        """Count one kill in."""
        self.random_kills += at_random
        self.kill_points += not at_random
        self.acknowledged_events += verdict.acknowledged
        self.acknowledged_events_lost += _with("is lost", verdict.problems)
        self.second_effects += _with("a second effect", verdict.problems)
        self.started_writes_without_outcome += verdict.doubts
        self.settled_by_reconcile_or_key += verdict.settled
        self.in_the_review_queue += verdict.queued
        self.events_added_by_a_second_resume += _with("a second resume added", verdict.problems)
        self.problems += [f"{verdict.point}: {problem}" for problem in verdict.problems]

    @property
    def kills(self) -> int:
        """How many processes were killed."""
        return self.kill_points + self.random_kills

    @property
    def values(self) -> dict[str, int]:
        """Every figure under its name."""
        found = asdict(self)
        problems = len(found.pop("problems"))
        return {**found, "problems": problems}

    def __str__(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in self.values.items())


def _with(words: str, problems: Sequence[str]) -> int:
    return sum(1 for problem in problems if words in problem)
