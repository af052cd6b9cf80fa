"""
The difference engine: how one version of a tool differs from another one, and what that means for recorded calls.

    from ledger.catalog.diff import contained, difference, of_version

`difference(old, new)` gives verdict, findings and a counterexample; `contained(one, two)` says whether every value of
one schema is one of another. Both are pure and load the validator only to try a value.
"""

from ledger.catalog.diff.containment import Containment, Relation, contained
from ledger.catalog.diff.difference import Difference, Settings, difference, missing_tool
from ledger.catalog.diff.judge import Counterexample
from ledger.catalog.diff.rules import RULES, VERDICTS, Finding, Verdict, worst
from ledger.catalog.diff.subject import Subject, of_version, read_subjects

__all__ = [
    "RULES",
    "VERDICTS",
    "Containment",
    "Counterexample",
    "Difference",
    "Finding",
    "Relation",
    "Settings",
    "Subject",
    "Verdict",
    "contained",
    "difference",
    "missing_tool",
    "of_version",
    "read_subjects",
    "worst",
]
