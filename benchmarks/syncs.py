"""Fsyncs a call, counted by strace from outside, of one session and of 32 at once; the three of a checkpoint apart."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

CALLS = 200
CALLS_AT_ONCE = 1600
SESSIONS = 32
_SYNC = re.compile(r"(?:fsync|fdatasync)\(\d+<([^>]*)>\)")


def child(folder: str, kind: str, calls: str) -> None:
    """Make calls; runs in a process of its own under strace, which starts to count at the marker."""
    from benchmarks.calls import opened, run

    with opened(Path(folder) / f"syncs-{kind}.db", policy=kind == "policy") as ledger:
        sessions = [ledger.session(f"s{n}") for n in range(SESSIONS if kind == "atOnce" else 1)]
        for session in sessions:
            run(session, 1)
        threads = [Thread(target=run, args=(session, int(calls) // len(sessions))) for session in sessions]
        Path(folder, "marker").exists()  # strace sees this look-up: counting begins here
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        Path(folder, "marker").exists()


def counted(folder: Path, kind: str) -> dict[str, Any]:
    """Return fsyncs a call, how many checkpoints there were beside, and all fsyncs of so many calls."""
    log = folder / f"strace-{kind}.txt"
    calls = CALLS_AT_ONCE if kind == "atOnce" else CALLS
    code = f"from benchmarks.syncs import child; child({str(folder)!r}, {kind!r}, '{calls}')"
    command = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-y",
        "-e",
        "trace=fsync,fdatasync,stat,newfstatat,statx",
        "-o",
        str(log),
    ]
    subprocess.run([*command, sys.executable, "-c", code], check=True)
    between = log.read_text(errors="replace").split(f'"{folder}/marker"')[1]
    synced = ["log" if path.endswith("-wal") else "database" for path in _SYNC.findall(between)]
    checkpoints = synced.count("database")
    # A checkpoint syncs the log before it copies, the database, and the log's new header at the next commit.
    commits = synced.count("log") - 2 * checkpoints
    return {"perCall": round(commits / calls, 3), "checkpoints": checkpoints, "allSyncs": len(synced)}


def syncs(folder: Path) -> dict[str, Any]:
    """Return the counts without and with a policy and of sessions at once, or why there are none."""
    if shutil.which("strace") is None:
        return {"skipped": "strace is not installed"}
    return {kind: counted(folder, kind) for kind in ("plain", "policy", "atOnce")}
