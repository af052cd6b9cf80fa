r"""
Patterns of JSON Schemas: ECMA-262 read exactly, a portable subset only, and linear time for every accepted one.

`\d` is `[0-9]`, `\w` is ASCII, `\s` is ECMA's set, `.` stops at four line ends, `$` is the very end, `^` the very
beginning, `\u{…}`, `\cX` and `(?<name>…)` are understood. Refused, each with a hint: back references, look-arounds,
flags, possessive and atomic groups, Python's own syntax, loops that other engines need exponential time for.
"""

from __future__ import annotations

from functools import lru_cache

from ledger.catalog.patterns.ambiguity import refuse_ambiguous_loops
from ledger.catalog.patterns.automaton import Automaton, PatternTooCostly
from ledger.catalog.patterns.program import compiled
from ledger.catalog.patterns.syntax import parse
from ledger.catalog.patterns.tree import PatternRefused

__all__ = ["Automaton", "PatternRefused", "PatternTooCostly", "compile_pattern"]


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> Automaton:
    """Return the matcher of an ECMA-262 *pattern*; raises PatternRefused, whose hint says what to write instead."""
    tree = parse(pattern)
    refuse_ambiguous_loops(tree)
    return Automaton(compiled(tree), pattern)
