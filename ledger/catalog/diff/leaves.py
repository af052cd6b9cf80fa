"""Compares what two cells say of values, numbers, texts and arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from ledger.catalog.diff.cells import Arrays, Numbers, Texts
from ledger.catalog.diff.examples import beyond
from ledger.catalog.diff.notes import Below, Note, Pair, Said
from ledger.catalog.diff.prove import numbers_within, texts_within
from ledger.catalog.diff.texts import Undecided, outside, sample
from ledger.catalog.equality import key_of
from ledger.catalog.words import listed
from ledger.strictjson import Json, canonical

CHOICE: Final = ("enum", "const")
_LOW: Final = ("minimum", "exclusiveMinimum")
_HIGH: Final = ("maximum", "exclusiveMaximum")


def values(pair: Pair, kept: set[str]) -> Said:
    """Compare the choices of two cells; *kept* are the keys of old values that the new schema takes otherwise."""
    old, new = pair.old.values, pair.new.values
    if old is None:
        yield Note(
            code="enum_narrowed",
            message=f"only {listed(new or ())} may be chosen now",
            keywords=CHOICE,
            outcome="refused",
            tries=lambda: _others(pair, new or ()),
        )
        return
    gone = [value for value in old if key_of(value) not in kept]
    if gone:
        yield Note(
            code="enum_narrowed",
            message=f"no longer to be chosen: {listed(gone)}",
            keywords=CHOICE,
            outcome="refused",
            tries=lambda: iter(gone),
        )
    before = {key_of(value) for value in old}
    more = [value for value in new or () if key_of(value) not in before]
    if new is None or more:
        message = f"may be chosen now too: {listed(more)}" if more else "it is no choice any more, everything goes"
        yield Note(code="enum_widened", message=message, keywords=CHOICE)
    yield from _spelling(old, new or ())


def _spelling(old: tuple[Json, ...], new: tuple[Json, ...]) -> Said:
    """1 and 1.0 validate alike, and are different values: whoever compares or stores them sees it."""
    there: dict[str, set[bytes]] = {}
    for value in new:
        there.setdefault(key_of(value), set()).add(canonical(value))
    other = [value for value in old if key_of(value) in there and canonical(value) not in there[key_of(value)]]
    if other:
        yield Note(
            code="number_spelling",
            message=f"{listed(other)} is written as another type of number now",
            keywords=CHOICE,
            outcome="reinterpreted",
            tries=lambda: iter(other),
        )


def _others(pair: Pair, chosen: tuple[Json, ...]) -> Iterator[Json]:
    """Yield values of the old cell that are not among those chosen."""
    yield pair.examples.cell(pair.old)
    if isinstance(pair.old.body, Texts):
        longest = max(map(len, chosen))
        yield sample(replace(pair.old.texts, low=max(pair.old.texts.low, longest + 1)))
    if isinstance(pair.old.body, Numbers):
        yield from (number + turn for number in chosen for turn in (1, -1, 2))


def numbers(pair: Pair) -> Said:
    """Compare bounds, wholeness and steps."""
    old, new = pair.old.numbers, pair.new.numbers
    if old == new:
        return
    if old.whole != new.whole:
        if new.whole:
            yield Note(
                code="number_narrowed",
                message="the number must be whole now",
                keywords=("type", "multipleOf"),
                outcome="refused",
                tries=lambda: beyond(old, new),
            )
        else:
            yield Note(
                code="number_widened", message="the number need not be whole any more", keywords=("type", "multipleOf")
            )
    for keywords, names in (
        (_LOW, ("low", "low_open")),
        (_HIGH, ("high", "high_open")),
        (("multipleOf",), ("multiples",)),
    ):
        yield from _facet(pair, keywords, names)


def _facet(pair: Pair, keywords: tuple[str, ...], names: tuple[str, ...]) -> Said:
    """Compare one bound of numbers, all else left out."""
    old, new = pair.old.numbers, pair.new.numbers
    one: Any = replace(Numbers(whole=old.whole), **{name: getattr(old, name) for name in names})
    two: Any = replace(Numbers(whole=old.whole), **{name: getattr(new, name) for name in names})
    if one != two:
        yield bound(numbers_within(one, two), numbers_within(two, one), keywords, lambda: beyond(old, new))


def bound(narrower: bool, wider: bool, keywords: tuple[str, ...], tries: Any) -> Note:  # noqa: FBT001 - two directions
    """Return the note of a bound: is the old one within the new one, is the new one within the old one."""
    if narrower:
        code = "bound_equivalent" if wider else "bound_widened"
        return Note(code=code, message="another bound" if wider else "a wider bound", keywords=keywords)
    return Note(code="bound_narrowed", message="a tighter bound", keywords=keywords, outcome="refused", tries=tries)


def sizes(pair: Pair, words: tuple[str, str], tries: Any) -> Said:
    """Compare least and most lengths; *words* are their keywords, *tries* yields values of a given length."""
    old: Any = pair.old.body
    new: Any = pair.new.body
    if old.low != new.low:
        yield bound(old.low > new.low, old.low < new.low, (words[0],), lambda: tries(old.low))
    if old.high != new.high:
        wider = new.high is None or (old.high is not None and old.high < new.high)
        most = 0 if new.high is None else new.high + 1
        yield bound(wider, not wider, (words[1],), lambda: tries(most))


def texts(pair: Pair) -> Said:
    """Compare lengths and patterns; what patterns accept is decided, not guessed."""
    old, new = pair.old.texts, pair.new.texts
    if old.patterns == new.patterns:
        yield from sizes(pair, ("minLength", "maxLength"), lambda _: _text_beyond(old, new))
        return
    code, message = "pattern_narrowed", "the pattern refuses texts that were right"
    try:
        within, back = outside(old, new) is None, texts_within(new, old)
        if within:
            code, message = "pattern_widened", "every text that was right is right, and more are"
            if back:
                code, message = "pattern_equivalent", "both accept exactly the same texts"
    except Undecided:
        code, message = "pattern_changed", "which texts the new pattern refuses could not be decided"
    yield Note(
        code=code,
        message=message,
        keywords=("pattern", "minLength", "maxLength"),
        outcome="refused",
        tries=lambda: _text_beyond(old, new),
    )


def _text_beyond(old: Texts, new: Texts) -> Iterator[Json]:
    try:
        found = outside(old, new)
    except Undecided:
        found = None
    for text in (found, sample(old)):
        if text is not None:
            yield text


def arrays(pair: Pair) -> Said:
    """Compare lengths, uniqueness and every place."""
    old, new = pair.old.arrays, pair.new.arrays

    def long(length: int) -> Iterator[Json]:
        yield from _array(pair, length)

    yield from sizes(pair, ("minItems", "maxItems"), long)
    if old.unique != new.unique:
        yield bound(old.unique, new.unique, ("uniqueItems",), lambda: _twins(pair))
    length = max(old.length, new.length)
    for index in range(length + 1):
        if old.high is None or index < old.high:
            yield from _place(pair, index, old, new)


def _place(pair: Pair, index: int, old: Arrays, new: Arrays) -> Said:
    here, there = old.at(index), new.at(index)
    before, after = pair.here.leaf(here), pair.there.leaf(there)
    keywords = ("prefixItems", "items", "additionalItems")
    if before and not after:
        yield Note(
            code="items_removed",
            message=f"an item at place {index} is refused now",
            keywords=keywords,
            step=index,
            outcome="refused",
            tries=lambda: iter([pair.examples.of(here)]),
        )
    elif after and not before:
        yield Note(code="items_added", message=f"an item at place {index} is accepted now", keywords=keywords)
    elif not (pair.here.free(here) and pair.there.free(there)):
        yield Below(old=here, new=there, step=index)


def _array(pair: Pair, length: int) -> Iterator[Json]:
    """Yield an array of this length, the last item written out."""
    given: dict[str | int, Json] = {}
    if length:
        given[length - 1] = pair.examples.item(pair.old.arrays, length - 1)
    yield pair.examples.cell(pair.old, 0, given)


def _twins(pair: Pair) -> Iterator[Json]:
    item = pair.examples.of(pair.old.arrays.at(0))
    yield pair.examples.cell(pair.old, 0, {0: item, 1: item})
