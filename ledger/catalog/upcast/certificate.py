"""Carries one record over a proved step and certifies it: valid before, valid after, and back to what it was."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256

from ledger.catalog.compile import compile_guarded
from ledger.catalog.definition import ToolVersion
from ledger.catalog.diff import Settings
from ledger.catalog.diff.difference import DEFAULT
from ledger.catalog.guarding import guarded_of
from ledger.catalog.steps import Op, Upcast
from ledger.catalog.upcast.proof import Proof, prove_closed
from ledger.catalog.upcast.reading import Closed
from ledger.catalog.upcast.records import Carried, NotCarried
from ledger.catalog.upcast.stops import Stop
from ledger.catalog.upcast.values import forth, undo
from ledger.catalog.violation import Violation
from ledger.errors import JsonRejected
from ledger.strictjson import Json, canonical


class Step:
    """One step between two versions, proved once, with the validators of both sides."""

    def __init__(self, upcast: Upcast, old: ToolVersion, new: ToolVersion, settings: Settings = DEFAULT) -> None:
        self.upcast = upcast
        self.old = old
        self.new = new
        self._settings = settings
        self._before = Closed(old, settings.dialect)
        self._after = Closed(new, settings.dialect)

    @cached_property
    def proof(self) -> Proof:
        """What is known from the schemas alone."""
        return prove_closed(self.upcast, self._before, self._after, self._settings)

    def carry(self, arguments: Json) -> Carried | NotCarried:
        """Return the record in the new form with its certificate, or why it is not carried; it never raises."""
        proof = self.proof
        if proof.grade is None or not proof.holds:
            first = proof.reasons[0]
            return NotCarried(code=first.code, pointer=first.pointer, message=first.message)
        try:
            wrong, before = self._before.validator(self.old.formats).judged(arguments)
            if wrong:
                return self._invalid(arguments, wrong[0])
            image = forth(self.upcast.ops, arguments)
            wrong, after = self._after.validator(self.new.formats).judged(image)
            if wrong:
                return NotCarried(code="invalid_after", pointer=wrong[0].pointer, message=wrong[0].message)
            was, again = canonical(arguments), canonical(forth(self._undo, image))
        except Stop as stop:
            return NotCarried(code=stop.code, pointer=stop.pointer, message=stop.message)
        except JsonRejected as rejected:
            return NotCarried(code="no_json", pointer=rejected.pointer or "", message=rejected.message)
        if was != again:
            return NotCarried(code="not_round_trip", pointer="", message="it does not come back as it was")
        return Carried(
            arguments=image,
            digest_before=sha256(was).hexdigest(),
            digest_after=sha256(canonical(image)).hexdigest(),
            validator=before if before == after else f"{before}, {after}",
            upcast=self.upcast,
            grade=proof.grade,
        )

    @cached_property
    def _undo(self) -> tuple[Op, ...]:
        return undo(self.upcast.ops)

    def _invalid(self, arguments: Json, wrong: Violation) -> NotCarried:
        """Say whether the record is invalid under its own version, or only holds what nobody declared."""
        as_written = compile_guarded(guarded_of(self.old, self._settings.dialect), self.old.formats)
        code = "invalid_before" if as_written.violations(arguments) else "undeclared"
        return NotCarried(code=code, pointer=wrong.pointer, message=wrong.message)
