"""A catalog of 200 tools checked, locked and checked again: files, examples, the lock, and what models read."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Final

from ledger.catalog.checking import check_catalog
from ledger.catalog.disk import read_sources, write_lock
from ledger.catalog.lock import Lock, extended

TOOLS: Final = 200
VERSIONS: Final = 2
EXAMPLES: Final = 2
"""Good ones and as many bad ones, of each version."""

FIELD: Final = {"type": "string", "description": "One of ten.", "minLength": 1, "maxLength": 200}


def write(root: Path, *, upcasts: bool = False) -> None:
    """Write tools of ten fields, with two versions and examples of each; and the files that carry calls over."""
    for number in range(TOOLS):
        folder = root / f"tool_{number}"
        versions = {str(version): {"contract": {"effect": "write"}} for version in range(1, VERSIONS + 1)}
        words = {"name": folder.name, "description": f"Do the thing number {number}."}
        _put(folder / "tool.json", {"$schema": "../../meta/tool.schema.json", **words, "versions": versions})
        for version in range(1, VERSIONS + 1):
            fields = {f"field_{place}": FIELD for place in range(8 + version)}
            schema = {"type": "object", "additionalProperties": False, "required": ["field_0"], "properties": fields}
            _put(folder / f"v{version}.json", schema)
            for example in range(EXAMPLES):
                place = folder / f"examples/v{version}"
                _put(place / f"ok-{example}.json", {f"field_{each}": "text" for each in range(5)})
                _put(place / f"bad-{example}.json", {f"field_{example}": ""})
        if upcasts:
            added = {"op": "introduce_optional", "path": "/field_9", "absentMeans": "as before"}
            step = {"tool": folder.name, "from": 1, "to": 2, "assertedBy": "bench@example.org", "ops": [added]}
            _put(folder / "v1-v2.upcast.json", {**step, "widens": ["field_9"]})


def _put(file: Path, document: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=2), encoding="utf-8")


def catalogs(folder: Path, rounds: int) -> dict[str, Any]:
    """
    Return the seconds of a whole check, on the clock and of the processor, the best of so many.

    And of one that proves a step between the versions of each tool besides.
    """
    proving = _checked(folder / "proving", rounds, upcasts=True)
    return _checked(folder / "tools", rounds) | {"checkWithUpcastsProcessorSeconds": proving["checkProcessorSeconds"]}


def _checked(root: Path, rounds: int, *, upcasts: bool = False) -> dict[str, Any]:
    write(root, upcasts=upcasts)
    sources = read_sources(root)
    documents = {each.tool: each.documents for each in sources.folders}
    write_lock(root, extended(Lock(), sources.catalog, documents)[0])
    clock, processor = [], []
    for _ in range(rounds):
        began, used = time.perf_counter(), time.process_time()
        report = check_catalog(read_sources(root))
        clock.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
        assert not report.findings
    return {
        "tools": report.tools,
        "versions": report.versions,
        "examples": report.examples,
        "checkSeconds": round(min(clock), 3),
        "checkProcessorSeconds": round(min(processor), 3),
    }
