"""The host's own code: a ledger named as MODULE:LEDGER, imported from the current folder."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final, TypeVar

import click

from ledger.errors import LedgerError
from ledger.session.ledger import Ledger

_T = TypeVar("_T")
_LONGEST: Final = 300
_LIBRARIES: Final = ("stdlib", "platstdlib", "purelib", "platlib")
_WHERE: Final = "LEDGER_DEBUG=1 shows the way there."


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
    except Exception as error:
        raise AppNotLoaded(f"{path} of {name} cannot be read: {_cause(error)}") from error
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
        raise AppNotLoaded(f"{name} needs a module that is missing: {_cause(error)}") from error
    except SystemExit as error:
        hint = "Put what runs under `if __name__ == '__main__':`."
        raise AppNotLoaded(f"{name} left the process while it was imported: {_cause(error)}", hint=hint) from error
    except Exception as error:
        raise AppNotLoaded(f"{name} cannot be imported: {_cause(error)}", hint=_WHERE) from error


def _cause(error: BaseException) -> str:
    """Return what an exception says, and the line of the program's own that it comes from."""
    said = traceback.format_exception_only(error)[-1].strip()  # takes also what cannot be made a text
    said = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((error.filename or "", error.lineno))
    return next((f"{said} ({_near(file)}, line {line})" for file, line in reversed(frames) if _is_own(file)), said)


def _is_own(file: str) -> bool:
    """Whether it is the host's code: no library's, and not this package's."""
    path, paths = Path(file), sysconfig.get_paths()
    elsewhere = [Path(__file__).parents[1], *(Path(paths[name]) for name in _LIBRARIES)]
    return path.is_file() and not any(path.is_relative_to(folder) for folder in elsewhere)


def _near(file: str) -> str:
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


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
