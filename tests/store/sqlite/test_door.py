"""What the operating system is asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledger.store.sqlite import door

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:45 / /mnt/share rw,relatime shared:2 master:7 - nfs4 server:/export rw,vers=4.2
24 22 0:46 / /mnt/ssh rw,nosuid - fuse.sshfs host:/ rw
25 22 0:47 / /mnt/odd rw,nosuid
26 22
27 22 0:48 / /mnt/last rw - \n
"""


@pytest.mark.parametrize(
    ("major", "minor", "kind"),
    [(8, 1, None), (0, 45, "nfs4"), (0, 46, "fuse.sshfs"), (0, 47, None), (0, 48, None), (9, 9, None)],
)
def test_a_file_system_is_known_by_its_device(major: int, minor: int, kind: str | None) -> None:
    """Network file systems are named, local and unknown ones are not; a strange line is passed over."""
    assert door.kind_of(os.makedev(major, minor), MOUNTS) == kind


def test_a_system_without_a_list_of_mounts_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be known, nothing is refused."""
    monkeypatch.setattr(door, "MOUNTS", str(tmp_path / "none"))
    assert door.network_kind(str(tmp_path)) is None


def test_this_folder_is_local(tmp_path: Path) -> None:
    """The folder of the tests is no network file system."""
    assert door.network_kind(str(tmp_path)) is None


def test_systems_without_fork_need_no_care(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can fork there is nothing to register."""
    monkeypatch.delattr(os, "register_at_fork")
    called: list[int] = []
    door.around_fork(*[lambda: called.append(1)] * 3)
    pid = os.fork()
    if pid == 0:
        os._exit(len(called))
    assert os.waitpid(pid, 0)[1] == 0
