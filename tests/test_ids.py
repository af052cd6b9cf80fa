"""The door to the clock and to randomness."""

import os
import re
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.ids import Clock, Uuid7, iso, parse_iso

moments = st.datetimes(timezones=st.sampled_from((UTC, timezone(timedelta(hours=5, minutes=30)))))


def maker(times: Iterator[int]) -> Uuid7:
    """Return a maker of ids whose clock gives these milliseconds and whose chance is all ones."""
    return Uuid7(lambda: next(times), lambda count: b"\xff" * count)


def test_an_id_is_a_uuid_of_version_7() -> None:
    """An id has the version, the variant and the milliseconds of RFC 9562, and its text is the canonical one."""
    made = Clock().new_id()
    parsed = uuid.UUID(made)
    assert (parsed.version, parsed.variant, str(parsed)) == (7, uuid.RFC_4122, made)
    assert abs((parsed.int >> 80) / 1000 - time.time()) < 3600


def test_the_bits_are_where_the_standard_has_them() -> None:
    """48 bits of milliseconds, the version, 12 of a counter, the variant, 62 of chance."""
    assert maker(iter([0x0123456789AB]))() == "01234567-89ab-7000-bfff-ffffffffffff"


def test_ids_grow_within_a_millisecond() -> None:
    """The counter makes ids of one millisecond grow, and runs over into the next one."""
    make = maker(iter([5] * 5000))
    made = [make() for _ in range(5000)]
    assert made == sorted(set(made))
    assert made[1].startswith("00000000-0005-7001-")
    assert made[4096].startswith("00000000-0006-7000-")


def test_ids_grow_when_the_clock_is_set_back() -> None:
    """A clock that goes back never makes an id that sorts before an earlier one."""
    make = maker(iter([1000, 10, 10, 1001]))
    made = [make() for _ in range(4)]
    assert made == sorted(set(made))


def test_ids_of_many_threads_differ() -> None:
    """Threads that share a maker never get the same id, even where all chance is equal."""
    make = Uuid7(lambda: 7, lambda count: b"\0" * count)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: make(), range(2000)))
    assert len(set(made)) == 2000


def test_the_system_is_asked_once_for_many_ids() -> None:
    """Each question lets all other threads go first; none of what was fetched is used twice."""
    asked: list[int] = []

    def entropy(count: int) -> bytes:
        asked.append(count)
        return b"".join((len(asked) * 100 + number).to_bytes(8, sys.byteorder) for number in range(count // 8))

    make = Uuid7(lambda: 7, entropy)
    made = {make()[19:] for _ in range(64)}
    assert (asked, len(made)) == ([256, 256], 64)


def test_a_forked_child_takes_no_chance_of_its_parent() -> None:
    """What was fetched ahead before a fork belongs to the parent: the two never make the same random bits."""
    make = Clock().new_id
    make()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, " ".join(make() for _ in range(40)).encode())
        os._exit(0)
    ours = [make() for _ in range(40)]
    os.waitpid(pid, 0)
    theirs = os.read(reading, 10_000).decode().split()
    os.close(reading)
    os.close(writing)
    assert len(theirs) == 40
    assert len({each[19:] for each in ours + theirs}) == 80


def test_a_forked_child_waits_for_no_thread_of_its_parent() -> None:
    """A thread that makes an id while another one forks is not in the child, which never gets back what it holds."""
    make = Uuid7(lambda: 7, os.urandom)
    with make._lock:
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)  # ends a child that waits
            os._exit(len(make()))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 36


def test_chance_differs_between_makers() -> None:
    """Two makers in one millisecond differ by their random bits."""
    assert Clock().new_id()[19:] != Clock().new_id()[19:]


@given(moments)
def test_times_have_one_form_and_come_back(moment: datetime) -> None:
    """A moment of any zone is written as UTC with microseconds and a Z, and reads back equal."""
    text = iso(moment)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", text)
    assert parse_iso(text) == moment


def test_a_time_without_an_offset_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """By rule, also where the machine's own time is not."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        found = iso(datetime(2026, 5, 1, 12))  # noqa: DTZ001 - the point of the test
    time.tzset()
    assert found == "2026-05-01T12:00:00.000000Z"


@given(st.lists(moments, min_size=2, max_size=5))
def test_times_sort_as_texts(several: list[datetime]) -> None:
    """The texts of moments sort as the moments do."""
    ordered = [iso(moment) for moment in sorted(several)]
    assert all(one <= other for one, other in pairwise(ordered))


@pytest.mark.parametrize(("seconds", "text"), [(0, "10.500000Z"), (1.25, "11.750000Z"), (-0.5, "10.000000Z")])
def test_a_clock_says_times_from_now(seconds: float, text: str) -> None:
    """`stamp` is now, `after` so many seconds from now, both in the same form."""
    clock = Clock(now=lambda: datetime(2026, 11, 29, 20, 20, 10, 500_000, UTC))
    assert clock.stamp() == "2026-11-29T20:20:10.500000Z"
    assert clock.after(seconds) == f"2026-11-29T20:20:{text}"


def test_the_real_clock_is_the_machines() -> None:
    """Without another one given, time is UTC of the machine and the monotonic clock never goes back."""
    clock = Clock()
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(hours=1)
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() <= clock.monotonic()
