"""Reads an ECMA-262 pattern (as JSON Schema means it: Unicode, no flags) into a tree, or refuses it with a hint."""

from __future__ import annotations

import re
from typing import Final

from ledger.catalog.patterns.charset import LINE_END, CharSet, merged, single
from ledger.catalog.patterns.escapes import escape
from ledger.catalog.patterns.tree import At, Chars, Choice, Node, PatternRefused, Place, Repeat, Sequence

MAX_LENGTH: Final = 1_000
MAX_NESTING: Final = 50

_QUANTIFIER: Final = re.compile(r"([*+?]|\{([0-9]{1,6})(,([0-9]{1,6})?)?\})(\??)")
_GROUP: Final = re.compile(r"\(\?(?::|<[A-Za-z_$][A-Za-z0-9_$]*>)")
_PLACES: Final[dict[str, Place]] = {"^": "start", "$": "end"}
_BOUNDARIES: Final[dict[str, Place]] = {r"\b": "boundary", r"\B": "inside"}
_DOT: Final = LINE_END.inverse()


def parse(pattern: str) -> Node:
    """Return the meaning of *pattern*; raises PatternRefused."""
    if len(pattern) > MAX_LENGTH:
        hint = "Split it, or use `maxLength`, `enum` or a business check."
        raise PatternRefused(f"a pattern may have {MAX_LENGTH:,} characters, this one has {len(pattern):,}", hint)
    return _Parser(pattern).whole()


class _Parser:
    """A recursive descent over the text; `at` is the place of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.nesting = 0

    def whole(self) -> Node:
        node = self.choice()
        if self.at < len(self.text):
            raise self.refused("a `)` without its `(`", "Write `\\)` for the character itself.")
        return node

    def refused(self, message: str, hint: str) -> PatternRefused:
        return PatternRefused(message, hint, self.at)

    def ahead(self, *starts: str) -> bool:
        return self.text.startswith(starts, self.at)

    def choice(self) -> Node:
        options = [self.sequence()]
        while self.ahead("|"):
            self.at += 1
            options.append(self.sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and not self.ahead("|", ")"):
            parts.append(self.quantified(self.atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def quantified(self, node: Node) -> Node:
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None:
            return node
        if isinstance(node, At):
            raise self.refused("a place (`^`, `$`, `\\b`) cannot be repeated", "Leave the quantifier out.")
        least, most = _bounds(found)
        if most is not None and most < least:
            raise self.refused("the quantifier's bounds are the wrong way round", f"Write `{{{most},{least}}}`.")
        self.at = found.end()
        if self.ahead("*", "+", "?"):
            hint = "Possessive and doubled quantifiers are not ECMA-262: leave the second one out."
            raise self.refused("a quantifier follows a quantifier", hint)
        return Repeat(node, least, most)

    def atom(self) -> Node:
        char = self.text[self.at]
        if char in _PLACES:
            self.at += 1
            return At(_PLACES[char])
        if self.ahead(*_BOUNDARIES):
            self.at += 2
            return At(_BOUNDARIES[self.text[self.at - 2 : self.at]])
        if char == "(":
            return self.group()
        if char == "[":
            return Chars(self.char_class())
        if char == "\\":
            chars, self.at = escape(self.text, self.at + 1)
            return Chars(chars)
        if char in "*+?{}]":
            raise self.refused(f"`{char}` has nothing to act on", f"Write `\\{char}` for the character itself.")
        self.at += 1
        return Chars(_DOT if char == "." else single(char))

    def group(self) -> Node:
        found = _GROUP.match(self.text, self.at)
        if found is None and self.ahead("(?"):
            raise self.extension()
        self.at = found.end() if found else self.at + 1
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.refused(f"groups are nested more than {MAX_NESTING} deep", "Flatten the pattern.")
        node = self.choice()
        if not self.ahead(")"):
            raise self.refused("a `(` without its `)`", "Write `\\(` for the character itself.")
        self.at += 1
        self.nesting -= 1
        return Sequence((node,)) if isinstance(node, At) else node  # a group may be repeated, a bare place not

    def extension(self) -> PatternRefused:
        if self.ahead("(?=", "(?!", "(?<=", "(?<!"):
            hint = "Say the second condition in an `allOf` with another `pattern` (or `not`), or in a business check."
            return self.refused("a look-around is not portable and not linear", hint)
        hint = "ECMA-262 has `(…)`, `(?:…)` and `(?<name>…)`: flags, atomic groups and `(?P<…>…)` are not portable."
        return self.refused(f"`{self.text[self.at : self.at + 3]}` is not ECMA-262", hint)

    def char_class(self) -> CharSet:
        if self.ahead("[[:"):
            raise self.refused("POSIX classes are not ECMA-262", "Write the ranges, such as `[A-Za-z]`.")
        self.at += 1
        negated = self.ahead("^")
        self.at += negated
        if self.ahead("]"):
            raise self.refused("an empty class means different things in different engines", "Write `\\]` first.")
        chars = CharSet()
        while not self.ahead("]"):
            chars |= self.class_range()
        self.at += 1
        return chars.inverse() if negated else chars

    def class_range(self) -> CharSet:
        low = self.class_item()
        if not self.ahead("-") or self.ahead("-]"):
            return low
        self.at += 1
        high = self.class_item()
        first, last = _point(low), _point(high)
        if first is None or last is None:
            raise self.refused("a range needs a character on both sides", "Put the `-` last, or write `\\-`.")
        if last < first:
            raise self.refused("the range's ends are the wrong way round", "Write the smaller character first.")
        return CharSet(merged([(first, last)]))

    def class_item(self) -> CharSet:
        if self.at >= len(self.text):
            raise self.refused("a `[` without its `]`", "Write `\\[` for the character itself.")
        char = self.text[self.at]
        if self.ahead(r"\b"):
            self.at += 2
            return single("\b")
        if char == "\\":
            chars, self.at = escape(self.text, self.at + 1)
            return chars
        self.at += 1
        return single(char)


def _bounds(found: re.Match[str]) -> tuple[int, int | None]:
    match found.group(1):
        case "*":
            return 0, None
        case "+":
            return 1, None
        case "?":
            return 0, 1
        case _:
            least = int(found.group(2))
            most = int(found.group(4)) if found.group(4) else None
            return least, most if found.group(3) else least


def _point(chars: CharSet) -> int | None:
    """Return the code point of a set of one character, else None."""
    if chars.categories or len(chars.ranges) != 1 or chars.ranges[0][0] != chars.ranges[0][1]:
        return None
    return chars.ranges[0][0]
