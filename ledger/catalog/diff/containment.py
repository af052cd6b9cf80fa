"""Whether every value of one schema is a value of another one: proved, refuted by a value, or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ledger.catalog.diff.judge import Judge
from ledger.catalog.diff.prove import Prover
from ledger.catalog.diff.rules import VERDICTS
from ledger.catalog.diff.space import Space, TooComplex, read
from ledger.catalog.diff.walk import ROOT, Walk
from ledger.catalog.guard import Guarded
from ledger.catalog.patterns import PatternTooCostly
from ledger.catalog.shape import SIGNIFICANT
from ledger.catalog.vocabulary import Dialect
from ledger.strictjson import Json

Relation: TypeAlias = Literal["equal", "contained", "unknown", "refuted"]


@dataclass(frozen=True, slots=True)
class Containment:
    """
    The relation of two sets of values.

    `equal` and `contained` are proved. `refuted` has a `witness` that the validator took under the one schema and
    refused under the other. `unknown` is everything else.
    """

    relation: Relation
    witness: Json = None

    @property
    def holds(self) -> bool:
        """Whether every value of the first schema is one of the second."""
        return self.relation in ("equal", "contained")


def contained(
    one: Json, two: Json, *, formats: frozenset[str] = frozenset(), dialect: Dialect = "2020-12"
) -> Containment:
    """
    Return whether every value valid under *one* is valid under *two*.

    Validity only: defaults, formats that do not assert and annotations play no part. *formats* are those that assert,
    *dialect* is what a schema means that names none. Raises CatalogFault for a schema that a catalog would refuse.
    """
    here, there = (Space(read(schema, dialect), formats) for schema in (one, two))
    try:
        if Prover(here, there).contained(ROOT, ROOT):
            return Containment("equal" if Prover(there, here).contained(ROOT, ROOT) else "contained")
        suspects = Walk(here, there, SIGNIFICANT).all()
    except (TooComplex, PatternTooCostly):
        return Containment("unknown")
    order = sorted(suspects, key=lambda each: -VERDICTS.index(each.finding.verdict))
    found = Judge(here, there).refuted(order)
    return Containment("unknown") if found is None else Containment("refuted", found[0])


def equal(one: Guarded, two: Guarded, formats: frozenset[str] = frozenset()) -> bool:
    """Whether two schemas that were read are shown to take the same values; the `equal` of `contained`, and no more."""
    here, there = Space(one, formats), Space(two, formats)
    try:
        return Prover(here, there).contained(ROOT, ROOT) and Prover(there, here).contained(ROOT, ROOT)
    except (TooComplex, PatternTooCostly):
        return False
