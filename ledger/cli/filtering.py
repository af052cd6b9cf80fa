"""The filters of an audit as options: the same words for every question."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final, TypeVar

import click

from ledger.cli.shell import format_option
from ledger.cli.when import moment_option

_Function = TypeVar("_Function", bound=Callable[..., Any])

_COUNT: Final = click.IntRange(min=1, max=2**62)
_NUMBER: Final = click.IntRange(min=0, max=2**63 - 1)


def options(*given: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    """Return several option decorators as one, in the order in which the help shows them."""
    return lambda function: reduce(lambda made, option: option(made), reversed(given), function)


def _text(name: str, field: str, help: str, **rest: Any) -> Callable[[_Function], _Function]:
    return click.option(name, field, help=help, **rest)


PLACE: Final = (
    _text("--session", "session", "Of one session.", metavar="ID"),
    _text("--call", "call", "Of one call: its id, or a unique head or tail of it.", metavar="CALL"),
    _text("--tool", "tool", "Of one tool; what was carried to this name too.", metavar="NAME"),
    click.option("--schema-version", type=_NUMBER, metavar="N", help="Under this version of its tool."),
)
OF_TYPE: Final = _text("--type", "type", "Of this type; may be given several times.", multiple=True, metavar="TYPE")
WITH_TYPE: Final = _text("--type", "type", "With an event of this type; or several.", multiple=True, metavar="TYPE")
FATE: Final = (
    _text("--state", "state", "In this state; may be given several times.", multiple=True, metavar="STATE"),
    _text("--reason", "reason", "Flagged for this reason; may be given several times.", multiple=True),
    _text("--stage", "stage", "Whose tool was in this stage then.", metavar="STAGE"),
    _text("--gate", "gate", "Refused at this gate.", metavar="GATE"),
    _text("--code", "code", "That ended with this code.", metavar="CODE"),
    _text("--class", "error_class", "That failed by this class: model, policy, environment, tool.", metavar="CLASS"),
    _text("--resource", "resource", "That touched this resource.", metavar="KEY"),
    _text("--idempotency-key", "idempotency_key", "With this key of the host.", metavar="KEY"),
    click.option("--duplicates", is_flag=True, help="Only those that were flagged as copies of an earlier call."),
)
PEOPLE: Final = (
    _text("--tenant", "tenant", "Of one tenant.", metavar="ID"),
    _text("--principal", "principal", "On behalf of this principal.", metavar="ID"),
    _text("--actor", "actor", "With an event that this one caused: model, ledger, person:NAME.", metavar="NAME"),
    _text(
        "--label",
        "label",
        "Of sessions with this label; may be given several times.",
        multiple=True,
        metavar="KEY=VALUE",
    ),
)
TIME: Final = (moment_option("--since", "Not before this time."), moment_option("--until", "Before this time."))
PAGE: Final = (
    *TIME,
    click.option("--limit", type=_COUNT, metavar="N", help="At most so many rows (default: all)."),
    click.option("--after", type=_NUMBER, default=0, metavar="POSITION", help="Only rows behind this one."),
)
PRINT: Final = (
    format_option(),
    click.option("--keep-formulas", is_flag=True, help="CSV for programs: texts as they are, formulas too."),
)
