"""A copy of a ledger, as the command line tells it: where it lies, what is in it, what a check of it found."""

from __future__ import annotations

from ledger.cli.checking import extent
from ledger.cli.faults import DONE, FAILED, INTEGRITY
from ledger.cli.layout import bullets
from ledger.cli.rows import Row
from ledger.cli.text import Ink, Line
from ledger.counting import counted
from ledger.store.backup import backup
from ledger.store.maintenance import Health


def backed_up(url: str, file: str) -> tuple[Row, list[Line], int]:
    """Copy the ledger; return what to tell programs and people, and the exit status."""
    done = backup(url, file)
    health = done.health
    found = _found(health)
    data: Row = {
        "source": str(done.source),
        "path": str(done.path),
        "size": health.size,
        "revision": health.revision,
        "sessions": health.chains.sessions,
        "ownStreams": list(health.chains.own),
        "events": health.chains.events,
        "sound": health.sound,
        "found": found,
    }
    lines: list[Line] = [f"Copied {done.source} to {done.path}: {health.size} bytes, {extent(data)}."]
    if health.sound:
        lines.append(Ink("The copy is whole, and so is every chain of digests in it.", "good"))
        return data, lines, DONE
    lines += [Ink("The copy is as it was read, but it is not sound; `ledger db check` says more.", "bad")]
    lines += bullets(found)
    return data, lines, INTEGRITY if health.damage or health.chains.bad else FAILED


def _found(health: Health) -> list[str]:
    """Return in words what is wrong with the copy."""
    found = [*health.damage, *health.unguarded]
    found += [f"{fault.session_id}, event {fault.sequence}: {fault.why}" for fault in health.chains.faults]
    if health.orphans.rows or health.orphans.proposals:
        rows, proposals = counted(health.orphans.rows, "call"), counted(health.orphans.proposals, "proposal")
        found.append(f"{rows} without a proposal, {proposals} without a row")
    return found
