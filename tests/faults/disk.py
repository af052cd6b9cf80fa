"""
The disk under SQLite: what was written, synced, cut and removed, in order, and a chance to fail at any of it.

It stands inside the SQLite library that the driver has loaded (its VFS, by ctypes): the ledger, its driver and SQLite
run unchanged. strace or a preloaded library would see the same calls, but need packages of the system; apsw brings a
SQLite of its own, which the ledger never uses.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, cast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

OK: Final = 0
EIO: Final = {"write": 778, "sync": 1034, "truncate": 1546, "unlink": 2570, "index": 4874}
"""What SQLite's own VFS answers where the disk reports an error: SQLITE_IOERR_WRITE, _FSYNC, …"""
FULL: Final = 13
"""SQLITE_FULL: no room for a write."""

Kind: TypeAlias = Literal["write", "sync", "truncate", "unlink", "index"]
Fail: TypeAlias = Callable[[Kind], int]
"""Asked before each step; returns the error to fail with, or `OK`."""


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes handed to the system, for a place in a file."""

    file: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    """A file cut to a size, or made longer."""

    file: int
    size: int


@dataclass(frozen=True, slots=True)
class Sync:
    """An fsync of a file; one that failed says nothing of what reached the disk, and nor does the next one."""

    file: int
    done: bool


@dataclass(frozen=True, slots=True)
class Link:
    """A file got a name: it was made."""

    name: str
    file: int


@dataclass(frozen=True, slots=True)
class Unlink:
    """A name was taken away."""

    name: str
    settled: bool  # and the folder synced


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that the host knows of from now on, whatever becomes of the power."""

    what: Any


Step: TypeAlias = Write | Truncate | Sync | Link | Unlink | Mark

_OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))
_DELETE = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
_WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_TRUNCATE = CFUNCTYPE(c_int, c_void_p, c_int64)
_SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
_MAP = CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int, c_void_p)

_KEPT: Final[list[Any]] = []


class _Vfs(Structure):
    """`sqlite3_vfs` (https://sqlite.org/c3ref/vfs.html), as far as it is changed here; the rest is copied."""

    _fields_ = (
        ("version", c_int),
        ("file_size", c_int),
        ("max_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", c_void_p),
        ("delete", c_void_p),
        ("rest", c_void_p * 13),
    )


class _Methods(Structure):
    """`sqlite3_io_methods` (https://sqlite.org/c3ref/io_methods.html), version 3."""

    _fields_ = (
        ("version", c_int),
        ("close", c_void_p),
        ("read", c_void_p),
        ("write", c_void_p),
        ("truncate", c_void_p),
        ("sync", c_void_p),
        ("locks", c_void_p * 7),
        ("map", c_void_p),
        ("rest", c_void_p * 5),
    )


