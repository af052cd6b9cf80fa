"""What a person reads of a text that is no strict JSON: a rejection's own words advise a model to send it again."""

from __future__ import annotations

from typing import Final

from ledger.errors import JsonRejected

HINTS: Final[dict[str, str]] = {
    "invalid_json": "Correct it there: a comma, quote or bracket is missing, or one too many.",
    "trailing_data": "Keep one JSON value in it.",
    "duplicate_key": "Keep one of the two.",
    "nan_or_infinity": "Write null or a text.",
    "number_out_of_range": "Write it as a text.",
    "number_rounded": "Write a whole number without point and exponent, any other as a text.",
    "number_too_long": "Write it as a text.",
    "lone_surrogate": "Take it out.",
    "invalid_utf8": "Save it as UTF-8.",
    "too_deep": "Write a flatter value.",
    "too_large": "Write a smaller one.",
    "too_many_items": "Write fewer values.",
    "not_json": "Convert it to a JSON type first.",
}
"""By the code of the rejection: what its writer does."""
_SPECIAL: Final[dict[str, str]] = {
    "byte order mark": "Save it without a byte order mark.",
    "the text is empty": "Write a JSON value.",
}


def to_a_person(rejected: JsonRejected) -> tuple[str, str]:
    """Return what is wrong, with line and column where they are known, and what whoever wrote it can do."""
    what = rejected.message.rpartition(". ")[0] or rejected.message
    hint = next((hint for words, hint in _SPECIAL.items() if words in what), HINTS[rejected.code])
    return what.replace(": it was cut off", ": something is not closed"), hint
