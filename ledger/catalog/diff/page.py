"""The table of rules for docs/diff.md."""

from __future__ import annotations

import re
from typing import Final

from ledger.catalog.diff.rules import RULES

BEGIN: Final = "<!-- rules: made by scripts/generate.py -->"
END: Final = "<!-- end of rules -->"


def table() -> str:
    """Return every rule as a row, in the order of verdicts."""
    rows = [f"| `{code}` | {verdict} | {meaning} |" for code, (verdict, meaning) in RULES.items()]
    return "\n".join(["| code | verdict | what it says |", "|---|---|---|", *rows])


def page(text: str) -> str:
    """Return the page with its table made anew. Raises ValueError where it has no place for it."""
    made = f"{BEGIN}\n\n{table()}\n\n{END}"
    found, count = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: made, text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page needs {BEGIN!r} and {END!r} once")
    return found
