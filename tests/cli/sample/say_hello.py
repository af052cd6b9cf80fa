"""A single command, whose name has a hyphen."""

import click

from ledger.cli.frame import Command
from ledger.cli.shell import Shell


@click.command(cls=Command, examples=["ledger say-hello Ada"])
@click.argument("name", default="you")
@click.pass_obj
def command(shell: Shell, name: str) -> None:
    """Say hello."""
    shell.out.show(
        {"name": name, "db": shell.db, "catalog": shell.catalog, "given": sorted(shell.given)}, [f"Hi {name}"]
    )
