"""A catalog folder for the tests of its life: written, published, edited, checked."""

import json
from pathlib import Path
from typing import Any

from ledger.catalog.checking import Report, check_catalog
from ledger.catalog.disk import read_sources, write_lock
from ledger.catalog.lock import Addition, Lock, extended

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["path"],
    "properties": {"path": {"type": "string", "description": "Where it is."}},
}


class Shelf:
    """Writes files below a root, and tells what a check says of them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, document: Any) -> Path:
        """Write a file; a text goes out as it is."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return file

    def tool(self, name: str = "look_at", schemas: tuple[Any, ...] = (SCHEMA,), **changes: Any) -> None:
        """Write a tool with its versions from 1; the last one is current."""
        contract = {"contract": {"effect": "read"}}
        document = {
            "$schema": "../../meta/tool.schema.json",
            "name": name,
            "description": f"Look at {name}.",
            "versions": {str(number): contract for number in range(1, len(schemas) + 1)},
            **changes,
        }
        self.write(f"{name}/tool.json", {key: value for key, value in document.items() if value is not None})
        for number, schema in enumerate(schemas, 1):
            self.write(f"{name}/v{number}.json", schema)

    def edit(self, name: str, **changes: Any) -> None:
        """Change keys of a JSON file."""
        document = json.loads((self.root / name).read_text(encoding="utf-8"))
        self.write(name, {**document, **changes})

    def publish(self) -> tuple[Addition, ...]:
        """Write the lock, whatever a check says."""
        sources = read_sources(self.root)
        documents = {folder.tool: folder.documents for folder in sources.folders}
        lock, additions = extended(sources.lock or Lock(), sources.catalog, documents)
        write_lock(self.root, lock)
        return additions

    def report(self) -> Report:
        """Return what a check says."""
        return check_catalog(read_sources(self.root))

    def said(self) -> list[tuple[str, str, str]]:
        """Return code, file (below the root) and pointer of all that a check says."""
        return [(note.code, self.below(note.path), note.pointer) for note in self.report().notes]

    def below(self, path: str) -> str:
        """Return a path as seen from the root."""
        return Path(path).relative_to(self.root).as_posix()
