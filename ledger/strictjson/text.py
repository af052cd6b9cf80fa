"""Text of unknown origin made fit to be shown and exported."""

from __future__ import annotations

import re
from typing import Final

from ledger.strictjson.limits import Json

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SURROGATE_OR_NUL: Final = re.compile("[\0\ud800-\udfff]")


def printable(text: str, limit: int = 200) -> str:
    r"""
    Return the text on one line, at most `limit` characters of it, for messages and terminals.

    Whatever is not printable (control characters, lone surrogates, bidirectional overrides) is written as an escape
    such as `\x1b` or `\udce9`; what was cut off is shown by `…`. The answer is always valid UTF-8.
    """
    shown = text[:limit]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)
    return shown if len(text) <= limit else shown + "…"


def export_text(text: str, *, nul: bool = False) -> str:
    r"""Return the text with each lone surrogate (and with `nul` each U+0000) as a visible `\udXXX` (`\u0000`)."""
    pattern = _SURROGATE_OR_NUL if nul else _SURROGATE
    return pattern.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def export_safe(value: Json, *, nul: bool = False) -> Json:
    """
    Return a copy of the value whose texts and keys are all valid UTF-8 (and with `nul` free of U+0000).

    For exports to readers that refuse what JSON itself can carry. Two keys that become equal stay two: the later one
    gets ` (2)`, ` (3)` … appended.
    """
    if type(value) is str:
        return export_text(value, nul=nul)
    if type(value) is list:
        return [export_safe(item, nul=nul) for item in value]
    if type(value) is not dict:
        return value
    out: dict[str, Json] = {}
    # Keys that need no change keep their name, whatever stands before them.
    taken = {key for key in value if export_text(key, nul=nul) == key}
    for key, item in value.items():
        name = key if key in taken else _free_name(export_text(key, nul=nul), taken)
        out[name] = export_safe(item, nul=nul)
    return out


def _free_name(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    taken.add(free)
    return free


def type_name(kind: type) -> str:
    """Return a class's full name (`datetime.datetime`, `int`), at most 120 characters, printable; it never raises."""
    try:
        module, name = kind.__module__.partition("._")[0], kind.__qualname__  # pathlib._local is 3.13's pathlib
        return printable(str(name if module == "builtins" else f"{module}.{name}"), 120)
    except Exception:  # noqa: BLE001 - a metaclass may run any code here
        return "a class that hides its name"
