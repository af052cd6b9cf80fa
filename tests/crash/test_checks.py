"""The checks of the kill matrix are shown to find what they look for."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.calls import Call
from ledger.recovery import MAX_ATTEMPTS
from ledger.store.urls import open_store
from tests.crash import checks, places
from tests.crash.host import SESSION, converse
from tests.crash.places import BACKENDS
from tests.crash.world import World
from tests.helpers import postgres

PREVIOUS = (
    "UPDATE event SET record = (SELECT other.record FROM event AS other"
    " WHERE other.session_id = event.session_id AND other.sequence = 2) WHERE sequence = 3"
)
SCRIPT = [[("send", {"number": 1}), ("pay", {"number": 2}), ("charge", {"number": 3}), ("buy", {"number": 4})]]


@pytest.fixture(scope="module", params=BACKENDS)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world after a whole conversation."""
    folder = tmp_path_factory.mktemp("whole")
    found = World(folder, places.new(request.param, folder))
    open_store(found.place.url, create=True).close()
    converse(found, SCRIPT)
    yield found
    found.remove()


@pytest.fixture
def world(whole: World, tmp_path: Path) -> Iterator[World]:
    """A copy of it."""
    with whole.copy(tmp_path / "world") as found:
        yield found


def again(world: World, tool: str, **about: Any) -> None:
    """Have an effect of a tool once more."""
    line = next(line for line in world.effects() if line["tool"] == tool) | about
    with (world.folder / "effects").open("a") as effects:
        effects.write(json.dumps(line) + "\n")


def acknowledge(world: World) -> None:
    with world.acknowledged.open("a") as notes:
        notes.write(f"{SESSION} an-event-that-is-not-there\n")


def tamper(world: World, statement: str) -> None:
    """Change a ledger behind its own back."""
    if isinstance(world.place, places.File):
        connection = sqlite3.connect(world.folder / "ledger.db")
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement)
        connection.commit()
        connection.close()
        return
    with postgres.connect(world.place.url) as server:
        server.execute("ALTER TABLE event DISABLE TRIGGER USER")
        server.execute(statement.encode())


def test_a_whole_conversation_has_no_problems(world: World) -> None:
    """Nothing is found where nothing is wrong."""
    found = checks.look(world)
    assert found.problems == []
    assert [*checks.settled(found, found), *checks.unchanged(found, found), *checks.told(world)] == []
    assert len(found.effects) == 4


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (acknowledge, "is lost"),
        (lambda world: again(world, "send"), "a second effect of ('send', 1)"),
        (lambda world: again(world, "send"), "2 effects and 1 durable starts"),
        (lambda world: again(world, "buy"), "a second effect of buy 4"),
        (lambda world: again(world, "charge", key="another"), "charge 3 was sent under"),
        (lambda world: again(world, "send", call="nobody"), "call nobody has 1 effects"),
        (
            lambda world: tamper(world, PREVIOUS),
            "breaks at 3",
        ),
        (lambda world: tamper(world, "UPDATE session_head SET sequence = 1"), "is not its last event"),
        (lambda world: tamper(world, "UPDATE call SET state = 'started'"), "is folded as"),
        (lambda world: tamper(world, "DELETE FROM event WHERE type = 'call.started'"), "broken call"),
    ],
    ids=["lost", "second effect", "no start", "second buy", "another key", "no call", "chain", "head", "row", "gap"],
)
def test_harm_is_found(world: World, harm: Callable[[World], None], words: str) -> None:
    """Each promise that is broken on purpose is told in its own words."""
    harm(world)
    assert any(words in problem for problem in checks.look(world).problems)


def test_a_recovery_that_does_too_much_or_too_little_is_found(world: World) -> None:
    """A doubt that is not settled, a finished call that ran, a call that is gone, a resume that adds something."""
    done = checks.look(world)
    send = next(key for key, call in done.calls.items() if call.tool == "send")
    before = checks.look(world)
    before.calls[send] = before.calls[send].changed(state="started")
    assert "is succeeded" in next(iter(checks.settled(before, done)))
    after = checks.look(world)
    again(world, "send")
    assert any("ran again" in problem for problem in checks.settled(done, checks.look(world)))
    assert "had effects" in next(iter(checks.unchanged(done, checks.look(world))))
    del after.calls[send]
    assert any("is gone" in problem for problem in checks.settled(done, after))
    after.events = after.events[:-1]
    assert "added" in next(iter(checks.unchanged(after, done)))


@pytest.mark.parametrize(
    ("tool", "effects", "reason"),
    [
        ("charge", 1, "attempts-exhausted"),
        ("buy", 0, "attempts-exhausted"),
        ("buy", 1, None),  # asked about, it says that it happened
        ("send", 1, "outcome-unknown"),  # nobody tries it again
    ],
)
def test_a_call_killed_in_each_of_its_attempts_waits_for_a_person(tool: str, effects: int, reason: str | None) -> None:
    """What may be tried again and was killed at every try is flagged as exhausted, and as nothing else."""
    call = Call(call_id="c1", session_id=SESSION, tool=tool, state="started", attempt=MAX_ATTEMPTS)
    line = {"tool": tool, "number": 1, "call": "c1", "key": "c1"}
    before = checks.Snapshot([], {"c1": call}, [line] * effects)
    right: dict[str | None, list[str]] = {}
    for end in ("attempts-exhausted", "outcome-unknown", None):
        now = call.changed(state="needs-review", reason=end) if end else call.changed(state="succeeded")
        right[end] = list(checks.settled(before, checks.Snapshot([], {"c1": now}, before.effects)))
    assert [end for end, problems in right.items() if not problems] == [reason]


def test_a_conversation_that_a_provider_refuses_is_found(world: World) -> None:
    """An answer is missing."""
    path = world.folder / "messages.json"
    messages = json.loads(path.read_text())
    path.write_text(json.dumps([message for message in messages if message["role"] != "tool"]))
    assert any("refused" in problem for problem in checks.told(world))
