"""Fsyncs a call, counted by strace from outside; those of a checkpoint (of the database file itself) apart."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

CALLS = 200
_SYNC = re.compile(r"(?:fsync|fdatasync)\(\d+<([^>]*)>\)")


def child(folder: str, kind: str, calls: str) -> None:
    """Make calls; runs in a process of its own under strace, which starts to count at the marker."""
    from benchmarks.calls import opened, run

    with opened(Path(folder) / f"syncs-{kind}.db", policy=kind == "policy") as ledger:
        session = ledger.session("s")
        run(session, 1)
        Path(folder, "marker").exists()  # strace sees this look-up: counting begins here
        run(session, int(calls))
        Path(folder, "marker").exists()


def counted(folder: Path, kind: str) -> dict[str, Any]:
    """Return fsyncs a call of the write-ahead log, and those of the database file (checkpoints), for so many calls."""
    log = folder / f"strace-{kind}.txt"
    code = f"from benchmarks.syncs import child; child({str(folder)!r}, {kind!r}, '{CALLS}')"
    command = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,stat,newfstatat,statx", "-o", str(log)]
    subprocess.run([*command, sys.executable, "-c", code], check=True)
    between = log.read_text(errors="replace").split(f'"{folder}/marker"')[1]
    synced = _SYNC.findall(between)
    wal = sum(path.endswith("-wal") for path in synced)
    return {"perCall": round(wal / CALLS, 3), "checkpoints": len(synced) - wal}


def syncs(folder: Path) -> dict[str, Any]:
    """Return the counts without and with a policy, or why there are none."""
    if shutil.which("strace") is None:
        return {"skipped": "strace is not installed"}
    return {kind: counted(folder, kind) for kind in ("plain", "policy")}
