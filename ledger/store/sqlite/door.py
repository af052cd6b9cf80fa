"""What the operating system does for the adapter: file locks, kinds of file systems. The only place that asks it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

NETWORK: Final = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse.ceph",
        "fuse.davfs",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.juicefs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "gfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "orangefs",
        "smb2",
        "smb3",
        "smbfs",
        "sshfs",
    }
)
"""File systems whose locks or shared memory SQLite cannot count on (https://sqlite.org/wal.html, point 2)."""

MOUNTS: Final = "/proc/self/mountinfo"

if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
    import msvcrt
    import time

    def try_lock(descriptor: int) -> bool:
        """Take the exclusive lock, or return False where somebody holds it."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def wait_lock(descriptor: int) -> None:
        """Take the exclusive lock, waiting as long as it takes."""
        while not try_lock(descriptor):
            time.sleep(0.005)

    def write_start(descriptor: int, text: bytes) -> None:
        """Write at the start of a file."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, text)

    def unlock(descriptor: int) -> None:
        """Give the lock back."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    _FAR: Final = 1 << 20  # beyond the holder's pid, which others must be able to read

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Take the exclusive lock, or return False where somebody holds it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait_lock(descriptor: int) -> None:
        """Take the exclusive lock, waiting as long as it takes."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def write_start(descriptor: int, text: bytes) -> None:
        """Write at the start of a file, unless it is there: a changed file would make the next fsync dearer."""
        if os.pread(descriptor, len(text), 0) != text:
            os.pwrite(descriptor, text, 0)

    def unlock(descriptor: int) -> None:
        """Give the lock back."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def around_fork(hold: Callable[[], None], let_go: Callable[[], None], forget: Callable[[], None]) -> None:
    """Have `hold` called before every fork of this process, then `let_go` in it and `forget` in the child."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=hold, after_in_parent=let_go, after_in_child=forget)


def leak(thing: object) -> None:
    """
    Keep a thing alive for ever.

    A connection must not even be closed in a forked child
    (https://sqlite.org/howtocorrupt.html, "carrying an open database connection across a fork").
    """
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def syncs_lie() -> bool:
    """Return whether `fsync` leaves data in the drive's cache, so that `PRAGMA fullfsync` is needed (macOS)."""
    return sys.platform == "darwin"


def settle(folder: Path) -> None:
    """Make the names in a folder durable: a power loss keeps files that were made there, and keeps others away."""
    if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
        return  # a folder cannot be opened there, NTFS keeps a journal of names
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def may_write(path: Path) -> bool:
    """Return whether this process, as whoever it acts, may write a folder or a file."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def network_kind(folder: str) -> str | None:
    """Return the name of the network file system that a folder lies on, or None where none is known of."""
    if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
        import ctypes

        root = os.path.splitdrive(folder)[0] + "\\"
        return "a network drive" if ctypes.windll.kernel32.GetDriveTypeW(root) == _DRIVE_REMOTE else None
    try:
        mounts = Path(MOUNTS).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return kind_of(Path(folder).stat().st_dev, mounts)


_DRIVE_REMOTE: Final = 4


def kind_of(device: int, mounts: str) -> str | None:
    """Return the kind of a device if `mounts` (the text of /proc/self/mountinfo) knows it as a network file system."""
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts.splitlines():
        mount, _, kind = line.partition(" - ")
        if mount.split()[2:3] == [number] and kind.split()[:1] and kind.split()[0] in NETWORK:
            return kind.split()[0]
    return None
