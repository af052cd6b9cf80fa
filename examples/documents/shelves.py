"""What the assistant works on: documents in a database, reports as files; each belongs to one tenant."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SEED = Path(__file__).with_name("library.json")


class Conflict(Exception):
    """The report has another version than the writer expected; nothing was written."""

    def __init__(self, version: int) -> None:
        super().__init__(f"The report has version {version}.")
        self.version = version


@dataclass(frozen=True)
class Library:
    """A folder with `documents.db`, and `reports/TENANT/NAME.json` with version, key and content."""

    folder: Path

    def seed(self) -> None:
        """Put the documents of library.json into the database."""
        rows = json.loads(SEED.read_text(encoding="utf-8"))
        with closing(self.connection()) as database, database:
            database.execute("CREATE TABLE document (document_id TEXT PRIMARY KEY, tenant, version, title, text)")
            database.executemany("INSERT INTO document VALUES (:document_id, :tenant, :version, :title, :text)", rows)

    def connection(self) -> sqlite3.Connection:
        """Return a connection to the documents."""
        return sqlite3.connect(self.folder / "documents.db")

    def search(self, tenant: str | None, query: str, limit: int) -> list[dict[str, Any]]:
        """Return id, title and version of the tenant's documents that hold the text."""
        sql = (
            "SELECT document_id, title, version FROM document WHERE tenant = ?"
            " AND instr(lower(title || char(10) || text), lower(?)) > 0 ORDER BY document_id LIMIT ?"
        )
        return self._rows(sql, tenant, query, limit)

    def document(self, document_id: str) -> dict[str, Any] | None:
        """Return a document whole, or None."""
        found = self._rows("SELECT * FROM document WHERE document_id = ?", document_id)
        return found[0] if found else None

    def give_to(self, tenant: str, document_id: str) -> None:
        """Give a document to another tenant."""
        with closing(self.connection()) as database, database:
            database.execute("UPDATE document SET tenant = ? WHERE document_id = ?", (tenant, document_id))

    def report(self, tenant: str | None, target: str) -> dict[str, Any]:
        """Return version, key and content of a report; version 0 if there is none."""
        try:
            found: dict[str, Any] = json.loads(self._place(tenant, target).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"version": 0, "key": None, "content": None}
        return found

    def put_report(self, tenant: str | None, target: str, content: str, *, expected: int, key: str) -> int:
        """Save a report as version `expected` + 1 and return that; the same key again changes nothing, or Conflict."""
        place = self._place(tenant, target)
        with self._locked(place):
            before = self.report(tenant, target)
            if before["key"] == key:
                return int(before["version"])
            if before["version"] != expected:
                raise Conflict(before["version"])
            new = place.with_suffix(".new")
            new.write_text(json.dumps({"version": expected + 1, "key": key, "content": content}), encoding="utf-8")
            new.replace(place)
        return expected + 1

    def _place(self, tenant: str | None, target: str) -> Path:
        return self.folder / "reports" / (tenant or "nobody") / f"{target}.json"

    @contextmanager
    def _locked(self, place: Path) -> Iterator[None]:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(place.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        with closing(self.connection()) as database:
            database.row_factory = sqlite3.Row
            rows: list[Mapping[str, Any]] = database.execute(sql, values).fetchall()
        return [dict(row) for row in rows]
