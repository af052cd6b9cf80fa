"""The assistant's tools, and the rules that no model can talk its way around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from examples.documents.shelves import Conflict, Library
from ledger import Allow, Ask, CantTell, Context, Deny, DidNotHappen, Happened, Invalid, Ledger, NotFound, Rejected
from ledger.catalog import default_catalog_root

AT_ONCE = 4
"""How many reads of one turn run at the same time."""
APPROVER = "ada"

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tools:
    """Reads and writes of one library; whose documents they are is the host's word (`context.tenant`)."""

    shelves: Library

    def search_documents(self, query: str, max_results: int = 5, *, context: Context) -> dict[str, Any]:
        context.source = {"uri": "library:documents"}
        return {"documents": self.shelves.search(context.tenant, query, max_results)}

    def read_document(self, document_id: str, *, context: Context) -> dict[str, Any]:
        found = self.shelves.document(document_id)
        if found is None:
            raise NotFound(f"There is no document {document_id}.")
        context.source = {"id": document_id, "version": found["version"], "uri": f"library:documents/{document_id}"}
        return {key: found[key] for key in ("document_id", "version", "title", "text")}

    def save_report(
        self, target: str, content: str, expected_version: int, *, idempotency_key: str, context: Context
    ) -> dict[str, Any]:
        try:
            version = self.shelves.put_report(
                context.tenant, target, content, expected=expected_version, key=idempotency_key
            )
        except Conflict as conflict:
            raise Rejected("version_conflict", f"{conflict} Nothing was saved: read it again.") from None
        context.source = {"uri": f"library:reports/{target}", "version": version}
        return {"target": target, "version": version}

    def report_was_saved(self, arguments: Arguments, context: Context) -> Happened | DidNotHappen | CantTell:
        """Look what became of a save whose answer was lost: the report that is there names the key it came with."""
        report = self.shelves.report(context.tenant, arguments["target"])
        seen = {"version": report["version"], "key": report["key"]}
        if report["key"] == context.idempotency_key:
            context.source = {"uri": f"library:reports/{arguments['target']}", "version": report["version"]}
            return Happened({"target": arguments["target"], "version": report["version"]}, seen)
        if report["version"] == arguments["expected_version"]:
            return DidNotHappen(seen)
        return CantTell(seen)  # somebody else has saved since


def is_known(arguments: Arguments, context: Context) -> Invalid | None:
    """Refuse to read a document whose id no recorded search of this session returned."""
    searches = [found["result"] for found in context.results if found["tool"] == "search_documents"]
    known = {document["document_id"] for result in searches for document in result["documents"]}
    if arguments["document_id"] in known:
        return None
    return Invalid("unknown_reference", "No search returned this id. Search first, then read.", "/document_id")


def open_ledger(url: str, library: Library, **settings: Any) -> Ledger:
    """Open a ledger with the three tools on a library."""
    ledger = Ledger.open(url, catalog=default_catalog_root(), workers=AT_ONCE, **settings)
    equip(ledger, library)
    return ledger


def equip(ledger: Ledger, library: Library) -> None:
    """Give a ledger the three tools and their rules."""
    tools = Tools(library)
    ledger.tool("search_documents")(tools.search_documents)
    ledger.tool("read_document")(tools.read_document)
    ledger.tool("save_report", reconcile=tools.report_was_saved)(tools.save_report)
    ledger.check("read_document")(is_known)

    @ledger.authorize
    def own_documents(call: Any, principal: Any) -> Allow | Deny:  # noqa: ARG001 - whoever it is, the tenant decides
        if call.tool != "read_document":
            return Allow()
        found = library.document(call.arguments["document_id"])
        if found is None or found["tenant"] == call.tenant:
            return Allow()
        return Deny("not_permitted", "This document may not be read.", user_action="Ask the document's owner.")

    @ledger.authorize
    def saving_is_approved(call: Any, principal: Any) -> Allow | Ask:  # noqa: ARG001 - nobody may save alone
        return Ask(who=APPROVER, expires="24h") if call.tool == "save_report" else Allow()
