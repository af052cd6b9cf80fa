"""What becomes of recorded calls under a newer catalog: a plan over a long history, and the check before a deploy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

from benchmarks import catalogs
from benchmarks.audits import PASSED, START, filled
from ledger import Ledger
from ledger.calls import Call, CallRow, call_row, evolve
from ledger.catalog import Catalog, load_catalog
from ledger.events import Body, CallProposed, CallStarted, CallSucceeded, Event, SessionOpened
from ledger.ids import iso

CALLS_OF_SESSION: Final = 20
EVENTS_OF_SESSION: Final = 1 + 5 * CALLS_OF_SESSION
OPEN_EVERY: Final = 100
"""One session of so many was left in the middle, with its last calls open."""

OPEN_CALLS: Final = 5
TOOLS: Final = 40
"""Half of them change their form in the new release."""

TEXT: Final = {"type": "string", "description": "Some text."}


def release(root: Path, current: int) -> Path:
    """Write the catalog of a release; in the second one every other tool calls its argument by another name."""
    for number in range(TOOLS):
        folder = root / f"tool{number}"
        folder.mkdir(parents=True, exist_ok=True)
        last = current if number % 2 else 1
        versions = {str(version): {"contract": {"effect": "write"}} for version in range(1, last + 1)}
        _put(
            folder / "tool.json", {"name": folder.name, "description": "Do it.", "current": last, "versions": versions}
        )
        for version, name in zip(range(1, last + 1), ("text", "words"), strict=False):
            schema = {"type": "object", "properties": {name: TEXT}, "required": [name], "additionalProperties": False}
            _put(folder / f"v{version}.json", schema)
        if last > 1:
            rename = {"op": "rename", "from": "/text", "to": "/words"}
            file = {"tool": folder.name, "from": 1, "to": 2, "assertedBy": "bench@example.org", "ops": [rename]}
            _put(folder / "v1-v2.upcast.json", file)
    return root


def _put(file: Path, document: Any) -> None:
    file.write_text(json.dumps(document, indent=2), encoding="utf-8")


def work(**_arguments: Any) -> None:
    """Do it."""


def published(url: str, root: Path) -> Catalog:
    """Open the ledger as the program of this catalog does, so that its versions are recorded; return the catalog."""
    catalog = load_catalog(root)
    with Ledger.open(url, catalog=catalog) as ledger:
        for definition in catalog.tools.values():
            ledger.tool(definition.name, version=1)(work)
    return catalog


def sessions(catalog: Catalog) -> Any:
    """Return what makes the session of a number: its calls all ended, but the last ones of some sessions."""

    def made(number: int) -> tuple[list[Event], list[CallRow]]:
        name = f"session-{number:06}"
        at = START + timedelta(minutes=number)
        about: dict[str, Any] = {"session_id": name, "recorded_at": iso(at)}
        events = [Event(event_id="e1", body=SessionOpened(), actor="ledger", **about)]
        left = number % OPEN_EVERY == 0
        calls = []
        for place in range(CALLS_OF_SESSION):
            ended = not left or place < CALLS_OF_SESSION - OPEN_CALLS
            told = _call(catalog, number * CALLS_OF_SESSION + place, len(events), about, ended=ended)
            call = Call()
            for event in told:
                call = evolve(call, event, 1)
            events += told
            calls.append(call_row(call))
        return events, calls

    return made


def _call(catalog: Catalog, one: int, before: int, about: dict[str, Any], *, ended: bool) -> list[Event]:
    tool = f"tool{one % TOOLS}"
    proposed = CallProposed(raw_arguments='{"text": "x"}', arguments={"text": "x" * 40}, effect="write")
    started = CallStarted(idempotency_key=f"k{one}", worker="w", token=1)
    bodies: tuple[Body, ...] = (proposed, *PASSED, started, CallSucceeded(result={"done": True}, duration_ms=3.0))
    return [
        Event(
            event_id=f"e{before + step}",
            body=body,
            actor="ledger",
            call_id=f"{one:08x}-call",
            tool=tool,
            schema_version=1,
            schema_digest=catalog.tools[tool].versions[1].shape_digest,
            turn=one % CALLS_OF_SESSION + 1,
            index=0,
            revision=0,
            **about,
        )
        for step, body in zip(count(1), bodies if ended else bodies[:2], strict=False)
    ]


def command(*arguments: str) -> tuple[Any, dict[str, float]]:
    """Run the command as a process; return its data, with its seconds, those of the processor, and its peak in MiB."""
    begun = time.perf_counter()
    words = [sys.executable, "-m", "ledger", *arguments, "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        said = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    spent = used.ru_utime + used.ru_stime
    peak = used.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    seconds = time.perf_counter() - begun
    return json.loads(said)["data"], {
        "seconds": round(seconds, 2),
        "processor": round(spent, 2),
        "peakMiB": round(peak),
    }


def history(folder: Path, calls: int) -> dict[str, Any]:
    """
    Plan over a tenth of so many recorded calls, and over all of them: what a long history adds.

    `open` calls are those that `--strict` looks at; `--all` reports on each call.
    """
    path = folder / "plans.db"
    url = f"sqlite:///{path}"
    catalog = published(url, release(folder / "old", 1))
    new = release(folder / "new", 2)
    found: dict[str, Any] = {"calls": calls}
    for name, size in (("tenth", calls // 10), ("whole", calls)):
        filled(path, size // CALLS_OF_SESSION * EVENTS_OF_SESSION, sessions(catalog))
        data, spent = command("migrate-schemas", "--strict", "--db", url, "--catalog", str(new))
        every, spent_all = command("migrate-schemas", "--all", "--db", url, "--catalog", str(new))
        reported = sum(group["calls"] for group in every["groups"])
        found[name] = {
            "open": sum(group["calls"] for group in data["groups"]),
            "plan": spent,
            "all": spent_all | {"calls": reported, "callsPerSecond": round(reported / spent_all["processor"])},
        }
    data, spent = command("migrate-schemas", "--apply", "--db", url, "--catalog", str(new))
    found["apply"] = spent | {"carried": data["carried"]}
    tenth, whole = found["tenth"], found["whole"]
    found["planGrownMiB"] = whole["plan"]["peakMiB"] - tenth["plan"]["peakMiB"]
    found["allGrownMiB"] = whole["all"]["peakMiB"] - tenth["all"]["peakMiB"]
    path.unlink()
    return found


def deploys(folder: Path, rounds: int) -> dict[str, Any]:
    """
    Check a deploy of 200 tools with 400 versions, one call of each tool open; the new release changed some, or all.

    Seconds of the processor of the whole process, the best of so many: starting, reading the catalog, proving each
    step that an open call takes, certifying the calls.
    """
    found: dict[str, Any] = {"tools": catalogs.TOOLS, "versions": catalogs.TOOLS * catalogs.VERSIONS}
    root = folder / "deploys"
    catalogs.write(root, upcasts=True)
    catalog = load_catalog(root)
    for name, changed in (("someChanged", catalogs.TOOLS // 10), ("allChanged", catalogs.TOOLS)):
        url = f"sqlite:///{folder / name}.db"
        with Ledger.open(url, catalog=catalog) as ledger:
            for number, definition in enumerate(catalog.tools.values()):
                version = 1 if number < changed else 2
                ledger.tool(definition.name, version=version)(work)
                ledger.session(f"of-{definition.name}").propose(definition.name, {"field_0": "text"})
        spent = []
        for _ in range(rounds):
            data, used = command("migrate-schemas", "--strict", "--db", url, "--catalog", str(root))
            ready = sum(group["calls"] for group in data["groups"] if group["status"] == "migratable")
            assert ready == changed
            spent.append(used["processor"])
        found[name] = {"changed": changed, "processorSeconds": min(spent)}
    return found


def plans(folder: Path, rounds: int, calls: int) -> dict[str, Any]:
    """Measure both."""
    return {"history": history(folder, calls), "deploy": deploys(folder, rounds)}
