"""The same faults by strace, from outside of the process: what the disk in it sees is what the system sees."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.store.maintenance import check
from ledger.store.urls import open_store
from tests.store.children import ROOT

CALLS = "pwrite64,pwritev,write,fsync,fdatasync,ftruncate,unlink"
_CALL = re.compile(
    r'(?:pwrite64\(\d+<[^>]*/(?P<write>ledger\.db[-\w]*)>, ".*?"\.*, (?P<count>\d+), (?P<offset>\d+)\)'
    r"|f(?:data)?sync\(\d+<[^>]*/(?P<sync>ledger\.db[-\w]*)>\)"
    r"|ftruncate\(\d+<[^>]*/(?P<truncate>ledger\.db[-\w]*)>, (?P<size>\d+)\)"
    r'|unlink\("[^"]*/(?P<unlink>ledger\.db[-\w]*)"\)) += (?!-1)'
)


def watched(strace: str, log: Path, program: str, folder: Path, *options: str) -> list[str]:
    """Run a program under strace; return what it said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    command = [strace, "-f", "-y", "-o", str(log), *options, sys.executable, "-m", "tests.faults.outside"]
    done = subprocess.run(
        [*command, program, str(folder)], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()


def seen(log: Path) -> list[str]:
    """Return what the system was asked to do to the ledger's files; the log's index is memory, not disk."""
    found = []
    for match in map(_CALL.search, log.read_text(errors="replace").splitlines()):
        if match is None or "ledger.db-shm" in match.group():
            continue
        told = match.groupdict()
        if told["write"]:
            found.append(f"write {told['write']} {told['count']} {told['offset']}")
        elif told["truncate"]:
            found.append(f"truncate {told['truncate']} {told['size']}")
        else:
            found.append(f"sync {told['sync']}" if told["sync"] else f"unlink {told['unlink']}")
    return found


@pytest.mark.usefixtures("failing_disk")
def test_the_disk_sees_what_the_system_sees(strace: str, tmp_path: Path) -> None:
    """Every write, sync, cut and removal that strace sees is in the record of the disk, in the same order."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    told = watched(strace, tmp_path / "log", "recorded", folder, "-s", "0", "-e", f"trace={CALLS}")
    assert told == seen(tmp_path / "log")
    assert sum(line.startswith("sync ledger.db-wal") for line in told) >= 12
    assert {line.split()[0] for line in told} == {"write", "sync", "truncate", "unlink"}


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_the_systems_own_errors_acknowledge_nothing(strace: str, tmp_path: Path, error: str) -> None:
    """Each fourth fsync, or 40th write, fails in the kernel: what was refused and handed in again is there once."""
    open_store(str(tmp_path / "ledger.db"), create=True).close()
    call, when = ("fdatasync", "3+4") if error == "EIO" else ("pwrite64", "20+40")
    inject = f"inject={call}:error={error}:when={when}"
    *told, there = watched(strace, tmp_path / "log", "retried", tmp_path, "-e", f"trace={call}", "-e", inject)
    assert there.split() == [f"e{number}" for number in range(12)]
    assert "refused" in told
    assert told.count("acknowledged") == 12
    assert check(str(tmp_path / "ledger.db")).sound
