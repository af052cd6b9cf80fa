"""A small command line of its own, built of the real classes: what the frame is tested with."""

import click

from ledger.cli.frame import Root

NOUNS = {"thing": "Things to look at.", "say-hello": "Say hello.", "bare": "A noun without a list."}


@click.group(cls=Root, nouns=NOUNS, package=__name__)
def root() -> None:
    """Try the frame."""
