"""`python -m examples.documents`: search, read together, save with an approval, and look whether it is really saved."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from examples.documents.shelves import Library
from examples.documents.tools import APPROVER, open_ledger
from examples.scripted import Script
from ledger import Ledger
from ledger.calls import Call

TASK = "Write a report about the revenue of the half year."
REPORT = {"target": "half-year", "content": "Revenue grew from 4.1 to 4.7 million.", "expected_version": 0}
MODEL = Script(
    [
        [("search_documents", {"query": "revenue"})],
        [("read_document", {"document_id": name}) for name in ("q1", "q2", "memo")],
        [("save_report", REPORT)],
        "The report is saved.",
    ]
)


def run(ledger: Ledger, model: Script, session_id: str) -> list[Call]:
    """Let the model work until it answers; who is asked approves at once. Return the calls as they ended."""
    with ledger.session(session_id, principal="bob", tenant="acme") as session:
        messages = session.messages(model.format, start=[{"role": "user", "content": TASK}])
        while not session.final:
            results = session.dispatch(model.chat(messages, session.tools(model.format)), format=model.format)
            messages += results.messages
            if results.waiting:
                for call in results.calls:  # usually: `ledger review approve CALL --by ada`, hours later
                    ledger.approve(call, by=APPROVER, digest=call.call.arguments_digest)
                messages += session.wait(format=model.format).messages
        return list(session.history.calls.values())


def is_done(library: Library, wanted: dict[str, Any]) -> bool:
    """Look at what was saved: what the model says about it does not count."""
    report = library.report("acme", wanted["target"])
    return (report["version"], report["content"]) == (wanted["expected_version"] + 1, wanted["content"])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder))
        library.seed()
        with open_ledger(f"sqlite:///{folder}/ledger.db", library) as ledger:
            for call in run(ledger, MODEL, "report"):
                source = call.source or {}
                print(f"{call.tool:18}{call.state:12}{source.get('uri', '-'):27}version {source.get('version', '-')}")
            said = ledger.session("report").messages()[-1]["content"]
        print(f"{'the model says':18}{said}")
        print(f"{'and the file':18}{'holds the report' if is_done(library, REPORT) else 'does not hold it'}")


if __name__ == "__main__":
    main()
