"""Who works on a session: an owner's name, whether that process is still alive, and the heartbeat."""

from __future__ import annotations

import os
import platform
import socket
import threading
import uuid
from pathlib import Path

from ledger.errors import LedgerError
from ledger.store.port import Store

_START = 19
"""Place of starttime behind the command's name in /proc/PID/stat (proc(5): field 22)."""
_ENDED = "ended"
"""Instead of the start time of a process that has ended and that its parent has not asked about yet."""


class Owner:
    """
    The name of one opened ledger in one process: host, boot, pid namespace, pid, its start time and a random part.

    A reusable worker name is no identity (https://github.com/aegra/aegra/issues/502): after a fork, or for the same
    process id of another boot, the name is another one.
    """

    def __init__(self) -> None:
        self._pid = -1
        self._name = ""

    def __str__(self) -> str:
        if self._pid != os.getpid():
            self._pid = os.getpid()
            parts = (*_place(), str(self._pid), _start_of(self._pid), uuid.uuid4().hex[:12])
            self._name = ":".join(part.replace(":", "-") for part in parts)
        return self._name


def is_dead(owner: str) -> bool:
    """Return whether that process is surely gone: it ran on this boot of this host, and its pid is no more its."""
    return is_alive(owner) is False


def is_alive(owner: str) -> bool | None:
    """Return whether that process is there; None where nobody can tell from here: it ran on another host or boot."""
    parts = owner.split(":")
    if len(parts) != len(_place()) + 3 or parts[:3] != [part.replace(":", "-") for part in _place()]:
        return None
    pid, start = parts[3], parts[4]
    if not pid.isascii() or not pid.isdigit() or (there := is_running(int(pid))) is None:
        return None
    return there and _start_of(int(pid)) in ("", start)  # hidden from us (hidepid), or no /proc: it is there


def is_running(pid: int) -> bool | None:
    """Return whether a process of this number is there and has not ended; None where nobody can tell (Windows)."""
    if os.name == "nt":
        return None
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it is there, and somebody else's
    return _start_of(pid) != _ENDED


def _place() -> tuple[str, str, str]:
    return socket.gethostname() or platform.node(), _read("/proc/sys/kernel/random/boot_id"), _namespace()


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _start_of(pid: int) -> str:
    """Return the process's start time in clock ticks since boot, '' where the system does not tell."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if len(fields) <= _START:
        return ""
    return fields[_START] if fields[0] != "Z" else _ENDED


class Heartbeat:
    """Renews the leases that are held, from one daemon thread that starts with the first of them."""

    def __init__(self, store: Store, seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self._held: dict[str, int] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._beats = False
        self._pid = os.getpid()

    def _mine(self) -> threading.Lock:
        """Return the lock; a forked child has one of its own (somebody may hold the parent's), and no lease yet."""
        if self._pid != os.getpid():
            self._pid, self._beats, self._held, self._lock = os.getpid(), False, {}, threading.Lock()
        return self._lock

    def hold(self, session_id: str, token: int) -> None:
        """Keep this lease alive until `drop`."""
        with self._mine():
            self._held[session_id] = token
            if not self._beats:
                self._beats = True
                self._wake = threading.Event()
                threading.Thread(target=self._beat, args=(self._wake,), name="ledger-heartbeat", daemon=True).start()

    def drop(self, session_id: str) -> None:
        """Stop renewing this lease."""
        with self._mine():
            self._held.pop(session_id, None)

    def stop(self) -> None:
        """End the thread."""
        with self._mine():
            self._held.clear()
            self._beats = False
            self._wake.set()

    def _beat(self, stopped: threading.Event) -> None:
        while not stopped.wait(self._seconds / 3):
            self.beat()

    def beat(self) -> None:
        """Renew every lease that is held; one that was lost is dropped, its holder learns it at its next append."""
        with self._mine():
            held = list(self._held.items())
        for session_id, token in held:
            try:
                kept = self._store.renew(session_id, token=token, seconds=self._seconds)
            except LedgerError:
                continue  # the database is unwell: the next beat tries again, the append will tell
            if not kept:
                self.drop(session_id)
