"""A folder that tools may work in, and nothing outside it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from ledger.answers import Rejected


@dataclass(frozen=True, slots=True)
class Workspace:
    """
    The folder a model's paths are relative to; `root` is resolved when it is made (FileNotFoundError if missing).

    It guards against what a model writes, not against another process that swaps folders at the same moment.
    """

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root).resolve(strict=True))

    def resolve(self, path: str) -> Path:
        """
        Return the real place of `path`, every link followed; it may not exist yet.

        Raises Rejected `path_outside` for an absolute path, for one that leads out (`..` or a symbolic link), and for
        one that no file can have (NUL, a lone surrogate). `..` that stays inside is fine.
        """
        if PurePath(path).anchor:
            raise Rejected("path_outside", f"{path!r} is absolute; give a path relative to the workspace.")
        try:
            place = Path(os.path.realpath(self.root / path))
        except ValueError as error:
            raise Rejected("path_outside", f"{path!r} cannot be a path: {error}.") from error
        if not place.is_relative_to(self.root):
            raise Rejected("path_outside", f"{path!r} leads outside the workspace.")
        return place

    def name_of(self, place: Path) -> str:
        """Return a resolved place as the model names it: relative, with `/`, and always valid text."""
        return shown(place.relative_to(self.root).as_posix())


def shown(name: str) -> str:
    r"""Return a file name as valid text: bytes that are not UTF-8 become `\xNN`, since JSON cannot carry them."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
