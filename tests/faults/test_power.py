"""Power losses: what was acknowledged is there afterwards, whatever became of the writes that were not synced."""

from __future__ import annotations

import random

import pytest

from tests.faults.disk import Link, Mark, Step, Sync, Truncate, Unlink, Write
from tests.faults.images import LOSSES, Image, image
from tests.faults.power import Run, lived, losses, scratch, settings

pytestmark = pytest.mark.usefixtures("failing_disk")


@pytest.fixture(scope="module")
def run() -> Run:
    """A ledger's life, its log brought home and made anew several times."""
    with scratch() as folder, settings():
        return lived(folder, 1, 5)


def test_a_power_loss_takes_nothing_that_was_acknowledged(run: Run) -> None:
    """18 moments, three of each kind of loss: nothing acknowledged is lost, nothing invented, nothing corrupt."""
    found = list(losses(run, 18, seed=7))
    assert [(name, wrong) for name, wrong in found if wrong] == []
    assert len(found) == 18


def test_the_recorded_life_holds_what_could_go_wrong(run: Run) -> None:
    """There were effects, checkpoints, and a log that was cut, removed and made anew."""
    syncs = [step.file for step in run.steps if isinstance(step, Sync)]
    assert len(set(syncs)) >= 3
    assert syncs.count(1) >= 4
    assert any(isinstance(step, Truncate) for step in run.steps)
    assert [step.name for step in run.steps if isinstance(step, Unlink)].count("ledger.db-wal") >= 3
    assert len(run.effects) >= 10


def test_less_durability_is_found_out() -> None:
    """The same harness finds lost events under synchronous=NORMAL: it can fail."""
    with scratch() as folder, settings(synchronous="NORMAL"):
        weak = lived(folder, 1, 3)
    wrong = [problem for _, problems in losses(weak, 6, seed=7) for problem in problems]
    assert wrong
    assert all(problem.endswith("is lost") for problem in wrong)


SEED = 3


def disk(loss: str, *steps: object) -> dict[str, bytes]:
    found = image(steps, len(steps), loss, SEED)  # type: ignore[arg-type]  # the rows of a table
    return {name: bytes(found.files[file].sure) for name, file in found.names.items()}


def test_what_is_synced_stays() -> None:
    """A file, its name and its content survive every loss once they are synced; what came later only by chance."""
    synced = Link("a", 1), Write(1, 0, b"abcd"), Sync(1, done=True)
    for loss in LOSSES:
        assert disk(loss, *synced) == {"a": b"abcd"}
    later = Write(1, 2, b"XY"), Write(1, 6, b"Z"), Truncate(1, 3)
    assert disk("all", *synced, *later) == {"a": b"abcd"}
    assert disk("none", *synced, *later) == {"a": b"abX"}
    assert disk("none", *synced, Truncate(1, 6), Mark("told")) == {"a": b"abcd\0\0"}


def test_names_change_in_order() -> None:
    """A name that was taken away without a sync may come back; one of a synced folder does not."""
    made = Link("a", 1), Write(1, 0, b"old"), Sync(1, done=True)
    anew = Link("a", 2), Write(2, 0, b"new")
    assert disk("all", *made, Unlink("a", settled=False), *anew) == {"a": b"old"}
    assert disk("all", *made, Unlink("a", settled=True), *anew) == {}
    assert disk("none", *made, Unlink("a", settled=False), *anew) == {"a": b"new"}
    assert disk("all", *made, Unlink("a", settled=False), *anew, Sync(2, done=True)) == {"a": b"new"}


def test_a_failed_sync_may_have_lost_what_the_next_one_says_is_there() -> None:
    """The pages are clean in memory and absent from the disk; a write that comes again is kept."""
    failed = Link("a", 1), Sync(1, done=True), Write(1, 0, b"lost"), Sync(1, done=False), Sync(1, done=True)
    assert disk("all", *failed) == {"a": b""}
    assert disk("none", *failed) == {"a": b"lost"}
    assert disk("all", *failed, Write(1, 0, b"once more"), Sync(1, done=True)) == {"a": b"once more"}


@pytest.mark.parametrize("loss", ["tail", "some", "torn", "garbage"])
def test_a_write_may_be_kept_in_part(loss: str) -> None:
    """The last writes are gone, or some, or sectors of one; bytes beside them are never touched."""
    base = Link("a", 1), Write(1, 0, b"-" * 5000), Sync(1, done=True)
    writes = [Write(1, 100 + 600 * number, b"x" * 590) for number in range(8)]
    seen = set()
    for seed in range(20):
        found = image((*base, *writes), 11, loss, seed)  # type: ignore[arg-type]  # a parameter
        content = bytes(found.files[1].sure)
        assert [content[start : start + 10] for start in range(690, 4900, 600)] == [b"-" * 10] * 8
        seen.add(content)
    assert len(seen) > 5
    whole = {content[100 + 600 * number : 690 + 600 * number] for content in seen for number in range(8)}
    assert (whole > {b"x" * 590, b"-" * 590}) == (loss in ("torn", "garbage"))


def test_an_image_is_the_same_for_the_same_dice() -> None:
    """A finding can be looked at again."""
    steps: list[Step] = [
        Link("a", 1),
        *(Write(1, 512 * number, random.Random(number).randbytes(512)) for number in range(9)),
    ]
    first, again = (image(steps, 9, "garbage", 5) for _ in range(2))
    assert isinstance(first, Image)
    assert first.files[1].sure == again.files[1].sure
