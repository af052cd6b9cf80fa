"""Files without a disk, where there are any: what dies in these tests is a process, never the machine."""

from __future__ import annotations

import os
import shutil

_FOLDER = "/dev/shm"


def folder(room: int) -> str | None:
    """Return where to make temporary folders that take so many bytes at most; None: wherever the system makes them."""
    if os.access(_FOLDER, os.W_OK) and shutil.disk_usage(_FOLDER).free >= room:
        return _FOLDER
    return None
