"""A disk that reports errors: nothing is acknowledged falsely, nothing recorded twice, nothing runs unrecorded."""

from __future__ import annotations

import random

import pytest

from tests.faults.failing import WAYS, Error, Lasts, Life, failed_at

pytestmark = pytest.mark.usefixtures("failing_disk")


@pytest.fixture(scope="module")
def steps() -> dict[tuple[Life, Error], int]:
    """How many steps of a life can fail."""
    never = 10**9
    lives: tuple[Life, ...] = ("appends", "calls")
    errors: tuple[Error, ...] = ("EIO", "ENOSPC", "fsync")
    found = {}
    for life in lives:
        for error in errors:
            fault, wrong = failed_at(life, never, error, "once")
            assert wrong == []
            found[life, error] = fault.count
    return found


@pytest.mark.parametrize(("error", "lasts"), WAYS)
@pytest.mark.parametrize("life", ["appends", "calls"])
def test_a_failing_disk_breaks_no_promise(
    steps: dict[tuple[Life, Error], int], life: Life, error: Error, lasts: Lasts
) -> None:
    """
    At steps all over a life the disk fails, once or until it is repaired: whatever was acknowledged is on the disk, the
    same events handed in again are there once, no tool ran before its start was durable, none ran twice.
    """
    chance = random.Random(f"{life} {error} {lasts}")
    count = steps[life, error]
    some = (6 if error == "fsync" else 3) if life == "appends" else 2
    for number in range(some):  # one of each part of the life
        nth = chance.randint(1 + number * count // some, (number + 1) * count // some)
        fault, wrong = failed_at(life, nth, error, lasts)
        assert (nth, wrong) == (nth, [])
        assert fault.met >= 1
