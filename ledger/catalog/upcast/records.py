"""What comes of carrying a record: its certificates, how far it came, or why a person is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from ledger.catalog.steps import Upcast
from ledger.strictjson import Json

Grade: TypeAlias = Literal["iso", "embed", "partial"]
"""
`iso`: both forms say exactly the same. `embed`: the new one can say more. `partial`: some of the old form has no place
in the new one; a record that has is carried, each other one goes to a person.
"""

GRADES: Final[tuple[Grade, ...]] = ("iso", "embed", "partial")
"""All of them, the weakest last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """
    The certificate of one record over one step.

    `arguments` are those of the new form, the digests (SHA-256 of canonical JSON) those before and after, `validator`
    the name and version of what checked both; it came back from the new form exactly as it had been.
    """

    arguments: Json
    digest_before: str
    digest_after: str
    validator: str
    upcast: Upcast
    grade: Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCarried:
    """
    Why a record is not carried; a person is asked.

    `code`: what the proof or an operation says, or "invalid_before" (under its own version), "undeclared" (it holds
    what its version does not declare), "invalid_after", "not_round_trip".
    """

    code: str
    pointer: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """
    How far a record comes.

    `reached` is the version that the last certificate is for (the recorded one where there is none), `stopped` why it
    goes no further than there, `at` the step that stopped it (None: there is no file for it).
    """

    steps: tuple[Carried, ...]
    reached: int
    stopped: NotCarried | None = None
    at: Upcast | None = None

    @property
    def arrived(self) -> bool:
        """Whether it reached the version asked for."""
        return self.stopped is None


class Carrier(Protocol):
    """One step between two versions, proved once (`ledger.catalog.upcast.certificate.Step`)."""

    @property
    def upcast(self) -> Upcast:
        """The file's words."""

    def carry(self, arguments: Json) -> Carried | NotCarried:
        """Return the record in the new form with its certificate, or why it is not carried; it never raises."""
