"""Text of unknown origin: what is shown and exported is always valid UTF-8."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ledger.strictjson import canonical, export_safe, export_text, printable
from ledger.strictjson.text import type_name
from tests.strictjson.described import same
from tests.strictjson.test_canonical import JSON, TEXT


def count(value: Any) -> int:
    """Return how many values there are, nested ones included."""
    if isinstance(value, dict | list):
        return 1 + sum(map(count, value.values() if isinstance(value, dict) else value))
    return 1


@given(TEXT, st.integers(0, 20))
def test_printable_text_is_short_and_printable(text: str, limit: int) -> None:
    """Whatever is shown is printable, valid UTF-8 and as short as asked (an escape has at most 10 characters)."""
    shown = printable(text, limit)
    assert shown.isprintable()
    assert shown.encode().decode() == shown
    assert len(shown) <= 10 * limit + 1
    assert shown == text or shown.endswith("…") or "\\" in shown


def test_printable_text_shows_what_is_hidden() -> None:
    """Control characters, surrogates, C1 and bidirectional overrides are escaped; letters and symbols are not."""
    assert printable("a\0\x1b]52;é\x9b\udce9\u202e\U0001f600\n") == "a\\x00\\x1b]52;é\\x9b\\udce9\\u202e\U0001f600\\n"
    assert printable("abc", 2) == "ab…"


@given(JSON, st.booleans())
def test_exports_are_valid_utf8_and_lose_no_entry(value: Any, nul: bool) -> None:
    """An exported value has as many entries as before, and every text in it encodes to UTF-8."""
    safe = export_safe(value, nul=nul)
    text = canonical(safe)
    assert b"\\ud" not in text.replace(b"\\\\", b"")
    assert not nul or b"\\u0000" not in text.replace(b"\\\\", b"")
    assert count(safe) == count(value)


@given(JSON)
def test_exports_leave_valid_text_alone(value: Any) -> None:
    """A value without lone surrogates is exported as it is."""
    try:
        str(value)
        valid = b"\\u" not in canonical(value).replace(b"\\\\", b"")
    except UnicodeEncodeError:
        valid = False
    assert not valid or same(export_safe(value), value)


def test_exported_texts_show_what_cannot_be_exported() -> None:
    """A lone surrogate is written as its escape, U+0000 only where that is asked for."""
    assert export_text("caf\udce9\0") == "caf\\udce9\0"
    assert export_text("caf\udce9\0", nul=True) == "caf\\udce9\\u0000"


def test_exported_keys_never_collide() -> None:
    """Keys that become equal stay apart, and a key that needs no change keeps its name."""
    value = {"\udce9": 1, "\\udce9": 2, "\\udce9 (2)": 3, "\\udce\udce9": 4}
    assert export_safe(value) == {"\\udce9 (3)": 1, "\\udce9": 2, "\\udce9 (2)": 3, "\\udce\\udce9": 4}


def test_types_are_named_in_full() -> None:
    """A type is named with its module, a builtin without."""
    assert type_name(int) == "int"
    assert type_name(TypeNamed) == f"{__name__}.TypeNamed"


class TypeNamed:
    pass
