"""The command `init`: a new project with a catalog, a small program and its database."""

from __future__ import annotations

import click

from ledger.cli.frame import Command
from ledger.cli.shell import Shell


@click.command(cls=Command, examples=["ledger init", "ledger init my-agent"])
@click.argument("folder", default=".")
@click.pass_obj
def command(shell: Shell, folder: str) -> None:
    """
    Make a new project with a catalog, a program and a database.

    The catalog holds one tool. Nothing that is there already is changed. Without --db the database is ledger.db in that
    folder.
    """
    from ledger.cli.starting import made, made_lines

    data = made(shell, folder)
    shell.out.show(data, made_lines(data))
