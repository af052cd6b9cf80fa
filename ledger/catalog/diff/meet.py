"""What two cells accept together."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TypeVar

from ledger.catalog.diff.cells import Arrays, Body, Cell, Numbers, Objects, Texts
from ledger.catalog.equality import key_of
from ledger.catalog.formats import FORMATS
from ledger.catalog.patterns import compile_pattern
from ledger.strictjson import Json

_Item = TypeVar("_Item")


def meet(one: Cell, two: Cell) -> Cell | None:
    """Return the values that both accept (they are of one kind), or None if there are none, as far as one can see."""
    values = one.values
    if values is None:
        values = two.values
    elif two.values is not None:
        keys = {key_of(value) for value in two.values}
        values = tuple(value for value in values if key_of(value) in keys)
    return settled(
        Cell(
            kind=one.kind,
            body=_body(one.body, two.body),
            values=values,
            conditions=one.conditions | two.conditions,
            sources=_once(one.sources + two.sources),
        )
    )


def settled(cell: Cell) -> Cell | None:
    """Return *cell* with bounds in their plainest form and only the values that they let through; None if none are."""
    body = cell.body
    if isinstance(body, Numbers):
        body = _plain(body)
        if _no_number(body):
            return None
    elif isinstance(body, Texts | Arrays | Objects) and body.high is not None and body.low > body.high:
        return None
    values = cell.values
    if values is not None and isinstance(body, Numbers | Texts):
        values = tuple(value for value in values if fits(body, value))
        body = Numbers() if isinstance(body, Numbers) else Texts()
    if values == ():
        return None
    if body is cell.body and values is cell.values:
        return cell
    return Cell(kind=cell.kind, body=body, values=values, conditions=cell.conditions, sources=cell.sources)


def decimal(value: Json) -> Fraction:
    """Return a number as its decimals say it, as the validator does for `multipleOf`: 0.1 is a tenth."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def fits(body: Numbers | Texts, value: Json) -> bool:
    """Whether a number or a text lies within a body."""
    if isinstance(body, Texts):
        return (
            body.low <= len(value)
            and (body.high is None or len(value) <= body.high)
            and all(compile_pattern(pattern).search(value) for pattern in body.patterns)
            and all(FORMATS[name](value) for name in body.formats)
        )
    number = Fraction(value)  # bounds are compared as the machine holds them
    return (
        (not body.whole or number.denominator == 1)
        and (body.low is None or number > body.low or (number == body.low and not body.low_open))
        and (body.high is None or number < body.high or (number == body.high and not body.high_open))
        and all((decimal(value) / step).denominator == 1 for step in body.multiples)
    )


def _once(items: tuple[_Item, ...]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys(items))


def _body(one: Body, two: Body) -> Body:
    if isinstance(one, Numbers) and isinstance(two, Numbers):
        return _numbers(one, two)
    if isinstance(one, Texts) and isinstance(two, Texts):
        return Texts(
            low=max(one.low, two.low),
            high=_least(one.high, two.high),
            patterns=one.patterns | two.patterns,
            formats=one.formats | two.formats,
        )
    if isinstance(one, Arrays) and isinstance(two, Arrays):
        return Arrays(
            rows=_once(one.rows + two.rows),
            low=max(one.low, two.low),
            high=_least(one.high, two.high),
            unique=one.unique or two.unique,
        )
    if isinstance(one, Objects) and isinstance(two, Objects):
        return Objects(
            layers=one.layers + tuple(layer for layer in two.layers if layer not in one.layers),
            required=one.required | two.required,
            low=max(one.low, two.low),
            high=_least(one.high, two.high),
            needs=one.needs | two.needs,
        )
    return None


def _least(one: int | None, two: int | None) -> int | None:
    return two if one is None else one if two is None else min(one, two)


def _numbers(one: Numbers, two: Numbers) -> Numbers:
    low = max((each for each in (one, two) if each.low is not None), key=_low, default=one)
    high = min((each for each in (one, two) if each.high is not None), key=_high, default=one)
    return Numbers(
        whole=one.whole or two.whole,
        low=low.low,
        low_open=low.low_open,
        high=high.high,
        high_open=high.high_open,
        multiples=one.multiples | two.multiples,
    )


def _low(body: Numbers) -> tuple[Fraction, bool]:
    """A key that grows as the bound gets tighter."""
    return body.low or Fraction(0), body.low_open


def _high(body: Numbers) -> tuple[Fraction, bool]:
    """A key that shrinks as the bound gets tighter."""
    return body.high or Fraction(0), not body.high_open


def _plain(body: Numbers) -> Numbers:
    """Write the bounds of whole numbers as whole numbers that belong to them."""
    whole = body.whole or any(step.denominator == 1 for step in body.multiples)
    low, low_open, high, high_open = body.low, body.low_open, body.high, body.high_open
    if whole and low is not None:
        low, low_open = Fraction(floor(low) + 1 if low_open else ceil(low)), False
    if whole and high is not None:
        high, high_open = Fraction(ceil(high) - 1 if high_open else floor(high)), False
    multiples = frozenset(step for step in body.multiples if not (whole and 1 / step == int(1 / step)))
    return Numbers(whole=whole, low=low, low_open=low_open, high=high, high_open=high_open, multiples=multiples)


def _no_number(body: Numbers) -> bool:
    if body.low is None or body.high is None:
        return False
    return body.low > body.high or (body.low == body.high and (body.low_open or body.high_open))
