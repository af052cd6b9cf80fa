"""Tries suspects on the real validator: what it says is shown, and nothing that it did not say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from ledger.catalog.compile import CompiledSchema, compile_guarded
from ledger.catalog.diff.examples import Examples, NoExample
from ledger.catalog.diff.notes import Outcome
from ledger.catalog.diff.space import Space, TooComplex
from ledger.catalog.diff.texts import Undecided
from ledger.catalog.diff.walk import Suspect
from ledger.catalog.patterns import PatternTooCostly
from ledger.catalog.violation import GATE_ERROR
from ledger.strictjson import Json, JsonObject

MAX_TRIES: Final = 12
"""Values that are tried for one finding."""
MAX_FINDINGS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """
    Arguments that the old schema accepts, and what becomes of them.

    `refused`: the new schema says they are invalid. `ignored`: they stay valid, and the part at `pointer` is not read
    any more. `reinterpreted`: they stay valid and mean something else. `code` is that of the finding that it shows.
    """

    arguments: Json
    outcome: Outcome
    code: str
    pointer: str
    message: str

    def to_wire(self) -> JsonObject:
        """Return it as the command line prints it."""
        return {
            "arguments": self.arguments,
            "outcome": self.outcome,
            "code": self.code,
            "pointer": self.pointer,
            "message": self.message,
        }


class Judge:
    """The validators of both schemas, compiled when the first value is tried."""

    def __init__(self, old: Space, new: Space) -> None:
        self.old = old
        self.new = new

    @cached_property
    def _before(self) -> CompiledSchema:
        return compile_guarded(self.old.guarded, self.old.formats)

    @cached_property
    def _after(self) -> CompiledSchema:
        return compile_guarded(self.new.guarded, self.new.formats)

    def counterexample(self, suspects: list[Suspect]) -> Counterexample | None:
        """Return the first value that shows one of *suspects*, which are in the order of their weight."""
        other = None
        for suspect in suspects[:MAX_FINDINGS]:
            for arguments in islice(self._tries(suspect), MAX_TRIES):
                shown = self._shown(suspect, arguments)
                if shown is not None and shown.outcome == suspect.note.outcome:
                    return shown
                other = other or shown  # refused, but for another reason than this finding's
        return other

    def refuted(self, suspects: list[Suspect]) -> Json | None:
        """Return a value that is valid under the old schema and invalid under the new one, in a list; or None."""
        for suspect in suspects[:MAX_FINDINGS]:
            for arguments in islice(self._tries(suspect), MAX_TRIES):
                if self.refuses(arguments) is not None:
                    return [arguments]
        return None

    def refuses(self, arguments: Json) -> tuple[str, str] | None:
        """Return pointer and message of the violation if only the new schema refuses *arguments*."""
        if self._before.violations(arguments):
            return None
        found = self._after.violations(arguments)
        return (found[0].pointer, found[0].message) if found and found[0].keyword != GATE_ERROR else None

    def _shown(self, suspect: Suspect, arguments: Json) -> Counterexample | None:
        if self._before.violations(arguments):
            return None
        code, outcome = suspect.finding.code, suspect.note.outcome
        violations = self._after.violations(arguments)
        if violations and violations[0].keyword != GATE_ERROR:
            first = violations[0]
            return Counterexample(
                arguments=arguments, outcome="refused", code=code, pointer=first.pointer, message=first.message
            )
        if violations or outcome is None or outcome == "refused":
            return None
        place = str(suspect.spot)
        return Counterexample(
            arguments=arguments,
            outcome=outcome,
            code=code,
            pointer=place,
            message=suspect.finding.message,
        )

    def _tries(self, suspect: Suspect) -> Iterator[Json]:
        """Yield whole arguments; a value that can't be built is passed over."""
        examples = Examples(self.old)
        spot = suspect.spot
        try:
            if suspect.note.absent and spot.above is not None and spot.cell is not None and spot.is_optional:
                yield spot.above.built(examples, examples.cell(spot.cell))
            for value in suspect.note.tries() if suspect.note.tries else ():
                yield suspect.spot.built(examples, value)
        except (NoExample, TooComplex, Undecided, PatternTooCostly):
            return
