"""What a disk holds after the power went: all that was synced, and any part of the rest."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from tests.faults.disk import Link, Mark, Step, Sync, Truncate, Unlink, Write

Loss: TypeAlias = Literal["all", "none", "tail", "some", "torn", "garbage"]
LOSSES: Final[tuple[Loss, ...]] = ("all", "none", "tail", "some", "torn", "garbage")
"""
What becomes of the writes that were not synced.

All are lost; none; the last ones; each by chance; also parts of one, sector by sector; and what was to be written there
holds chance bytes. Bytes beside a write are never changed: SQLite counts on that (SQLITE_IOCAP_POWERSAFE_OVERWRITE).
"""
SECTOR: Final = 512


@dataclass(slots=True)
class _File:
    """One file: what is surely on the disk, and what was written since."""

    sure: bytearray = field(default_factory=bytearray)
    since: list[Write | Truncate] = field(default_factory=list)

    def do(self, step: Write | Truncate) -> None:
        if isinstance(step, Truncate):
            grown = step.size - len(self.sure)
            if grown > 0:
                self.sure.extend(bytes(grown))
            del self.sure[step.size :]
            return
        end = step.offset + len(step.data)
        if end > len(self.sure):
            self.sure.extend(bytes(end - len(self.sure)))
        self.sure[step.offset : end] = step.data


@dataclass(slots=True)
class Image:
    """A disk at one moment: its files, which name leads to which, and what the host knew."""

    chance: random.Random
    loss: Loss
    files: dict[int, _File] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    renamed: list[Link | Unlink] = field(default_factory=list)
    known: list[Any] = field(default_factory=list)

    def step(self, step: Step) -> None:
        """Let one thing happen."""
        match step:
            case Write() | Truncate():
                self._file(step.file).since.append(step)
            case Sync(file, done=True):
                self._settle(file)
            case Sync(file):
                self._lose(self._file(file))
            case Link():
                self.renamed.append(step)
            case Unlink(_, settled):
                self.renamed.append(step)
                if settled:
                    self._rename(len(self.renamed))
            case Mark(what):
                self.known.append(what)

    def _file(self, file: int) -> _File:
        return self.files.setdefault(file, _File())

    def _settle(self, file: int) -> None:
        """An fsync; of a new file the folder is synced too, which settles every name in it."""
        there = self._file(file)
        for step in there.since:
            there.do(step)
        there.since = []
        if any(isinstance(step, Link) and step.file == file for step in self.renamed):
            self._rename(len(self.renamed))

    def _rename(self, count: int) -> None:
        """Names change in order: file systems keep a journal of them."""
        for step in self.renamed[:count]:
            if isinstance(step, Link):
                self.names[step.name] = step.file
            else:
                self.names.pop(step.name, None)
        del self.renamed[:count]

    def power_off(self) -> None:
        """Decide what becomes of all that was not synced."""
        for file in self.files.values():
            self._lose(file)
        keep = {"all": 0, "none": len(self.renamed)}.get(self.loss, self.chance.randint(0, len(self.renamed)))
        self._rename(keep)

    def _lose(self, file: _File) -> None:
        """
        Keep some of what was written since the last sync.

        After an fsync that failed too: the system may then hold for written what never was
        (https://wiki.postgresql.org/wiki/Fsync_Errors).
        """
        steps, file.since = file.since, []
        if self.loss == "tail":
            steps = steps[: self.chance.randint(0, len(steps))]
        for step in steps:
            if self.loss in ("none", "tail") or (self.loss != "all" and self.chance.random() < 0.5):
                self._keep(file, step)

    def _keep(self, file: _File, step: Write | Truncate) -> None:
        if isinstance(step, Truncate) or self.loss not in ("torn", "garbage"):
            file.do(step)
            return
        start, end = step.offset, step.offset + len(step.data)
        for sector in range(start // SECTOR * SECTOR, end, SECTOR):
            first, last = max(start, sector), min(end, sector + SECTOR)
            data = step.data[first - start : last - start]
            if self.chance.random() < 0.5:
                if self.loss == "torn":
                    continue
                data = self.chance.randbytes(len(data))
            file.do(Write(step.file, first, data))

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, file in self.names.items():
            (folder / name).write_bytes(self._file(file).sure)


def image(steps: Sequence[Step], cut: int, loss: Loss, seed: int) -> Image:
    """Return the disk as it is when the power goes before step `cut`."""
    found = Image(random.Random(seed), loss)
    for step in steps[:cut]:
        found.step(step)
    found.power_off()
    return found
