"""The tool `send_email` as each release of the program had it, and the catalog as it was then."""

from __future__ import annotations

import json
import shutil
import smtplib
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from ledger import Ledger
from ledger.catalog import default_catalog_root

NAME = "send_email"
SENDER = "agent@example.org"


def _nothing(_: str) -> None:
    return


@dataclass(frozen=True, slots=True)
class Mailer:
    """Hands messages to a mail server; `sent` hears of each recipient behind the server's acceptance."""

    port: int
    sent: Callable[[str], None] = _nothing

    def one(self, to: str, body: str) -> dict[str, Any]:
        """Version 1."""
        return self._send([to], body)

    def several(self, recipients: list[str], body: str) -> dict[str, Any]:
        """Version 2."""
        return self._send(recipients, body)

    def with_subject(
        self,
        recipients: list[str],
        subject: str,
        body: str,
        idempotencyKey: str,  # noqa: N803 - the schema's name
    ) -> dict[str, Any]:
        """Version 3."""
        return self._send(recipients, body, Subject=subject, **{"Message-ID": f"<{idempotencyKey}@example.org>"})

    def _send(self, recipients: list[str], body: str, **headers: str) -> dict[str, Any]:
        message = EmailMessage()
        for name, value in ({"From": SENDER, "To": ", ".join(recipients)} | headers).items():
            message[name] = value
        message.set_content(body)
        with smtplib.SMTP("127.0.0.1", self.port, timeout=10) as server:
            server.send_message(message, SENDER, recipients)
            for recipient in recipients:
                self.sent(recipient)
        return {"accepted": recipients}


def catalog_as_of(folder: Path, version: int) -> Path:
    """Copy the tool's files as they were when this version was the current one; return the catalog's folder."""
    root, source = folder / f"catalog-{version}", default_catalog_root()
    if root.exists():
        return root
    (root / NAME).mkdir(parents=True)
    shutil.copy(source / "catalog.json", root)
    for number in range(1, version + 1):
        shutil.copy(source / NAME / f"v{number}.json", root / NAME)
        if number < version:
            shutil.copy(source / NAME / f"v{number}-v{number + 1}.upcast.json", root / NAME)
    document = json.loads((source / NAME / "tool.json").read_text(encoding="utf-8"))
    document["current"] = version
    document["versions"] = {str(number): document["versions"][str(number)] for number in range(1, version + 1)}
    (root / NAME / "tool.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return root


def open_ledger(folder: Path, version: int, mailer: Mailer, *, database: str = "ledger.db") -> Ledger:
    """Start the program as it was released with this version of the tool: its catalog, and its code."""
    ledger = Ledger.open(f"sqlite:///{folder / database}", catalog=catalog_as_of(folder, version))
    ledger.tool(NAME, version=version)((mailer.one, mailer.several, mailer.with_subject)[version - 1])
    return ledger
