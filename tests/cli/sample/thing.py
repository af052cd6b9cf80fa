"""A noun with commands of every kind: a list in all formats, one thing, every kind of failure."""

import logging
from collections.abc import Iterator
from typing import Any

import click

from ledger.cli.faults import WAITS
from ledger.cli.frame import Noun
from ledger.cli.shell import Shell, format_option
from ledger.cli.table import Column, tail
from ledger.errors import LedgerError, NoDatabase, NotKnown

COLUMNS = [Column(key="callId", title="CALL", show=tail, keep="all"), Column(key="text"), Column(key="count")]
HOSTILE = "caf\udce9 中文 ✓ \x1b]52;c;eA==\x07\x9b31m\u202eevil\u2066\u200b\u2028\r\n\x00\x7f"


def things(count: int, *, broken_after: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield rows with hostile text; after so many of them the database breaks."""
    for number in range(count):
        if number == broken_after:
            raise LedgerError("the database broke at postgresql://u:geheim@h/db")
        yield {"callId": f"0197-{number:08d}", "text": HOSTILE, "count": number}


@click.group(cls=Noun)
def command() -> None:
    """Things to look at."""


@command.command("list", examples=["ledger thing", "ledger thing list --count 3"])
@click.option("--count", default=2)
@click.option("--broken-after", type=int)
@click.option("--next", "following")
@click.option("--waits", is_flag=True)
@format_option("tree")
@click.pass_obj
def list_(shell: Shell, /, count: int, broken_after: int | None, *, waits: bool, **rest: Any) -> None:
    """List the things."""
    rows = things(count, broken_after=broken_after)
    shell.out.rows(rows, COLUMNS, format=rest["format"], next=rest["following"], empty="No things.")
    if waits:
        raise click.exceptions.Exit(WAITS)


@command.command("show", examples=["ledger thing show 1"])
@click.argument("number", type=int)
@click.pass_obj
def show(shell: Shell, number: int) -> None:
    """Show one thing."""
    shell.out.show({"number": number, "text": HOSTILE}, [f"number {number}", HOSTILE])


@command.command("fail", examples=["ledger thing fail ledger"])
@click.argument("kind")
@click.pass_obj
def fail(shell: Shell, kind: str) -> None:
    """Fail in one of the ways there are."""
    logging.getLogger("ledger.sample").warning("about to fail: %s", "\x1b[2J")
    logging.getLogger("ledger.sample").debug("quiet")
    shell.out.note("failing with password=hunter2")
    failures: dict[str, BaseException] = {
        "ledger": LedgerError("no luck with postgresql://ada:s3cr3t@host/db", code="unlucky", hint="Try again."),
        "integrity": LedgerError("the chain is broken", code="integrity"),
        "known": NotKnown("no call x"),
        "database": NoDatabase("there is no ledger at sqlite:///ledger.db"),
        "bug": KeyError("postgresql://ada:s3cr3t@host/db"),
        "file": FileNotFoundError(2, "No such file or directory", "a\x1bb.json"),
        "disk": OSError(28, "No space left on device"),
        "click": click.ClickException("no\nway"),
        "interrupt": KeyboardInterrupt(),
        "abort": click.Abort(),
    }
    raise failures[kind]
