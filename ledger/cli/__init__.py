"""
The command line: one module a noun, loaded only when it is called; each parses, calls `ledger`, prints.

How to add a command
--------------------
1. Write `ledger/cli/<noun>.py` with a `command` in it (a `-` in the name is a `_` in the file's):

       @click.group(cls=Noun)                       # or @click.command(cls=Command, examples=[...]) without a group
       def command() -> None:
           \"\"\"Calls that wait for a person.\"\"\"

       @command.command("list", examples=["ledger review", "ledger review list --max-age 15m"])
       @format_option()
       @click.pass_obj
       def list_(shell: Shell, format: Format | None) -> None:
           \"\"\"List what waits, the oldest first.\"\"\"
           from ledger import Ledger                # heavy things are imported here, not at the top

           shell.out.rows(..., COLUMNS, format=format, empty="Nothing waits.")
           raise click.exceptions.Exit(WAITS)       # only if the status is not 0

2. Add its name and the first line of its docstring to `NOUNS` below; a test holds the two together.
3. Run `python -m ledger.cli.reference`; a test compares docs/cli.md and parses every example.

`shell` has `db`, `catalog`, `json`, `given` and `out`. Print only through `shell.out` (`show`, `rows`, `lines`, `note`,
`warn`): it makes hostile data harmless and serves `--json`. Raise `LedgerError` or `click.UsageError`; don't catch to
print. `--json`, `--db`, `--catalog` and `--no-color` come with the classes, before or after the command; shared options
come as decorators: `shell.format_option`, `when.moment_option`, `when.age_option`. Pages for people are made of
`layout`'s pieces, statuses stand in `faults`. A test asks `tests.cli.running.ask("review", command=main)`.
"""

from __future__ import annotations

from typing import Final

import click

from ledger.cli.frame import Root
from ledger.cli.shell import Shell

NOUNS: Final[dict[str, str]] = {
    "demo": "See an agent killed in the middle of a write, and what follows.",
    "init": "Make a new project with a catalog, a program and a database.",
    "resume": "Decide what becomes of the calls that a crash left open.",
    "review": "Calls that wait for a person, and a person's word on them.",
    "replay": "What was recorded, told again; nothing is executed.",
    "session": "Runs of agents, open and closed.",
    "tool": "Tools: their versions, what their authors promise, their stages.",
    "audit": "What was asked, allowed, run and answered.",
    "migrate-schemas": "Carry recorded calls to the newer versions of their tools.",
    "db": "The database as a whole: where it is, its tables, its health.",
}


@click.group(
    cls=Root,
    nouns=NOUNS,
    package=__name__,
    epilog="Exit status: 0 done, 1 error or findings, 2 usage, 3 waits, 4 integrity.",
)
@click.option("--version", is_flag=True, help="Show the version.")
@click.pass_context
def main(context: click.Context, *, version: bool) -> None:
    """Record, replay and repair the tool calls of LLM agents."""
    shell = context.ensure_object(Shell)
    if version:
        found = _installed()
        shell.out.show({"version": found}, [f"ledger {found}"])
    elif context.invoked_subcommand is None and shell.json:
        raise click.UsageError("Missing command.", context)
    elif context.invoked_subcommand is None:
        shell.out.verbatim(context.get_help().split("\n"))


def _installed() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("toolcall-ledger")
    except PackageNotFoundError:  # `python cli.py` in a folder where it was never installed
        return "unknown"
