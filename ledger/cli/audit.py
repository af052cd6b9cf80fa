"""The noun `audit`: what was asked, allowed, run and answered, as rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final, TypeVar

import click

from ledger.cli.frame import Noun
from ledger.cli.looks import CALL, SESSION, STATE, TOOL, VERSION, at, tone_of_event
from ledger.cli.output import Format
from ledger.cli.rows import Row
from ledger.cli.shell import Shell, format_option
from ledger.cli.table import Column
from ledger.cli.when import moment_option, short_instant

_Function = TypeVar("_Function", bound=Callable[..., Any])

CALL_COLUMNS: Final = (
    CALL,
    at("proposedAt", "ASKED (UTC)"),
    SESSION,
    TOOL,
    VERSION,
    STATE,
    Column(key="why"),
    Column(key="durationMs", title="MS", keep="all"),
)
EVENT_COLUMNS: Final = (
    Column(key="position", title="POS", keep="all"),
    at("recordedAt", "TIME (UTC)"),
    SESSION,
    Column(key="sequence", title="SEQ", keep="all"),
    Column(key="type", keep="all", tone=tone_of_event),
    TOOL,
    CALL,
    Column(key="summary", title="WHAT"),
)

STORY_COLUMNS: Final = (
    Column(key="sequence", title="SEQ", keep="all"),
    Column(key="recordedAt", title="TIME (UTC)", show=short_instant, keep="all"),
    Column(key="type", keep="all", tone=tone_of_event),
    Column(key="summary", title="WHAT"),
)


@click.group(cls=Noun, default=None)
def command() -> None:
    """What was asked, allowed, run and answered."""


def _options(*options: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    """Return several option decorators as one, in the order in which the help shows them."""
    return lambda function: reduce(lambda made, option: option(made), reversed(options), function)


def _text(name: str, field: str, help: str, **rest: Any) -> Callable[[_Function], _Function]:
    return click.option(name, field, help=help, **rest)


_PLACE: Final = (
    _text("--session", "session", "Of one session.", metavar="ID"),
    _text("--call", "call", "Of one call: its id, or a unique head or tail of it.", metavar="CALL"),
    _text("--tool", "tool", "Of one tool.", metavar="NAME"),
)
_PEOPLE: Final = (
    _text("--tenant", "tenant", "Of one tenant.", metavar="ID"),
    _text("--principal", "principal", "On behalf of this principal.", metavar="ID"),
)
_PAGE: Final = (
    moment_option("--since", "Not before this time."),
    moment_option("--until", "Before this time."),
    click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many rows (default: all)."),
    click.option(
        "--after", type=click.IntRange(min=0), default=0, metavar="POSITION", help="Only rows behind this one."
    ),
    format_option(),
)


@command.command(
    "calls",
    examples=[
        "ledger audit calls",
        "ledger audit calls --state denied --since 7d",
        "ledger audit calls --tool send_email --format csv",
    ],
)
@_options(
    *_PLACE,
    _text("--state", "state", "In this state; may be given several times.", multiple=True),
    _text("--reason", "reason", "Flagged for this reason; may be given several times.", multiple=True),
    click.option("--schema-version", type=int, metavar="N", help="Asked under this version of the tool."),
    _text("--stage", "stage", "Whose tool was in this stage then.", metavar="STAGE"),
    _text("--gate", "gate", "Refused at this gate.", metavar="GATE"),
    _text("--code", "code", "That ended with this code.", metavar="CODE"),
    _text("--class", "error_class", "That failed by this class: model, policy, environment, tool.", metavar="CLASS"),
    _text("--idempotency-key", "idempotency_key", "With this key of the host.", metavar="KEY"),
    click.option("--duplicates", is_flag=True, help="Only those that were flagged as copies of an earlier call."),
    *_PEOPLE,
    *_PAGE,
)
@click.pass_obj
def calls(shell: Shell, /, format: Format | None, limit: int | None, after: int, **filters: Any) -> None:
    """Who called which tool with what, when, under which version: one row a call."""
    from ledger.audit import call_rows
    from ledger.cli.opening import reading
    from ledger.cli.paging import Page

    with reading(shell) as reader:
        rows = call_rows(reader, after=after, limit=limit and limit + 1, **filters)
        page = Page(map(_with_why, rows) if _for_people(shell, format) else rows, limit)
        shell.out.rows(page, CALL_COLUMNS, format=format, next=page.cursor, empty="No call fits.")


@command.command(
    "events",
    examples=[
        "ledger audit events --session support-1042",
        "ledger audit events --type session.resumed --since 24h",
        "ledger audit events --format jsonl",
    ],
)
@_options(
    *_PLACE,
    _text("--type", "type", "Of this type; may be given several times.", multiple=True, metavar="TYPE"),
    *_PEOPLE,
    *_PAGE,
)
@click.pass_obj
def events(shell: Shell, /, format: Format | None, limit: int | None, after: int, **filters: Any) -> None:
    """Print what was recorded: one row an event, in the order of recording."""
    from ledger.audit import find_call
    from ledger.cli.opening import reading
    from ledger.cli.paging import Page
    from ledger.cli.stories import told_events

    with reading(shell) as reader:
        if filters["call"] is not None:
            filters["call"] = find_call(reader, filters["call"]).call_id
        people = _for_people(shell, format)
        page = Page(told_events(reader, filters, after=after, limit=limit and limit + 1, summary=people), limit)
        shell.out.rows(page, EVENT_COLUMNS, format=format, next=page.cursor, empty="No event fits.")


@command.command("call", examples=["ledger audit call 3f2a91c0", "ledger audit call 3f2a91c0 --format jsonl"])
@click.argument("call")
@format_option()
@click.pass_obj
def call(shell: Shell, call: str, format: Format | None) -> None:
    """Tell the whole story of one call: what was asked, what became of it, and each of its events."""
    from ledger.audit import call_of, call_story, find_call
    from ledger.cli.opening import reading
    from ledger.cli.pages import call_page
    from ledger.cli.stories import told_events

    with reading(shell) as reader:
        row = find_call(reader, call)
        asked = {"session": row.session_id, "call": row.call_id}
        if format is None:
            story = call_story(reader, call_of(reader, row.session_id, row.call_id))
            if shell.json:
                shell.out.show(story | {"events": list(told_events(reader, asked))}, [])
                return
            shell.out.lines(call_page(story))
        shell.out.rows(told_events(reader, asked, summary=_for_people(shell, format)), STORY_COLUMNS, format=format)


def _for_people(shell: Shell, format: Format | None) -> bool:
    return format in (None, "table") and not shell.json


def _with_why(row: Row) -> Row:
    """Return a call's row with what a table says of its end: the code, or what it is flagged for."""
    return {**row, "why": row["code"] or row["reason"]}
