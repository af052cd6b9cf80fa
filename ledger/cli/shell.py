"""What one command line carries: the global options, wherever on the line they stood, and the door for printing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from ledger.cli.output import FORMATS, Output

DEFAULT_DB: Final = "sqlite:///ledger.db"
DEFAULT_CATALOG: Final = "schemas/tools"
GLOBAL_LINE: Final = "Global options, here too: --db URL, --catalog DIR, --json, --no-color."

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(slots=True)
class Shell:
    """
    The global options of one run; a command gets it by `@click.pass_obj`.

    `db` and `catalog` are resolved (option, else environment, else default); `given` holds the names of those that
    stand on the command line itself, for commands that bring their own (`--app`).
    """

    db: str = DEFAULT_DB
    catalog: str = DEFAULT_CATALOG
    json: bool = False
    no_color: bool = False
    given: set[str] = field(default_factory=set)

    @property
    def out(self) -> Output:
        """Return the door for printing."""
        return Output(json=self.json, color=not self.no_color)


def global_options(*, root: bool) -> list[click.Parameter]:
    """
    Return the options that every command takes.

    Only the root reads the environment: a command's own option is nearer, so the variable would beat `ledger --db`.
    """
    db, catalog = ("LEDGER_DB", "LEDGER_CATALOG") if root else (None, None)
    return [
        _option("--db", metavar="URL", envvar=db, root=root, help=f"The ledger. [LEDGER_DB; else {DEFAULT_DB}]"),
        _option(
            "--catalog",
            metavar="DIR",
            envvar=catalog,
            root=root,
            help=f"The tools' definitions. [LEDGER_CATALOG; else {DEFAULT_CATALOG}]",
        ),
        _option("--json", is_flag=True, root=root, help="Answer with one JSON object on stdout."),
        _option("--no-color", is_flag=True, root=root, help="No colours, as NO_COLOR=1 does."),
        click.Option(
            ["-h", "--help"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_help,
            help="Show this page.",
        ),
    ]


def format_option(*more: str) -> Callable[[_Function], _Function]:
    """Return the decorator of a listing command's `--format`; `more` are formats that only this command has."""
    return click.option(
        "--format",
        type=click.Choice([*FORMATS, *more]),
        metavar="FORMAT" if more else None,
        help="How to print the rows (default: table)." if not more else _all_forms(more),
    )


def _all_forms(more: Sequence[str]) -> str:
    return f"As rows: {', '.join(FORMATS)} (default: table); as messages: {', '.join(more)}."


def _option(name: str, *, root: bool, **rest: Any) -> click.Option:
    # On a command they are hidden, because its own options are what a reader looks for; GLOBAL_LINE names them.
    return click.Option([name], expose_value=False, hidden=not root, callback=_remember, **rest)


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    if not value or option.name is None:
        return
    shell = context.find_root().ensure_object(Shell)
    setattr(shell, option.name, value)
    if context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
        shell.given.add(option.name)


def _print_help(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    if value and not context.resilient_parsing:
        Output().verbatim(context.get_help().split("\n"))
        context.exit()
