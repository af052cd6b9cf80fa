"""Real changes of a published server's tools: nothing harmful passes, nothing cosmetic asks anybody."""

from collections import Counter
from pathlib import Path
from typing import Any

from ledger.catalog import compile_schema
from ledger.catalog.diff import VERDICTS, Difference, difference, read_subjects
from tests.providers.test_corpus import lines

COSMETIC = {"identical", "metadata_only", "description_only"}
HARMLESS = {"added_optional", "enum_value_added", "type_widened", "required_to_optional", "combinator_oneOf"}
"""Kinds of change that take nothing from old arguments; every other kind does."""
UNLISTED = {"bound_narrowed", "description_default"}
"""Changes that come with an added option and that its label does not list: a least length, another default in words."""
DEFAULTED = {"get_commit", "search_repositories"}
"""Tools whose added option came with a default: absent means something new."""


def compared(change: dict[str, Any]) -> Difference:
    old, new = (read_subjects(change[side])[None] for side in ("old", "new"))
    return difference(old, new)


def test_real_changes_are_judged_rightly(corpus: Path) -> None:
    """236 changes: cosmetic ones are no version, harmful ones ask a person, and each counterexample holds."""
    verdicts: Counter[tuple[str, str]] = Counter()
    for change in lines(corpus / "schema_transitions.jsonl.gz"):
        found = compared(change)
        verdicts[change["class"], found.verdict] += 1
        rank = VERDICTS.index(found.verdict)
        kinds = {kind for kind, *_ in change["changes"]}
        if change["class"] in COSMETIC:
            assert rank <= VERDICTS.index("annotation"), change["tool"]
        elif change["class"] == "schema":
            harmful = not kinds <= HARMLESS or (change["tool"] in DEFAULTED and "default" in str(found.findings))
            told = found.findings[0].code in UNLISTED
            assert (rank >= VERDICTS.index("semantic")) == (harmful or told), change["tool"]
        if found.counterexample is not None:
            assert compile_schema(change["old"]["inputSchema"]).violations(found.counterexample.arguments) == ()
            refused = compile_schema(change["new"]["inputSchema"]).violations(found.counterexample.arguments)
            assert bool(refused) == (found.counterexample.outcome == "refused")
    assert sum(verdicts.values()) == 236
    assert verdicts["schema", "widening"] == 41
    assert verdicts["schema_other", "semantic"] == 1  # there was no schema before


def test_published_tools_equal_themselves(corpus: Path) -> None:
    """Every published tool is identical to itself in another order; the one in draft-04 as well."""
    verdicts: Counter[str] = Counter()
    for tool in lines(corpus / "mcp_tools.jsonl.gz"):
        turned = dict(reversed(tool["inputSchema"].items()))
        verdicts[compared({"old": tool, "new": {**tool, "inputSchema": turned}}).verdict] += 1
    assert verdicts == {"identical": 322}
