"""A server that is stopped at once under writers, as by a power button for it alone, and started again."""

import contextlib
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from ledger.errors import StoreUnavailable
from ledger.store.port import Appended, Store
from ledger.store.urls import open_store
from ledger.testing.contract.building import add
from tests.helpers import postgres
from tests.store.postgres.test_writer import check

WRITERS = 4


def test_a_server_that_is_stopped_at_once_loses_and_doubles_nothing() -> None:
    """Two immediate stops under four writers: all of them carry on, and what is told is what is there."""
    with postgres.own(quick=True) as (url, data):
        told = stopped(url, data, stops=2, seed=1)
        check(url, told)
    assert len(told) > 2


def stopped(
    url: str, data: Path, *, stops: int, seed: int, most: int = 30, tell: Callable[[int, int], object] = max
) -> dict[str, Appended]:
    """
    Stop a server under writers so many times, each time after `most` acknowledgements at most; return what was told.

    `tell` hears the number of each stop, and how much was acknowledged by then.
    """
    lot, told, heard, over = Random(seed), dict[str, Appended](), threading.Semaphore(0), threading.Event()
    stores = [open_store(url, create=True, migrate="auto") for _ in range(WRITERS)]

    def write(store: Store, number: int) -> None:
        step = 0
        while not over.is_set():
            name = f"{number}-{step}"
            while name not in told:
                with contextlib.suppress(StoreUnavailable):
                    told[name] = add(store, f"s{step % 5}", name)
            heard.release()
            step += 1

    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, store, number) for number, store in enumerate(stores)]
        try:
            for number in range(stops):
                assert all(heard.acquire(timeout=60) for _ in range(lot.randint(1, most)))
                postgres.stop(data, signal.SIGQUIT)
                postgres.start_again(data)
                tell(number + 1, len(told))
        finally:
            over.set()
        for writer in writers:
            writer.result()
    for store in stores:
        store.close()
    return told
