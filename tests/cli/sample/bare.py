"""A noun without a default."""

import click

from ledger.cli.frame import Noun


@click.group(cls=Noun, default=None)
def command() -> None:
    """A noun without a list."""


@command.command("go")
def go() -> None:
    """Go."""
