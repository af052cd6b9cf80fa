"""Where the ledger of a world is: a file in the world's folder, or a database of the run's server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, get_args

Backend: TypeAlias = Literal["sqlite", "postgres"]
BACKENDS: Final[tuple[Backend, ...]] = get_args(Backend)


class Place(Protocol):
    """What a world has to know of its ledger's place."""

    @property
    def url(self) -> str:
        """What `Ledger.open` takes."""
        ...

    def quiet(self) -> None:
        """Return when nothing happens there any more: of what a killed process had sent nothing is under way."""
        ...

    def copied(self, folder: Path) -> Place:
        """Return the place of the same ledger beside a copy of its world's folder, once nobody is at work there."""
        ...

    def remove(self) -> None:
        """Take away what is not in the world's folder."""
        ...


@dataclass(frozen=True, slots=True)
class File:
    """A file in the world's folder: it is copied and removed with that."""

    folder: Path

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder / 'ledger.db'}"

    def quiet(self) -> None:
        """A file is as its last process has left it."""

    def copied(self, folder: Path) -> File:
        return File(folder)

    def remove(self) -> None:
        """The folder is all there is."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A ledger that ends with its process."""

    url: str = "memory://"

    def quiet(self) -> None:
        """Nobody else can be at work there."""

    def copied(self, folder: Path) -> Memory:
        raise TypeError(f"a ledger in memory ends with its process: nothing is left to copy to {folder}")

    def remove(self) -> None:
        """It is gone."""


def new(backend: Backend, folder: Path) -> Place:
    """Return the place of a ledger that nobody has begun; on a server it has its tables."""
    if backend == "sqlite":
        return File(folder)
    from tests.crash import databases  # what it loads makes each fork dearer

    return databases.new()
