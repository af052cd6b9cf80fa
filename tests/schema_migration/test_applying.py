"""`--apply` by real processes: killed before and after each of its appends, and several of them at once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ledger.catalog.upcast.certificate  # noqa: F401 - loaded once, for all the children
from ledger import Ask
from ledger.events import read_event
from ledger.schema_migration.plan import Scope
from ledger.session.existing import open_existing
from ledger.session.migrating import migrate
from ledger.session.reading import open_reader
from ledger.store.port import EventFilter, Reader
from ledger.testing import crash
from tests.crash import forking
from tests.recovery.deploys import Deploy

SESSIONS = ("s1", "s2", "s3", "s4", "s5")
APPENDS = len(SESSIONS)
"""One a session: that is what makes a crash leave whole ones."""

POINTS = [(when, number) for number in range(1, APPENDS + 1) for when in (crash.before, crash.after)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A ledger under the older catalog, and the newer one beside it; nothing is open, so that children may be forked.

    Each session has a call that ended, one that never ran and one that a person allowed; the middle one has a call with
    arguments that never fitted besides.
    """
    folder = tmp_path_factory.mktemp("applying")
    deploy = Deploy(folder)
    deploy.write(1)
    old = deploy.open(1)
    asking: list[bool] = []
    old.authorize(lambda call, principal: Ask() if asking else None)
    for number, name in enumerate(SESSIONS):
        session = old.session(name)
        session.call("charge", {"amt": number})
        asking.append(True)
        old.approve(session.call("charge", {"amt": 10 + number}).call_id, by="ada")
        asking.clear()
        session.propose("charge", {"amt": 20 + number})
        if name == "s3":
            session.propose("charge", {"amt": "five"})
    deploy.close()
    deploy.write(2)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


@contextmanager
def reading(folder: Path) -> Iterator[Reader]:
    with closing(open_reader(f"sqlite:///{folder}/ledger.db")) as store:
        yield store


def apply(folder: Path, *points: crash.Point, end: Callable[[], Any] = crash.die, note: str = "") -> None:
    """Apply as the command does, in a process of its own; what it counted goes into a file of this name."""
    with open_existing(f"sqlite:///{folder}/ledger.db", catalog=folder / "catalog") as here:
        crash.arm(here, *points, end=end)
        found = list(migrate(here, Scope()))
    assert [each.error for each in found] == [None] * len(found)
    if note:
        (folder / note).write_text(str(sum(each.carried for each in found)))


def recorded(folder: Path) -> list[tuple[str, bytes]]:
    """Every event as it is stored, by session."""
    with reading(folder) as store:
        return [(each.session_id, each.record) for name in SESSIONS for each in store.read(name, limit=999)]


def said(folder: Path) -> dict[str, list[tuple[str, int, Any]]]:
    """What was appended about each call: the types, versions and arguments, without ids and times."""
    found: dict[str, list[tuple[str, int, Any]]] = {}
    with reading(folder) as store:
        for stored in store.events(EventFilter(types=("call.upcast", "call.flagged")), limit=999):
            event = read_event(stored.record, stored)
            words = (event.type, event.schema_version or 0, getattr(event.body, "arguments", None))
            found.setdefault(str(event.call_id), []).append(words)
    return found


@pytest.fixture(scope="module")
def uninterrupted(made: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, int, Any]]]:
    """What an apply says that nothing interrupts: ten calls carried, half of them flagged, each once."""
    folder = tmp_path_factory.mktemp("whole") / "copy"
    shutil.copytree(made, folder)
    assert forking.run(partial(apply, folder, note="carried"), folder)
    found = said(folder)
    assert (folder / "carried").read_text() == "10"
    assert sorted(len(words) for words in found.values()) == [1] * 5 + [2] * 5
    return found


def before_as_it_was(made: Path, place: Path) -> None:
    """Everything that stood there stands there still, byte for byte, and what is new came behind it."""
    then, now = recorded(made), recorded(place)
    for name in SESSIONS:
        old = [record for session_id, record in then if session_id == name]
        assert [record for session_id, record in now if session_id == name][: len(old)] == old


@pytest.mark.parametrize(("when", "number"), POINTS, ids=[f"{when.__name__}-{number}" for when, number in POINTS])
def test_killed_at_any_append_it_leaves_whole_sessions_and_the_next_run_goes_on(
    made: Path,
    place: Path,
    uninterrupted: dict[str, list[tuple[str, int, Any]]],
    when: Callable[[int], crash.Point],
    number: int,
) -> None:
    """Intents and finished calls stay byte for byte, each call is carried once, and the end is the same."""
    assert not forking.run(partial(apply, place, when(number)), place)
    left = said(place)
    done = number if when is crash.after else number - 1
    assert (len(left), left.items() <= uninterrupted.items()) == (2 * done, True)
    before_as_it_was(made, place)
    assert forking.run(partial(apply, place, note="carried"), place)
    assert (place / "carried").read_text() == str(10 - 2 * done)
    assert said(place) == uninterrupted
    before_as_it_was(made, place)
    whole = recorded(place)
    assert forking.run(partial(apply, place, note="carried"), place)
    assert ((place / "carried").read_text(), recorded(place)) == ("0", whole)


@pytest.mark.parametrize("number", range(1, APPENDS + 1))
def test_two_at_once_carry_each_call_once(
    made: Path, place: Path, uninterrupted: dict[str, list[tuple[str, int, Any]]], number: int
) -> None:
    """One stops before an append while another one does it all; then it goes on, and says that it did the rest."""
    told, tell = os.pipe()
    wait, go = os.pipe()

    def stop() -> None:
        os.write(tell, b".")
        os.read(wait, 1)

    slow = forking.begin(partial(apply, place, crash.before(number), end=stop, note="slow"), place)
    os.read(told, 1)
    assert forking.run(partial(apply, place, note="quick"), place)
    os.write(go, b".")
    assert forking.ended(slow, place)
    for end in (told, tell, wait, go):
        os.close(end)
    assert (place / "slow").read_text() == str(2 * (number - 1))
    assert (place / "quick").read_text() == str(10 - 2 * (number - 1))
    assert said(place) == uninterrupted
    before_as_it_was(made, place)


def test_several_at_once_one_of_them_killed(
    made: Path, place: Path, uninterrupted: dict[str, list[tuple[str, int, Any]]]
) -> None:
    """Three start together, and one dies in the middle: the others have done all when they end."""
    gate, go = os.pipe()

    def together(name: str, *points: crash.Point) -> None:
        os.close(go)
        os.read(gate, 1)  # ends when the parent closes it
        apply(place, *points, note=name)

    doomed = forking.begin(partial(together, "doomed", crash.after(1)), place)
    others = [forking.begin(partial(together, name), place) for name in ("one", "two")]
    os.close(go)
    os.close(gate)
    forking.ended(doomed, place)
    assert [forking.ended(pid, place) for pid in others] == [True, True]
    assert said(place) == uninterrupted
    before_as_it_was(made, place)
