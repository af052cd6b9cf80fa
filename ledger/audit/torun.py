"""The arguments that would run: the intent, with the defaults that the ledger will fill in."""

from __future__ import annotations

from typing import Any

from ledger.audit.tools import recorded_tools
from ledger.calls import Call
from ledger.store.port import Reader
from ledger.strictjson import JsonObject, digest


def to_run(reader: Reader, call: Call) -> Any:
    """
    Return the arguments that ran, or that will run if nobody changes them.

    Before its start only their digest is recorded. Where that is not the intent's, the defaults are filled in by the
    schema that the ledger recorded; what then still has another digest is not known, and the intent is returned.
    """
    asked = call.to_run
    if call.executed is not None or call.arguments_digest is None or digest(asked) == call.arguments_digest:
        return asked
    tool = recorded_tools(reader).get(call.tool)
    version = tool.versions.get(call.schema_version or 0) if tool is not None else None
    if version is None or not isinstance(asked, dict):
        return asked
    return _filled(version.body.schema, asked, call.arguments_digest)


def is_known(call: Call, shown: Any) -> bool:
    """
    Whether what is shown of a call is what ran, or would run: the digest that its approval is bound to says so.

    Of what was masked nobody can say that by the digest; there the mask itself shows that something is hidden.
    """
    told = call.executed is not None or call.arguments_digest is None or call.redacted
    return told or digest(shown) == call.arguments_digest


def _filled(schema: JsonObject, asked: JsonObject, wanted: str) -> JsonObject:
    from ledger.catalog import with_defaults

    try:
        filled = with_defaults(schema, asked)
    except (LookupError, TypeError, ValueError, AttributeError):  # no schema of ours: then nothing is filled in
        return asked
    return filled if digest(filled) == wanted else asked
