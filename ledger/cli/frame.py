"""The classes of the command line: a command, a noun that holds commands, and the lazy root that catches everything."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Any, NoReturn

import click

from ledger.cli.guard import guarded
from ledger.cli.shell import GLOBAL_LINE, Shell, global_options


class Command(click.Command):
    """A command: it takes the global options too, and its help ends with examples."""

    def __init__(self, name: str | None, *, examples: Sequence[str] = (), **rest: Any) -> None:
        super().__init__(name, add_help_option=False, **rest)
        self.examples = tuple(examples)
        self.params.extend(global_options(root=False))

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and where the global options are explained."""
        _write_end(formatter, self.examples)


class _Group(click.Group):
    """What the root and the nouns share: the nearest command is offered for a mistyped one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. click's own search for the nearest would have to load all of them."""
        name, names = args[0], self.list_commands(ctx)
        if name not in names and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, names, n=1)
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {near[0]!r}?" if near else self.hint(ctx, name)))
        return super().resolve_command(ctx, args)

    def hint(self, _ctx: click.Context, _name: str) -> str:
        """Return what to say of a name that is near to none."""
        return ""


class Noun(_Group):
    """A noun with its commands. The bare noun, with or without options, is its `default` command."""

    command_class = Command

    def __init__(self, name: str | None, *, default: str | None = "list", **rest: Any) -> None:
        super().__init__(name, add_help_option=False, no_args_is_help=False, **rest)
        self.default = default
        self.params.extend(global_options(root=False))

    @property
    def examples(self) -> tuple[str, ...]:
        """Return the first example of each command."""
        commands = (command for command in self.commands.values() if isinstance(command, Command))
        return tuple(command.examples[0] for command in commands if command.examples)

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are written."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command in, unless a command or help is asked for."""
        bare = (not args or args[0].startswith("-")) and not ctx.resilient_parsing
        if self.default and bare and not {*self.commands, "--help", "-h"}.intersection(args):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def hint(self, ctx: click.Context, name: str) -> str:
        """Return the whole line where there is only one command, whose word was left out."""
        (only, *others) = self.commands
        return "" if others else f" Did you mean `{ctx.command_path} {only} {shlex.join([name])}`?"

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their whole first sentence: click cuts it off."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(command)) for name, command in self.commands.items()])

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, the default command, and where the global options are explained."""
        _write_end(formatter, self.examples, *([f"Without a command: {self.default}."] if self.default else []))


class Root(_Group):
    """
    The whole command line. It knows its nouns' names and help by heart and imports one only to run it.

    `nouns` maps a name to its help; the module `ledger.cli.<name>` holds `command`. Unlike click's own, its `main`
    prints through the one door and exits by the kind of failure, under a test runner as well.
    """

    def __init__(self, name: str | None, *, nouns: Mapping[str, str], package: str, **rest: Any) -> None:
        super().__init__(name, add_help_option=False, invoke_without_command=True, **rest)
        self.subcommand_metavar = "COMMAND [ARGS]..."
        self.nouns = nouns
        self.package = package
        self.params[:0] = global_options(root=True)

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the nouns in the order of a first visit, not of the alphabet."""
        return list(self.nouns)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a noun's module and return its command."""
        if cmd_name not in self.nouns:
            return None
        command: click.Command = import_module(f"{self.package}.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the nouns and their help without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.nouns.items()))

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog without an indent."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(self.epilog)

    def main(self, args: Sequence[str] | None = None, *_rest: Any, **_extra: Any) -> NoReturn:
        """Run one command line and leave the process with its status."""
        arguments = sys.argv[1:] if args is None else list(args)
        name = "ledger"  # whatever door was taken, the help shows the command that works everywhere
        instruction = os.environ.get("_LEDGER_COMPLETE")
        if instruction:
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(self, {}, name, "_LEDGER_COMPLETE", instruction))
        shell = Shell()

        def run() -> None:
            with self.make_context(name, arguments, obj=shell) as context:
                self.invoke(context)

        sys.exit(guarded(run, shell, arguments))


def _summary(command: click.Command) -> str:
    first, more, _ = " ".join(cleandoc(command.help or "").split("\n\n")[0].split()).partition(". ")
    return f"{first}." if more else first


def _write_end(formatter: click.HelpFormatter, examples: Sequence[str], *closing: str) -> None:
    if examples:
        with formatter.section("Examples"):
            _write_lines(formatter, examples)
    formatter.write_paragraph()
    _write_lines(formatter, [*closing, GLOBAL_LINE])


def _write_lines(formatter: click.HelpFormatter, lines: Sequence[str]) -> None:
    """Write lines as they are: wrapped, an example could not be copied."""
    for line in lines:
        formatter.write(f"{' ' * formatter.current_indent}{line}\n")
