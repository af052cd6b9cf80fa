"""What a call's answer was, word for word, where the call was imported: the model has read that and nothing else."""

from __future__ import annotations

from typing import Final

from ledger.calls import Call
from ledger.providers.answer import answer_text
from ledger.providers.plain import text_from
from ledger.strictjson import Json, export_safe, export_text

LONGEST: Final = 2**20
"""Characters of an imported result that are told as they are; a longer one is cut like any other."""


def told_text(call: Call, limit: int) -> str:
    """Return the text that the model reads for a call: of an imported one what it has read, in full."""
    text = _imported_text(call)
    return answer_text(call, limit) if text is None else text


def told_content(call: Call, provider: str) -> Json:
    """Return the parts or the object that this provider was given as the answer; None where a text is all."""
    content = call.result if _as_imported(call) and call.provider == provider else None
    return export_safe(content, nul=True) if isinstance(content, dict | list) else None


def _as_imported(call: Call) -> bool:
    """Whether the call still stands as the import found it: no verdict since."""
    return call.imported and call.review is None and call.state == "succeeded"


def _imported_text(call: Call) -> str | None:
    if _as_imported(call):
        text = text_from(call.result)
    elif call.imported and call.state == "failed" and call.message and call.review is None:
        text = call.message
    else:
        return None
    return export_text(text, nul=True) if len(text) <= LONGEST else None
