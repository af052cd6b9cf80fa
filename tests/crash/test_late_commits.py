"""A server commits what a killed process had sent while another process is already recovering the session."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest

from tests.crash import checks, forking
from tests.crash.grounds import Grounds
from tests.crash.host import converse
from tests.crash.world import World
from tests.helpers import postgres

LOCK = 7
LONGEST_SECONDS = 60
HELD = f"""
    CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared({LOCK}); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER held AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.type = '%s') EXECUTE FUNCTION held();
    SELECT pg_advisory_lock({LOCK})
"""
WAITING = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    " AND (wait_event = 'advisory') = %s"
)
Fate = Literal["committed", "rolled back"]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A ledger that knows the tools."""
    grounds = Grounds(tmp_path_factory.mktemp("grounds"))
    yield grounds.world("postgres", published=True)
    grounds.remove()


@pytest.mark.parametrize(
    ("sent", "fate", "tool", "end"),
    [
        ("call.started", "committed", "send", ("outcome-unknown", 0)),
        ("call.started", "committed", "charge", ("succeeded", 1)),
        ("call.started", "rolled back", "send", ("not-started", 0)),
        ("call.succeeded", "committed", "charge", ("succeeded", 1)),
        ("call.succeeded", "rolled back", "send", ("outcome-unknown", 1)),
        ("call.succeeded", "rolled back", "pay", ("succeeded", 1)),
    ],
)
def test_who_recovers_meets_a_commit_of_the_dead(
    ground: World, tmp_path: Path, sent: str, fate: Fate, tool: str, end: tuple[str, int]
) -> None:
    """Whatever becomes of a dead process's last append, who had begun to recover without it decides with it."""
    with ground.copy(tmp_path / "world") as world:
        work = partial(converse, world, [[(tool, {"number": 1})]])
        with postgres.connect(world.place.url) as holder:
            holder.execute((HELD % sent).encode())
            dying = forking.begin(work, world.folder)
            backend = waits(holder, advisory=True)
            os.kill(dying, signal.SIGKILL)
            assert not forking.ended(dying, world.folder)
            recovering = forking.begin(work, world.folder)
            waits(holder, advisory=False)
            if fate == "rolled back":
                holder.execute("SELECT pg_terminate_backend(%s)", (backend,))
            holder.execute("SELECT pg_advisory_unlock_all()")
            assert forking.ended(recovering, world.folder)
        recovered = checks.look(world)
        assert forking.run(work, world.folder)
        again = checks.look(world)
        (call,) = recovered.calls.values()
        assert (call.reason or call.state, len(recovered.effects)) == end
        assert [*recovered.problems, *again.problems, *checks.unchanged(recovered, again), *checks.told(world)] == []


def waits(holder: psycopg.Connection[Any], *, advisory: bool) -> int:
    """Return the pid of the server's process that waits for our lock, or for another transaction, once one does."""
    end = time.monotonic() + LONGEST_SECONDS
    while not (found := holder.execute(WAITING, (advisory,)).fetchall()):
        assert time.monotonic() < end, "nobody waits"
        select.select([], [], [], 0.001)
    return int(found[0][0])
