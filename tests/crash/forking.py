"""Runs a job in a forked child that ends by itself or is killed; the parent has imported all and opened nothing."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import ledger.store.sqlite.opening  # noqa: F401 - loaded once, for all the children
from ledger.catalog import compile_schema

LONGEST_SECONDS = 120

compile_schema({"type": "object"}).violations({})  # loads the validator: no child has to do it again


class ChildFailed(AssertionError):
    """A child ended by an exception, or by a signal that nobody meant."""


def begin(work: Callable[[], None], folder: Path) -> int:
    """Start the work in a forked child and return its pid."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _child(work, folder)
    return pid


def _child(work: Callable[[], None], folder: Path) -> NoReturn:
    code = 70
    try:
        signal.alarm(LONGEST_SECONDS)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.chdir(folder)
        work()
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it was, the parent tells it and this process must not go on
        (folder / "error").write_text(traceback.format_exc())
    finally:
        os._exit(code)


def ended(pid: int, folder: Path) -> bool:
    """Wait for the child; return whether it came to its own end (False: it was killed by SIGKILL)."""
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return False
    if status != 0:
        error = folder / "error"
        raise ChildFailed(f"status {status:#x}\n{error.read_text() if error.exists() else ''}")
    return True


def run(work: Callable[[], None], folder: Path) -> bool:
    """Do the work in a child and wait for it; see `ended`."""
    return ended(begin(work, folder), folder)


def killed_after(work: Callable[[Callable[[], None]], None], folder: Path, seconds: float, *, busy: bool) -> bool:
    """
    Do the work in a child, killed from outside after so long; return whether it was still at it then.

    The work is given what it calls when it begins in earnest; `busy`: the time counts from there, not from the fork.
    """
    alive, held = os.pipe()  # the child holds the other end as long as it lives
    pid = begin(partial(work, partial(_write, held)), folder)
    os.close(held)
    if busy:
        os.read(alive, 1)  # a mark; nothing, where it has ended
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and select.select([alive], [], [], left)[0] and os.read(alive, 1):
        pass
    os.close(alive)
    os.kill(pid, signal.SIGKILL)
    return not ended(pid, folder)


def _write(descriptor: int) -> None:
    os.write(descriptor, b".")
