"""The tables of codes for docs/upcasts.md."""

from __future__ import annotations

import re
from typing import Final

from ledger.catalog.upcast.codes import PROOFS, RECORDS

BEGIN: Final = "<!-- codes: made by scripts/generate.py -->"
END: Final = "<!-- end of codes -->"


def tables() -> str:
    """Return the codes of steps and those of records."""
    parts = (("Of a step:", PROOFS), ("Of a record:", RECORDS))
    return "\n\n".join(f"{title}\n\n{_table(codes)}" for title, codes in parts)


def _table(codes: dict[str, str]) -> str:
    rows = [f"| `{code}` | {meaning} |" for code, meaning in codes.items()]
    return "\n".join(["| code | what it says |", "|---|---|", *rows])


def page(text: str) -> str:
    """Return the page with its tables made anew. Raises ValueError where it has no place for them."""
    made = f"{BEGIN}\n\n{tables()}\n\n{END}"
    found, count = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: made, text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page needs {BEGIN!r} and {END!r} once")
    return found