class Disk:
    """
    The disk under one folder.

    `steps` is all that happened, what lay there at first included; `fail` decides about errors.
    """

    def __init__(self, folder: Path, *, fail: Fail | None = None) -> None:
        self.steps: list[Step] = []
        self.fail = fail
        self._folder = os.fsencode(os.path.realpath(folder)) + b"/"
        self._open: dict[int, int] = {}  # SQLite's file → ours
        self._names: dict[str, int] = {}
        self._files = 0
        self._tables: dict[int, tuple[Any, _Methods]] = {}
        self._old = _driver().sqlite3_vfs_find(None)
        for path in sorted(Path(os.fsdecode(self._folder)).iterdir()):
            file = self._made(path.name)
            self.steps += [Link(path.name, file), Write(file, 0, path.read_bytes()), Sync(file, done=True)]

    def mark(self, what: Any) -> None:
        """Say what the host knows from now on."""
        self.steps.append(Mark(what))

    @contextmanager
    def spinning(self) -> Iterator[Disk]:
        """Let every connection opened in this block go to this disk; all of them are closed before its end."""
        old = _Vfs.from_address(self._old)
        ours = _Vfs()
        ctypes.memmove(ctypes.byref(ours), ctypes.byref(old), ctypes.sizeof(_Vfs))
        ours.name = b"faults"
        opened, deleted = _OPEN(self._xopen), _DELETE(self._xdelete)
        self._xopen_old, self._xdelete_old = _OPEN(old.open), _DELETE(old.delete)
        ours.open, ours.delete = cast(opened, c_void_p), cast(deleted, c_void_p)
        _driver().sqlite3_vfs_register(ctypes.byref(ours), 1)
        try:
            yield self
        except BaseException:
            _KEPT.append((self, ours, opened, deleted))  # a connection may have stayed open: its calls still lead here
            raise
        finally:
            _driver().sqlite3_vfs_register(c_void_p(self._old), 1)
            _driver().sqlite3_vfs_unregister(ctypes.byref(ours))

    def _made(self, name: str) -> int:
        self._files += 1
        self._names[name] = self._files
        return self._files

    def _refused(self, kind: Kind) -> int:
        return self.fail(kind) if self.fail is not None else OK

    # -- what SQLite calls; nothing may raise here

    def _xopen(self, _vfs: int, name: int | None, file: int, flags: int, out: Any) -> int:
        done: int = self._xopen_old(self._old, name, file, flags, out)
        path = ctypes.string_at(name) if name else b""
        if done != OK or not path.startswith(self._folder):
            return done
        name_here = os.fsdecode(path.removeprefix(self._folder))
        if name_here not in self._names:
            self.steps.append(Link(name_here, self._made(name_here)))
        self._open[file] = self._names[name_here]
        slot = c_void_p.from_address(file)
        slot.value = self._watched(slot.value or 0)
        return done

    def _xdelete(self, _vfs: int, name: bytes, settle: int) -> int:
        if not name.startswith(self._folder):
            return int(self._xdelete_old(self._old, name, settle))
        error = self._refused("unlink")
        if error != OK:
            return error
        done: int = self._xdelete_old(self._old, name, settle)
        name_here = os.fsdecode(name.removeprefix(self._folder))
        if done == OK and self._names.pop(name_here, None) is not None:
            self.steps.append(Unlink(name_here, bool(settle)))
        return done

    def _watched(self, address: int) -> int:
        """Return the address of a copy of a file's methods that goes through here; one copy for each table."""
        if address not in self._tables:
            old = _Methods.from_address(address)
            ours = _Methods()
            ctypes.memmove(ctypes.byref(ours), ctypes.byref(old), ctypes.sizeof(_Methods))
            kept = self._calls(old)
            ours.write, ours.truncate, ours.sync, grow = (cast(call, c_void_p) for call in kept)
            ours.map = grow if old.map else None  # a log has no index of its own
            self._tables[address] = (kept, ours)
        return ctypes.addressof(self._tables[address][1])

    def _calls(self, old: _Methods) -> tuple[Any, ...]:
        write_old, truncate_old = _WRITE(old.write), _TRUNCATE(old.truncate)
        sync_old, map_old = _SYNC(old.sync), _MAP(old.map or 0)

        def write(file: int, data: int, count: int, offset: int) -> int:
            error = self._refused("write")
            if error != OK:
                return error
            self.steps.append(Write(self._open[file], offset, ctypes.string_at(data, count)))
            return int(write_old(file, data, count, offset))

        def truncate(file: int, size: int) -> int:
            error = self._refused("truncate")
            if error != OK:
                return error
            self.steps.append(Truncate(self._open[file], size))
            return int(truncate_old(file, size))

        def sync(file: int, flags: int) -> int:
            error = self._refused("sync")
            done = int(sync_old(file, flags)) if error == OK else error
            self.steps.append(Sync(self._open[file], done == OK))
            return done

        def grow(file: int, region: int, size: int, extend: int, place: int) -> int:
            error = self._refused("index") if extend else OK
            return error if error != OK else int(map_old(file, region, size, extend, place))

        return _WRITE(write), _TRUNCATE(truncate), _SYNC(sync), _MAP(grow)


@cache
def _driver() -> ctypes.CDLL:
    """Return the library that the driver has loaded: symbols are looked up in what `_sqlite3` is linked to."""
    library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))  # None: it is part of the interpreter
    library.sqlite3_vfs_find.restype = c_void_p
    library.sqlite3_vfs_find.argtypes = [c_char_p]
    library.sqlite3_vfs_register.argtypes = [c_void_p, c_int]
    library.sqlite3_vfs_unregister.argtypes = [c_void_p]
    return library


def within_reach() -> bool:
    """Return whether the driver's SQLite can be found: an interpreter may have it inside and hide its symbols."""
    try:
        return bool(_driver().sqlite3_vfs_find(None))
    except (AttributeError, OSError):
        return False
