"""
Holds a recorded certificate to the file and the arguments that it names, long after.

Arithmetic only: digests, and the operations forth and back. No validator and no proof is asked again: history is not
judged by another engine than the one that spoke then.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from ledger.catalog.steps import Upcast
from ledger.catalog.upcast.stops import Stop
from ledger.catalog.upcast.values import back, forth, same
from ledger.strictjson import Json, digest

Doubt: TypeAlias = Literal["file", "version", "approval", "before", "after", "image", "origin"]
"""
`file`: it is another one now; alone it says that its words changed, or what it does to others: this record stands in
every other way. `version`: it leads to another one than the record says. `approval`: the record keeps an approval for
the new form, and the file does not. `before`, `after`: the arguments have another digest. `image`: the operations make
something else of them. `origin`: they do not lead back.
"""


class Certificate(Protocol):
    """What an event records of one carried call (`ledger.events.CallUpcast`)."""

    @property
    def to_version(self) -> int:
        """The version of the arguments afterwards."""

    @property
    def keeps_approval(self) -> bool:
        """Whether an approval of the old form holds for the new one."""

    @property
    def upcast_digest(self) -> str:
        """The file's digest."""

    @property
    def digest_before(self) -> str:
        """The SHA-256 of the arguments' canonical JSON before."""

    @property
    def digest_after(self) -> str:
        """The same afterwards."""

    @property
    def arguments(self) -> Json:
        """The arguments afterwards."""


def doubts(certificate: Certificate, upcast: Upcast, before: Json) -> tuple[Doubt, ...]:
    """Return what contradicts a certificate; nothing where it stands. *before* are the arguments that were carried."""
    found: list[Doubt] = []
    if certificate.upcast_digest != upcast.digest:
        found.append("file")
    if certificate.to_version != upcast.to_version:
        found.append("version")
    if certificate.keeps_approval and not upcast.keeps_approval:
        found.append("approval")
    if certificate.digest_before != digest(before):
        found.append("before")
    if certificate.digest_after != digest(certificate.arguments):
        found.append("after")
    try:
        if not same(forth(upcast.ops, before), certificate.arguments):
            found.append("image")
    except Stop:
        found.append("image")
    try:
        if not same(back(upcast.ops, certificate.arguments), before):
            found.append("origin")
    except Stop:
        found.append("origin")
    return tuple(found)
