"""Where the ledgers of killed processes are looked at."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psycopg

from tests.crash import forking
from tests.crash.databases import Database
from tests.helpers import postgres

LATE = b"BEGIN; SELECT pg_advisory_lock(1); CREATE TABLE late (number int); COMMIT"


def send_and_die(url: str) -> None:
    """Send a whole transaction, and hear no answer."""
    connection = psycopg.connect(url)
    connection.pgconn.send_query(LATE)
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_process_had_sent_is_waited_for(tmp_path: Path) -> None:
    """A transaction that a server is at when its client dies is committed, and nobody looks before."""
    with postgres.database(empty=True) as url, ThreadPoolExecutor(1) as pool:
        with postgres.connect(url) as holder:
            holder.execute("SELECT pg_advisory_lock(1)")
            assert not forking.run(partial(send_and_die, url), tmp_path)
            quiet = pool.submit(Database(url).quiet)
            assert not quiet.done()
        quiet.result()
        copy = Database(url).copied(tmp_path)
        for place in (url, copy.url):
            with postgres.connect(place) as connection:
                assert connection.execute("SELECT to_regclass('late')::text").fetchall() == [("late",)]
        copy.remove()
