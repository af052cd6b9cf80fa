"""The old tools and those that are there instead: one search became two, one deployment became two steps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ledger import Ask, Ledger, NotFound
from ledger.answers import Allow
from ledger.demo.workspace import Workspace

APPROVER = "ada"
MOST = 50


@dataclass(frozen=True, slots=True)
class Code:
    """Searches the files of a workspace, by their lines or by their names."""

    workspace: Workspace

    def search_code(self, query: str, look_in: str) -> dict[str, Any]:
        return self.glob(query) if look_in == "names" else self.grep(query)

    def grep(self, text: str) -> dict[str, Any]:
        found = []
        for file in self._files():
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            name = self.workspace.name_of(file)
            found += [{"file": name, "line": n} for n, line in enumerate(lines, 1) if text in line]
        return {"lines": found[:MOST]}

    def glob(self, pattern: str) -> dict[str, Any]:
        names = [self.workspace.name_of(file) for file in self._files()]
        return {"files": [name for name in names if fnmatchcase(Path(name).name, pattern)][:MOST]}

    def _files(self) -> list[Path]:
        """Return the files that lie inside, links left out."""
        inside = self.workspace.root.rglob("*")
        return sorted(file for file in inside if file.is_file() and not file.is_symlink())


@dataclass(frozen=True, slots=True)
class Releases:
    """A folder with what is prepared, and with what the users of each service get."""

    folder: Path

    def deploy(self, service: str, version: str) -> dict[str, Any]:
        return self.publish_release(self.prepare_release(service, version)["release"])

    def prepare_release(self, service: str, version: str) -> dict[str, Any]:
        release = f"{service}-{version}"
        _put(self.folder / "prepared" / f"{release}.json", {"service": service, "version": version})
        return {"release": release}

    def publish_release(self, release: str) -> dict[str, Any]:
        file = self.folder / "prepared" / f"{release}.json"
        if not file.is_file():
            raise NotFound(f"There is no release {release!r}; prepare it first.")
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        _put(self.folder / "public" / f"{found['service']}.json", found)
        return found

    def public(self) -> dict[str, str]:
        """Return the version that the users of each service get."""
        files = sorted((self.folder / "public").glob("*.json"))
        return {file.stem: json.loads(file.read_text(encoding="utf-8"))["version"] for file in files}


def _put(file: Path, document: dict[str, Any]) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(document), encoding="utf-8")


def equip(ledger: Ledger, code: Code, releases: Releases) -> None:
    """Give a ledger the four tools and the two old ones; what is published is approved by a person."""
    for tool in (code.search_code, code.grep, code.glob):
        ledger.tool(tool.__name__)(tool)
    for step in (releases.deploy, releases.prepare_release, releases.publish_release):
        ledger.tool(step.__name__)(step)

    @ledger.authorize
    def publishing_is_approved(call: Any, principal: Any) -> Allow | Ask:  # noqa: ARG001 - it is the same for everybody
        return Ask(APPROVER) if call.tool == "publish_release" else Allow()
