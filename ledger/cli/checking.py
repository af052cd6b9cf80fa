"""The health of a ledger: its file, its chains of digests, the table of calls, and the upcasts that were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from ledger.audit.projection import MOST_SHOWN, Folded
from ledger.audit.rows import changed_keys
from ledger.calls import CallRow
from ledger.catalog import Catalog, load_catalog
from ledger.cli.faults import DONE, FAILED, INTEGRITY
from ledger.cli.layout import bullets, facts, heading
from ledger.cli.opening import catalog_folder
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.table import tail
from ledger.cli.text import Ink, Line
from ledger.counting import counted
from ledger.errors import CatalogFault
from ledger.session.reading import open_reader
from ledger.store.maintenance import Health, ServerHealth, check, check_server, is_server
from ledger.store.port import Reader
from ledger.store.urls import open_store

_WHOLE: Final = "The file is whole, and so is every chain of digests."

_DOUBTS: Final = {
    "file": "its upcast file is another one now",
    "version": "its upcast file leads to another version",
    "approval": "it kept an approval, and its upcast file does not",
    "before": "the arguments that it carried had another digest",
    "after": "the carried arguments have another digest",
    "image": "the file makes something else of the arguments",
    "origin": "the carried arguments do not lead back",
}
"""What contradicts a recorded upcast, in words."""

_EDITED: Final = (
    "A file that carried calls was edited: put it back as it was, and let a new version (`ledger tool new-version`) "
    "and its own file say what else is meant."
)
"""The way out where a file says something else by now than it did when it carried calls."""

_Difference: TypeAlias = tuple[str, CallRow | None, CallRow | None]


def checked(shell: Shell, *, rebuild: bool) -> tuple[Row, int]:
    """Check everything; return what to tell, and the exit status."""
    health = check_server(shell.db) if is_server(shell.db) else check(shell.db)
    told = _server(health) if isinstance(health, ServerHealth) else _file(health)
    broken = bool(told["damage"] or health.chains.bad)
    data = {**told, **_found(health)}
    try:
        beside, found = _beside(shell, rebuild=rebuild and not broken)  # from damaged events nothing is rebuilt
    except Exception:  # values that were never written there; that of a sound ledger is no exception of this kind
        if not broken:
            raise
        beside, found = _not_compared(), True
        data["notes"] = [*data["notes"], "What stands beside the events could not be compared with them."]
    unsound = found or not health.sound
    return {**data, **beside, "sound": not broken and not unsound}, INTEGRITY if broken else FAILED if unsound else DONE


def _not_compared() -> Row:
    """Return what is told beside events that are damaged so far that nothing can be held to them."""
    from ledger.schema_migration.confirming import Confirmed

    counts = dict.fromkeys(("unreadable", "newer", "notFollowing"), 0)
    upcasts = Confirmed().to_wire() | {"catalogFault": None}
    return {**counts, "places": [], **_projection([], rebuilt=False), "upcasts": upcasts, "lookUps": []}


def _beside(shell: Shell, *, rebuild: bool) -> tuple[Row, bool]:
    """Compare what stands beside the events with them; return what was found, and whether anything is wrong."""
    store = open_store(shell.db, create=False) if rebuild else open_reader(shell.db)
    try:
        folded = Folded(store)
        differences = list(store.rebuild(folded.rows(), write=rebuild))
        look_ups = store.reindex(write=rebuild)
        upcasts = _upcasts(shell, store)
    finally:
        store.close()
    data = {**_folded(folded), **_projection(differences, rebuilt=rebuild), "upcasts": upcasts}
    data["lookUps"] = [{"table": name, "differences": count} for name, count in look_ups]
    wrong = folded.broken or folded.unreadable > folded.newer or differences or look_ups or upcasts["doubted"]
    return data, bool(wrong)


def _upcasts(shell: Shell, reader: Reader) -> Row:
    """
    Hold the recorded upcasts to the catalog's files; a ledger without any needs no catalog.

    A catalog that cannot be read keeps nobody from knowing how the ledger is.
    """
    from ledger.schema_migration.confirming import Confirmed, confirming

    faults: list[str] = []

    def catalog() -> Catalog | None:
        folder = catalog_folder(shell)
        try:
            return load_catalog(folder) if folder is not None else None
        except CatalogFault as fault:
            faults.append(fault.message)
            return None

    found = Confirmed()
    for _ in shell.out.progress(confirming(reader, catalog, found), "Confirming upcasts"):
        pass
    return found.to_wire() | {"catalogFault": faults[0] if faults else None}


def _file(health: Health) -> Row:
    return {
        "path": str(health.path),
        "size": health.size,
        "mode": health.mode,
        "revision": health.revision,
        "sqliteVersion": health.sqlite_version,
        "walResetBug": health.wal_reset_bug,
        "journalMode": health.journal_mode,
        "synchronous": health.synchronous,
        "damage": list(health.damage),
    }


def _server(health: ServerHealth) -> Row:
    return {
        "path": health.place,
        "size": health.size,
        "revision": health.revision,
        "serverVersion": health.server_version,
        "synchronous": health.synchronous_commit,
        "damage": [],
    }


def _found(health: Health | ServerHealth) -> Row:
    chains, orphans = health.chains, health.orphans
    return {
        "sessions": chains.sessions,
        "ownStreams": list(chains.own),
        "events": chains.events,
        "brokenChains": chains.bad,
        "chainFaults": [
            {"sessionId": fault.session_id, "sequence": fault.sequence, "position": fault.position, "why": fault.why}
            for fault in chains.faults
        ],
        "unguarded": list(health.unguarded),
        "orphans": {"calls": orphans.rows, "proposals": orphans.proposals},
        "clockBack": chains.clock_back,
        "notes": list(health.notes),
    }


def _folded(folded: Folded) -> Row:
    return {
        "unreadable": folded.unreadable,
        "newer": folded.newer,
        "notFollowing": folded.broken,
        "places": [{"sessionId": where, "sequence": sequence, "why": why} for where, sequence, why in folded.places],
    }


def _projection(differences: list[_Difference], *, rebuilt: bool) -> Row:
    return {
        "differences": len(differences),
        "rebuilt": rebuilt and bool(differences),
        "differing": [
            {"callId": call_id, "what": _what(stored, right)} for call_id, stored, right in differences[:MOST_SHOWN]
        ],
    }


def _what(stored: CallRow | None, right: CallRow | None) -> str:
    if stored is None:
        return "has no row"
    if right is None:
        return "has a row without events"
    return "differs in " + (", ".join(changed_keys(stored, right)) or "its position, or how a value is stored")


def health_lines(data: Row, rebuild: str) -> Iterator[Line]:
    """
    Yield the page for people: what was looked at, then what is wrong, then what deserves a look.

    `rebuild` is the command that writes the table of calls again.
    """
    yield Ink(data["path"], "strong")
    yield from facts(_surroundings(data) | _recorded(data))
    yield from _integrity(data)
    yield from _findings(data, rebuild)
    notes = [*data["notes"], *_remarks(data)]
    if notes:
        yield from heading("Notes")
        yield from bullets(notes)


def extent(data: Row) -> str:
    """Return how much is recorded, in words: sessions as people know them, and what the ledger keeps beside them."""
    own = f" and in {', '.join(data['ownStreams'])}, the ledger's own stream" if data["ownStreams"] else ""
    return f"{counted(data['events'], 'event')} in {counted(data['sessions'], 'session')}{own}"


def _recorded(data: Row) -> dict[str, str]:
    found = {"recorded": extent(data)}
    upcasts = data["upcasts"]
    if upcasts["recorded"]:
        found["upcasts"] = f"{upcasts['confirmed']} of {upcasts['recorded']} confirmed against their files"
    return found


def _surroundings(data: Row) -> dict[str, str]:
    tables = {"tables": f"revision {data['revision']}"}
    if "serverVersion" in data:
        settings = f"{data['serverVersion']}, synchronous_commit {data['synchronous']}"
        return {"size": f"{data['size']} bytes", **tables, "PostgreSQL": settings}
    settings = f"{data['sqliteVersion']}, journal {data['journalMode']}, synchronous {data['synchronous']}"
    return {"file": f"{data['size']} bytes, mode {data['mode']}", **tables, "SQLite": settings}


def _integrity(data: Row) -> Iterator[Line]:
    faults = data["chainFaults"]
    wrong = [*(f"{each['sessionId']}, event {each['sequence']}: {each['why']}" for each in faults), *data["damage"]]
    yield ""
    if not wrong:
        server = "serverVersion" in data
        yield Ink("Every chain of digests is whole." if server else _WHOLE, "good")
        return
    yield Ink("What is recorded was damaged or changed.", "bad")
    yield from bullets(wrong)
    if data["brokenChains"] > len(faults):
        yield f"  and {counted(data['brokenChains'] - len(faults), 'session')} more"


def _findings(data: Row, rebuild: str) -> Iterator[Line]:
    found = [f"{each['sessionId']}, event {each['sequence']}: {each['why']}" for each in data["places"]]
    if data["unguarded"]:
        yield from heading("The database is not as it was made, and may not keep events from being changed")
        yield from bullets(data["unguarded"])
        yield "  Whoever changed that could change events; what the digests say stands above. Put back a sound copy."
    if found:
        yield from heading("Events that cannot be read, or do not follow")
        yield from bullets(found)
    if data["upcasts"]["doubted"]:
        yield from heading(f"Recorded upcasts that do not stand: {data['upcasts']['doubted']}")
        yield from bullets(_doubt(each) for each in data["upcasts"]["doubts"])
        if any("file" in each["doubts"] for each in data["upcasts"]["doubts"]):
            yield f"  {_EDITED}"
    if data["lookUps"]:
        yield from heading("Tables that audit looks up differ from the events")
        yield from bullets(f"{each['table']}: {counted(each['differences'], 'row')}" for each in data["lookUps"])
    if data["differences"]:
        verb = "was written again from" if data["rebuilt"] else "differs from"
        yield from heading(f"The table of calls {verb} the events: {counted(data['differences'], 'row')}")
        yield from bullets(f"{each['callId']} {each['what']}" for each in data["differing"])
        if not data["rebuilt"]:
            yield f"  `{rebuild}` writes them again."


def _doubt(found: Row) -> str:
    where = f"{found['sessionId']}, event {found['sequence']}: {tail(found['callId'])}"
    why = "; ".join(_DOUBTS[each] for each in found["doubts"])
    return f"{where} {found['tool']} v{found['fromVersion']} to v{found['toVersion']}: {why}"


def _remarks(data: Row) -> Iterator[str]:
    back, beyond, fault = data["clockBack"], data["upcasts"]["beyond"], data["upcasts"]["catalogFault"]
    if back:
        yield f"The clock went back {counted(back, 'time')}; order is by sequence, so nothing is wrong."
    reworded = data["upcasts"]["reworded"]
    if reworded:
        names = counted(reworded, "recorded upcast names a file", "recorded upcasts name a file")
        yield f"{names} that was edited since; what it does to their arguments is the same, so they stand."
    if beyond:
        one, many = "recorded upcast was held to its digests only", "recorded upcasts were held to their digests only"
        told = f"{beyond} of {counted(data['upcasts']['recorded'], one, many)}"
        why = f"the catalog cannot be read ({fault})" if fault else "the catalog at hand does not have their files"
        yield f"{told}: {why}. Name the catalog with --catalog."
