"""
The command line reference: docs/cli.md is the help of every command, so it can't drift from it.

`make docs` writes it, and so does `python -m ledger.cli.reference`; a test compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import click

from ledger.cli import main

DEFAULT_PATH: Final = Path("docs/cli.md")
_WIDTH: Final = 88

_INTRODUCTION: Final = r"""# The command line

<!-- Written by `make docs` from the commands' own help. Don't edit. -->

`ledger …`, `toolcall-ledger …`, `python -m ledger …` and, in a checkout, `python cli.py …` are the same. (Debian ships
another `/usr/bin/ledger`: use one of the others there.)

The global options stand before or after the command. A noun alone is its list: `ledger review` = `ledger review list`.

## Exit status

| status | meaning |
|---|---|
| 0 | done |
| 1 | ledger error, refused verdict, findings; also a bug or a full disk |
| 2 | wrong usage |
| 3 | something waits for a person, or for user code that this process lacks |
| 4 | integrity failure; wins over the others |
| 130, 143 | interrupted (Ctrl-C, SIGTERM) |
| 141 | whoever read the output left before its end (`… \| head -1`) |

## Output

Answers go to stdout; notes, warnings, errors and progress to stderr.

- `--json` prints exactly one object: `{"data": {…}}`, for lists `{"data": [rows], "next": cursor or null}`, for a
  failure `{"error": {"code", "message", "hint"}}`. If a list fails in the middle, the object has the rows so far in
  `data` and also `error`. A replay or an export that fails in the middle breaks off: stderr and the status tell of it.
  One line in a pipe, indented on a terminal.
- `resume --follow --json` goes on, so it prints one line of JSON for each session that it acted on.
- `--format table | json | jsonl | csv` prints the rows alone; every format carries the same rows.
- A table has the width of the terminal: its texts are cut; ids and names never, so that rows can be told apart and what
  is shown can be copied. What matters least leaves first, and is named below the table. Where an id has no room beside
  the rest, it stands above the rows that it is of. In a pipe nothing is cut, and nothing leaves.
- JSON is always pure ASCII and exact. Use `json` or `jsonl` for programs.
- CSV is for spreadsheets: `\r\n` ends a row, null is an empty field (`,,`) and the empty text is `""` (as PostgreSQL's
  `COPY … CSV` reads it); objects and lists are JSON; line breaks stay inside of quotes; a text that a spreadsheet would
  run as a formula (`=`, `+`, `-`, `@` in front, also behind `'`) gets a `'` in front: take one away from such a cell
  and you have the text. `--keep-formulas` writes texts as they are, for programs.
- There is no hidden cap: a list is whole unless `--limit` cuts it. Then the cursor is printed (`next` with `--json`),
  and an export (`--format json`, `jsonl`, `csv`), which has no place for it, exits with 1.
- Control, bidirectional, zero-width and other invisible characters in data appear as `\n`, `\x1b`, `\u202e`; so does
  what the terminal's encoding lacks. Passwords in messages appear as `***`.
- Commands to copy name the ledger where the line did and `LEDGER_DB` does not, without a password: PostgreSQL's driver
  takes it from `PGPASSWORD` or `~/.pgpass` then.
- Colours: only on a terminal, never with `NO_COLOR`, `--no-color` or `TERM=dumb`.

## Times

`--since` and `--until` take an age (`7d`, `24h`, `15m`, `1h30m`) or an ISO 8601 time (`2026-05-01`,
`2026-05-01T12:00:00+02:00`). A time without an offset is UTC; a date is its first instant.

## Environment

| variable | meaning |
|---|---|
| `LEDGER_DB` | the ledger's URL, where `--db` is not given |
| `LEDGER_CATALOG` | the folder of the tools' definitions, where `--catalog` is not given |
| `LEDGER_DEBUG=1` | tracebacks and debug messages on stderr |
| `NO_COLOR` | no colours |

## Commands
"""


def reference(root: click.Command) -> str:
    """Return the whole reference as Markdown."""
    sections = [f"### {path}\n\n```text\n{text}\n```\n" for path, text in pages(root)]
    return "\n".join([_INTRODUCTION, *sections])


def pages(root: click.Command) -> Iterator[tuple[str, str]]:
    """Yield every command's path (`ledger review list`) and help, the parents before their children."""
    for context in contexts(root):
        yield context.command_path, context.get_help()


def contexts(
    command: click.Command, name: str = "ledger", parent: click.Context | None = None
) -> Iterator[click.Context]:
    """Yield a context for every command there is, at a fixed width: the reader's terminal is not the writer's."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=_WIDTH)
    yield context
    for child in command.list_commands(context) if isinstance(command, click.Group) else ():
        found = cast("click.Group", command).get_command(context, child)
        yield from contexts(cast("click.Command", found), child, context)


def write(path: Path = DEFAULT_PATH) -> None:
    """Write the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(reference(main), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:]))
