"""Any text in a column that takes neither U+0000 nor lone surrogates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledger.store.postgres.texts import LONGEST, bindable, kept, meant, readable, short
from ledger.store.rules import order

ODD = "\x00\x01\x02\x03a\ud7ff\ud800\udc00\udfff\ue000\ue7ff\uffff\U00010000\U0010ffff"
TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters(codec=None)), max_size=6)


@given(TEXTS)
def test_a_text_comes_back(text: str) -> None:
    """What is written is UTF-8 without U+0000, and means the text."""
    written = kept(text)
    assert b"\x00" not in written.encode()
    assert meant(written) == text


@given(TEXTS, TEXTS)
def test_what_is_written_sorts_as_the_texts(one: str, other: str) -> None:
    """Bytes sort as texts do on the other back ends, and two texts are never written alike."""
    a, b = kept(one).encode(), kept(other).encode()
    assert (a < b) == (order(one) < order(other))
    assert (a == b) == (one == other)


@given(TEXTS)
def test_what_was_never_written_is_itself(text: str) -> None:
    """Texts of another program are shown, whatever they hold."""
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert isinstance(meant(text), str)


def test_usual_texts_are_written_as_they_are() -> None:
    """A person who looks into the database reads what was meant."""
    assert meant(kept("\U0010ffffx\x00")) == "\U0010ffffx\x00"
    for text in ("", "send_email", "é日本\U0001f600", "\x02\x7f\n"):
        assert kept(text) == text


def test_rows_keep_what_is_no_text() -> None:
    """Numbers, bytes and nothing pass."""
    row = ("a\x00", 1, None, b"\x00", 1.5)
    assert bindable(row) == ["a\x01\x01", 1, None, b"\x00", 1.5]
    assert readable(bindable(row)) == row


def test_what_only_leads_to_rows_is_short() -> None:
    """A long text is cut, and told from every other by its digest."""
    long = "é\udce9" * 5000
    assert short("k") == "k"
    assert short("a\x00") == kept("a\x00")
    assert len(short(long)) < 8 * LONGEST
    assert short(long) != short(long + "x")
    assert short(long).encode()
