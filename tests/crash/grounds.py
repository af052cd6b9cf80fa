"""What worlds are copied from, and what children need not do again: made once in the process that forks."""

from __future__ import annotations

import gc
import shutil
import threading
from functools import partial
from pathlib import Path

from ledger.store.urls import open_store
from tests.crash import checks, places
from tests.crash.forking import run
from tests.crash.host import converse
from tests.crash.places import Backend
from tests.crash.random_kills import TOOLS
from tests.crash.world import World, register


class Grounds:
    """Worlds in which nothing has happened, by back end: with empty tables, or with the tools' versions in them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[Backend, bool], World] = {}

    def world(self, backend: Backend, *, published: bool) -> World:
        """Return one to copy; it is made when it is asked for first."""
        key = backend, published
        if key not in self._made:
            self._made[key] = _made(backend, self._folder / f"{backend}, {published}", published=published)
            _share()
        return self._made[key]

    def remove(self) -> None:
        """Let nothing be left of them."""
        for world in self._made.values():
            world.remove()


def _made(backend: Backend, folder: Path, *, published: bool) -> World:
    folder.mkdir()
    if backend == "postgres":
        from tests.crash import databases  # what it loads makes each fork dearer

        run(databases.begin, folder)
    world = World(folder, places.new(backend, folder))
    run(partial(_begin, world, published=published), folder)  # its libraries stay out of those that are forked
    return world


def _begin(world: World, *, published: bool) -> None:
    open_store(world.place.url, create=True).close()
    if published:
        with world.open() as ledger:
            register(ledger, world)


def warm(folder: Path) -> None:
    """Have one conversation in memory: what it loads and compiles every child would load and compile anew."""
    folder.mkdir()
    world = World(folder, places.Memory())
    converse(world, [[(name, {"number": 1, "path": "a"}) for name in TOOLS]])
    assert list(checks.told(world)) == []
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()  # this process is about to fork
    shutil.rmtree(folder)
    _share()


def _share() -> None:
    """Never look for garbage in what is there now: the children share its pages."""
    gc.collect()
    gc.freeze()
