"""The noun `audit`: what was asked, allowed, run and answered, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import click

from ledger.cli.filtering import FATE, OF_TYPE, PAGE, PEOPLE, PLACE, PRINT, TIME, WITH_TYPE, options
from ledger.cli.frame import Noun
from ledger.cli.looks import CALL, SESSION, STATE, TOOL, VERSION, WHY, at, called, tone_of_event
from ledger.cli.output import Format
from ledger.cli.rows import Row
from ledger.cli.shell import Shell, format_option
from ledger.cli.table import Column
from ledger.cli.when import short_instant

CALL_COLUMNS: Final = (
    CALL,
    replace(at("proposedAt", "ASKED (UTC)"), leave=4),
    SESSION,
    TOOL,
    replace(VERSION, leave=2),
    STATE,
    Column(key="why", wants=WHY),
    Column(key="durationMs", title="MS", keep="all", leave=1),
)
EVENT_COLUMNS: Final = (
    Column(key="position", title="POS", keep="all", leave=4),
    replace(at("recordedAt", "TIME (UTC)"), leave=5),
    SESSION,
    Column(key="sequence", title="SEQ", keep="all", leave=1),
    Column(key="type", keep="all", wants=25, tone=tone_of_event),  # the longest: call.outcome_arrived_late
    replace(TOOL, leave=2),
    replace(CALL, wants=8, leave=6),
    Column(key="summary", title="WHAT", wants=12),
)

VERSION_COLUMNS: Final = (
    TOOL,
    VERSION,
    Column(key="stage", keep="all", leave=3),
    replace(at("publishedAt", "PUBLISHED (UTC)"), leave=2),
    Column(key="calls", keep="all"),
    Column(key="carried", keep="all"),
    Column(key="succeeded", title="OK", keep="all", leave=6),
    Column(key="rejected", title="REJ", keep="all", leave=5),
    Column(key="denied", title="DEN", keep="all", leave=4),
    Column(key="failed", title="FAIL", keep="all", leave=7),
    Column(key="description", leave=1),
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


@command.command(
    "calls",
    examples=[
        "ledger audit calls",
        "ledger audit calls --state denied --since 7d",
        "ledger audit calls --tool send_email --format csv",
    ],
)
@options(*PLACE, WITH_TYPE, *FATE, *PEOPLE, *PAGE, *PRINT)
@click.pass_obj
def calls(
    shell: Shell, /, *, format: Format | None, keep_formulas: bool, limit: int | None, after: int, **filters: Any
) -> None:
    """Who called which tool with what, when, under which version: one row a call."""
    from ledger.audit import call_rows
    from ledger.cli.opening import names_of, reading
    from ledger.cli.paging import Page

    with reading(shell) as reader:
        rows = call_rows(reader, after=after, limit=limit and limit + 1, names=names_of(shell, reader), **filters)
        page = Page(map(_for_a_table, rows) if _for_people(shell, format) else rows, limit)
        shell.out.rows(
            page, CALL_COLUMNS, format=format, next=page.cursor, empty="No call fits.", keep_formulas=keep_formulas
        )


@command.command(
    "events",
    examples=[
        "ledger audit events --session support-1042",
        "ledger audit events --type session.resumed --since 24h",
        "ledger audit events --format jsonl",
        "ledger audit events --follow --after 1042 --json",
    ],
)
@options(
    *PLACE,
    OF_TYPE,
    *FATE,
    *PEOPLE,
    *PAGE,
    *PRINT,
    click.option("--follow", is_flag=True, help="Go on with what is recorded later, until Ctrl-C or --limit."),
)
@click.pass_obj
def events(
    shell: Shell,
    /,
    *,
    format: Format | None,
    keep_formulas: bool,
    limit: int | None,
    after: int,
    follow: bool,
    **filters: Any,
) -> None:
    """
    Print what was recorded: one row an event, in the order of recording.

    Filters of calls (--state, --code, --resource …) leave the events of the calls that fit. --follow prints what is
    there, from the first event on or behind --after, and then what comes, at once; it misses no event and tells none
    twice, however many write, and its last words say which --after goes on. With --json or --format jsonl each event
    is a line. A filter of calls looks at each event as it comes, by how its call stands then: what a call went through
    before it fitted is not told afterwards.
    """
    if follow:
        from ledger.cli.tailing import followed

        followed(shell, format, filters, EVENT_COLUMNS, after=after, limit=limit)
        return
    from ledger.audit import find_call
    from ledger.cli.opening import names_of, reading
    from ledger.cli.paging import Page
    from ledger.cli.stories import told_events

    with reading(shell) as reader:
        if filters["call"] is not None:
            filters["call"] = find_call(reader, filters["call"]).call_id
        names, people = names_of(shell, reader), _for_people(shell, format)
        rows = told_events(reader, filters, after=after, limit=limit and limit + 1, summary=people, names=names)
        page = Page(rows, limit)
        shell.out.rows(
            page, EVENT_COLUMNS, format=format, next=page.cursor, empty="No event fits.", keep_formulas=keep_formulas
        )


@command.command("call", examples=["ledger audit call 3f2a91c0", "ledger audit call 3f2a91c0 --format jsonl"])
@click.argument("call")
@format_option()
@click.pass_obj
def call(shell: Shell, call: str, format: Format | None) -> None:
    """Tell the whole story of one call: what was asked, what became of it, and each of its events."""
    from ledger.audit import call_of, call_story, find_call
    from ledger.cli.opening import names_of, reading
    from ledger.cli.pages import call_page
    from ledger.cli.stories import told_events

    with reading(shell) as reader:
        row = find_call(reader, call)
        asked = {"session": row.session_id, "call": row.call_id}
        if format is None:
            story = call_story(reader, call_of(reader, row.session_id, row.call_id), names_of(shell, reader))
            if shell.json:
                shell.out.show(story | {"events": list(told_events(reader, asked))}, [])
                return
            shell.out.lines(call_page(story))
        shell.out.rows(told_events(reader, asked, summary=_for_people(shell, format)), STORY_COLUMNS, format=format)


@command.command(
    "stats",
    examples=[
        "ledger audit stats",
        "ledger audit stats --by code --since 7d",
        "ledger audit stats --by description --tool send_email --format csv",
    ],
)
@options(
    click.option(
        "--by",
        multiple=True,
        metavar="WORD",
        help="Count by: tool (default), version, description, model, code, class, gate, stage, state, reason, effect,"
        " tenant, principal; several make finer groups.",
    ),
    *PLACE,
    WITH_TYPE,
    *FATE,
    *PEOPLE,
    *TIME,
    *PRINT,
)
@click.pass_obj
def stats(shell: Shell, /, *, by: tuple[str, ...], format: Format | None, keep_formulas: bool, **filters: Any) -> None:
    """
    Count calls: how many, how they ended, how long they took.

    Every rate has its count and its 95 % interval (Wilson). REPAIRABLE: calls that the model could put right itself.
    P50 and P95 are exact, in milliseconds.
    """
    from ledger.audit import stat_rows
    from ledger.cli.opening import names_of, reading
    from ledger.cli.statistics import columns_of, told, with_digests

    with reading(shell) as reader:
        names = names_of(shell, reader)
        rows: Iterable[Row] = stat_rows(reader, by or ("tool",), names=names, **filters)
        columns = columns_of(by or ("tool",))
        if _for_people(shell, format):
            rows = [told(row, names) for row in rows]
            columns = with_digests(rows, columns)
        shell.out.rows(
            rows,
            columns,
            format=format,
            empty="No call fits.",
            keep_formulas=keep_formulas,
        )


@command.command(
    "versions",
    examples=["ledger audit versions", "ledger audit versions --tool send_email", "ledger audit versions --since 7d"],
)
@options(*PLACE, WITH_TYPE, *FATE, *PEOPLE, *TIME, *PRINT)
@click.pass_obj
def versions(shell: Shell, /, *, format: Format | None, keep_formulas: bool, **filters: Any) -> None:
    """
    List the tool versions and wordings that this ledger knows, and the calls under each.

    A call counts where it was recorded; CARRIED: those of them that an upcast has carried to a later version since.
    Filters say which calls are counted; --tool and --schema-version also which versions are listed.
    """
    from ledger.audit import version_rows
    from ledger.cli.opening import names_of, reading
    from ledger.cli.statistics import with_digests

    with reading(shell) as reader:
        rows = list(version_rows(reader, names=names_of(shell, reader), **filters))
        columns = with_digests(rows, VERSION_COLUMNS)
        empty = "No tool was published, and no call fits."
        shell.out.rows(rows, columns, format=format, empty=empty, keep_formulas=keep_formulas)


def _for_people(shell: Shell, format: Format | None) -> bool:
    return format in (None, "table") and not shell.json


def _for_a_table(row: Row) -> Row:
    """Return a call's row with both names of its tool, and what a table says of its end: the code, or the flag."""
    return {**row, "tool": called(row["tool"], carried=row["carriedTo"]), "why": row["code"] or row["reason"]}
