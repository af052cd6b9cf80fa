"""Prints a session for others: as a provider's request, or as the export that a ledger takes back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ledger.cli.opening import catalog_folder
from ledger.cli.rows import dumps
from ledger.cli.shell import Shell
from ledger.counting import counted
from ledger.errors import IntegrityFailure, LedgerError, UnknownSession
from ledger.importing import format_of
from ledger.providers.bundle import write_bundle
from ledger.providers.check import check
from ledger.providers.export import export
from ledger.providers.formats import get_format
from ledger.replay import session_at
from ledger.store.port import Head, Reader

_PAGE: Final = 500
_MOST: Final = 5
_NOT_PRINTABLE: Final = re.compile(r"[^\x00-\x7e]")
_EXACT: Final = '{"digest":"'
_WRITTEN_ANEW: Final = '{"digest": "'


class ExportRefused(LedgerError):
    """The provider would not take the conversation."""

    default_code = "export_refused"


def print_request(shell: Shell, reader: Reader, session_id: str, format: str | None, *, checked: bool) -> None:
    """
    Print what a request to the provider holds of the session; `format` None: the last turn's provider.

    Calls of tools that the catalog has as removed are told as text: no request declares those tools any more.
    Raises `ExportRefused` where it is `checked` and would be refused.
    """
    history = session_at(reader, session_id)
    name = format or format_of(history)
    body = export(history, get_format(name), gone=_removed(shell))
    problems = check(name, body) if checked else []
    if problems:
        told = "; ".join(f"message {each.place}: {each.message} ({each.code})" for each in problems[:_MOST])
        why = f"{counted(len(problems), 'reason')}: {told}"
        raise ExportRefused(f"{name} would refuse session {session_id!r} for {why}")
    data = {"sessionId": session_id, "format": name, **body}
    shell.out.show(data, ()) if shell.json else shell.out.json(body)
    if checked:
        shell.out.note(f"Checked: {name} would take it.")


def _removed(shell: Shell) -> list[str]:
    folder = catalog_folder(shell)
    if folder is None:
        return []
    from ledger.catalog.files import load_catalog  # seldom there

    return [name for name, tool in load_catalog(folder).tools.items() if tool.stage == "removed"]


def print_bundle(shell: Shell, reader: Reader, session_id: str, *, checked: bool) -> None:
    """
    Print the session's records line by line, so that importing them gives equal digests.

    Raises `UnknownSession`, and `IntegrityFailure` where the chain of digests does not hold, or ends before the head:
    before the first line where it is `checked`, else behind all records that there are. The line that says that the
    session is whole is missing then, so that no import takes it for that.
    """
    head = reader.head(session_id)
    if head is None or not head.sequence:
        raise UnknownSession(session_id)
    if checked:
        for _ in _records(reader, session_id, head):
            pass
    lines = map(_ascii, write_bundle(session_id, _records(reader, session_id, head)))
    if shell.json:
        shell.out.document(_document(session_id, lines))
    else:
        shell.out.verbatim(line.rstrip("\n") for line in lines)


def _records(reader: Reader, session_id: str, head: Head) -> Iterator[bytes]:
    """Yield all records up to the head that there are, then raise where they are not those that were appended."""
    from ledger.events import chain

    digest, after, fault = b"", 0, ""
    while page := reader.read(session_id, after=after, until=head.sequence, limit=_PAGE):
        for stored in page:
            digest = chain(digest, stored.record)
            if stored.sequence != after + 1:
                fault = fault or f"event {after + 1} is missing"
            elif digest != stored.digest:
                fault = fault or f"event {stored.sequence} is not what was recorded"
            yield stored.record
            after = stored.sequence
    if after != head.sequence:
        fault = fault or f"event {after + 1} is missing, of {head.sequence}"
    elif digest != head.digest:
        fault = fault or "its head is that of other events"
    if fault:
        raise IntegrityFailure(f"session {session_id!r}: {fault}", hint="Run `ledger db check`.")


def _document(session_id: str, lines: Iterator[str]) -> Iterator[str]:
    yield f'{{"sessionId": {dumps(session_id)}, "format": "ledger", "lines": ['
    between = ""
    for line in lines:
        yield between + line.rstrip("\n")
        between = ", "
    yield "]}"


def _ascii(line: bytes) -> str:
    """
    Return a line in printable ASCII, so that no terminal and no encoding changes it.

    Where that is not its exact text, it is marked as written anew: the reader then goes by its canonical form.
    """
    text = line.decode()
    safe = _NOT_PRINTABLE.sub(_escape, text)
    return safe if safe == text else safe.replace(_EXACT, _WRITTEN_ANEW, 1)


def _escape(found: re.Match[str]) -> str:
    return dumps(found[0])[1:-1] if found[0] != "\x7f" else "\\u007f"
