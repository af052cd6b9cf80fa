"""The host's own code: a ledger named as MODULE:LEDGER, imported from the current folder."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import click

from ledger.errors import LedgerError
from ledger.session.ledger import Ledger

_T = TypeVar("_T")


class AppNotLoaded(LedgerError):
    """The module of the host's code cannot be imported, or holds no ledger under that name."""

    default_code = "app_not_loaded"


def load_app(spec: str) -> Ledger:
    """
    Import MODULE and return its LEDGER (`pkg.app:ledger`); the current folder is importable.

    Raises `AppNotLoaded`, `click.BadParameter` for another form, and what the ledger itself raises while it is opened.
    """
    name, colon, path = spec.partition(":")
    if not (name and colon and path) or name.endswith(".py") or "/" in name:
        message = f"{spec!r} is not of the form MODULE:LEDGER, for example app:ledger."
        raise click.BadParameter(message, param_hint="--app")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    with aside():
        module = _imported(name)
    try:
        found: object = reduce(getattr, path.split("."), module)
    except AttributeError:
        raise AppNotLoaded(f"{name} has no {path!r}", hint=_held(module)) from None
    if not isinstance(found, Ledger):
        raise AppNotLoaded(f"{spec} is no ledger but a {type(found).__name__}", hint=_held(module))
    return found


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except LedgerError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise AppNotLoaded(f"there is no module {name!r} in {Path.cwd()}", hint="Go to its folder first.") from None
        raise AppNotLoaded(f"{name} needs a module that is missing: {error.name}") from error
    except SystemExit as error:
        hint = "Put what runs under `if __name__ == '__main__':`."
        raise AppNotLoaded(f"{name} left the process while it was imported", hint=hint) from error
    except Exception as error:
        message = f"{name} cannot be imported: {type(error).__name__}: {error}"
        raise AppNotLoaded(message, hint="LEDGER_DEBUG=1 shows where.") from error


def _held(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if isinstance(value, Ledger)]
    return f"Its ledgers: {', '.join(names)}." if names else "It holds no ledger: make one with Ledger.open(…)."


@contextmanager
def aside() -> Iterator[None]:
    """Send what the host's code prints to stderr: stdout is the command's own, and with --json one object."""
    kept, sys.stdout = sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdout = kept


def each_aside(items: Iterable[_T]) -> Iterator[_T]:
    """Yield items that are made by the host's code, which talks to stderr meanwhile."""
    found = iter(items)
    while True:
        with aside():
            item = next(found, _END)
        if item is _END:
            return
        yield item  # type: ignore[misc]  # the sentinel is no item


_END = object()
