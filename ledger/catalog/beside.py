"""
What stands beside a `$ref` in draft-07, where nobody reads it: no validator, no shape, no default is filled in.

Its author relies on it all the same. A mark of a sensitive value is the exception: it masks, since a value too much is
better hidden than one too few; yet no shape holds it, so its edit would be no other version.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.catalog.definition import ToolVersion
from ledger.catalog.disk import Sources
from ledger.catalog.guarding import guarded_of
from ledger.catalog.lock import Lock
from ledger.catalog.notes import Note
from ledger.catalog.shape import SIGNIFICANT
from ledger.catalog.vocabulary import CHECKS, STORES, WORDS
from ledger.catalog.words import listed
from ledger.strictjson import Json

_SILENT: Final = WORDS | STORES | {"$ref", "$schema", "$id", "deprecated", "readOnly"}
"""Words that mean nothing wherever they stand; and a reference, which stands beside itself."""
_HINT: Final = 'Put the reference into `allOf`: {"allOf": [{"$ref": "…"}], …}. A published version gets a new one.'


def beside_notes(sources: Sources) -> Iterator[Note]:
    """Yield each reference of a draft-07 schema with words beside it that would matter elsewhere; a note a place."""
    lock = sources.lock or Lock()
    for definition in sources.catalog.tools.values():
        locked = lock.of(definition).versions
        for number, version in definition.versions.items():
            yield from _of(version, sources.catalog.significant | SIGNIFICANT, locked=number in locked)


def _of(version: ToolVersion, significant: frozenset[str], *, locked: bool) -> Iterator[Note]:
    guarded = guarded_of(version)
    for pointer, node in guarded.nodes.items() if guarded.dialect == "draft-07" else ():
        words = _ignored(node, significant)
        if words:
            yield Note(
                code="beside_ref_locked" if locked else "beside_ref",
                tool=version.tool,
                version=version.version,
                path=version.path,
                pointer=pointer,
                message=f"draft-07 ignores what stands beside `$ref`: {listed(words)}",
                hint=_HINT,
            )


def _ignored(node: Json, significant: frozenset[str]) -> list[str]:
    if not isinstance(node, dict) or "$ref" not in node:
        return []
    return sorted(word for word in node if word in significant or (word in CHECKS and word not in _SILENT))
