"""Replacing a text that stands exactly once, so that the file itself tells later whether it was replaced."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ledger.answers import NotFound, Rejected
from ledger.demo.files import MAX_FILE_BYTES

EditState: TypeAlias = Literal["replaced", "untouched", "unclear"]


def replaced_once(content: bytes, old_text: str, new_text: str) -> bytes:
    """
    Return the content with the only `old_text` replaced.

    Raises NotFound (it is not there), or Rejected with `not_unique`, `already_applied` or `too_large`. The two rules
    beyond "exactly once" keep `state_of` honest: nothing is done that it would take for done already, and no result
    looks as if nothing had been done.
    """
    old, new = _in_style_of(content, old_text), _in_style_of(content, new_text)
    place = content.find(old)
    if place < 0:
        raise NotFound("old_text is not in the file; read the file again and quote it exactly.")
    if content.find(old, place + 1) >= 0:
        raise Rejected("not_unique", "old_text stands in the file more than once; quote more of its surroundings.")
    if state_of(content, old_text, new_text) == "replaced":
        raise Rejected("already_applied", "The file holds new_text already; quote more surroundings to add it again.")
    after = content[:place] + new + content[place + len(old) :]
    if len(after) > MAX_FILE_BYTES:
        raise Rejected("too_large", f"The file would be larger than {MAX_FILE_BYTES} bytes.")
    if state_of(after, old_text, new_text) == "untouched":
        raise Rejected("not_unique", "The edit would form old_text anew; quote more of its surroundings.")
    return after


def state_of(content: bytes, old_text: str, new_text: str) -> EditState:
    """
    Return whether this content comes after the edit, before it, or could be neither.

    A deletion (empty `new_text`) leaves nothing to find: without the old text it is unclear. "Replaced" is a fact about
    the file, whoever wrote it: it also fits an edit that was refused because somebody had made the same one before.
    """
    old, new = _in_style_of(content, old_text), _in_style_of(content, new_text)
    holds_old = old in content
    holds_new = bool(new) and new in content
    if holds_new and (old in new or not holds_old):
        return "replaced"
    return "untouched" if holds_old else "unclear"


def _in_style_of(content: bytes, text: str) -> bytes:
    r"""Models write `\n`; in a file whose every line ends in `\r\n` that is what they mean."""
    breaks = content.count(b"\n")
    if breaks and breaks == content.count(b"\r\n"):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text.encode("utf-8")
