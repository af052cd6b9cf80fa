"""The host's own code, as --app names it."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ledger.cli.app import AppNotLoaded, each_aside, load_app
from ledger.errors import CatalogFault, LedgerError
from ledger.session.ledger import Ledger
from tests.cli.hosts import app, module

__all__ = ["app"]


@pytest.mark.parametrize("path", ["ledger", "Box.inner"])
def test_a_ledger_is_found_in_the_current_folder(app: str, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The module is imported from here; what it prints meanwhile goes to stderr."""
    found = load_app(f"{app}:{path}")
    assert isinstance(found, Ledger)
    found.close()
    assert capsys.readouterr() == ("", "imported\n")
    assert str(Path.cwd()) in sys.path


def test_the_folder_is_put_in_the_path_once(app: str) -> None:
    """A second look finds the module where the first one did."""
    load_app(f"{app}:ledger").close()
    before = list(sys.path)
    assert load_app(f"{app}:ledger") is sys.modules[app].ledger
    assert sys.path == before


@pytest.mark.parametrize("spec", ["app", "app:", ":ledger", "app.py:ledger", "src/app:ledger", ""])
def test_another_form_is_wrong_usage(spec: str) -> None:
    """A module's name and a ledger's: a path to a file is neither."""
    with pytest.raises(click.BadParameter, match="MODULE:LEDGER"):
        load_app(spec)


@pytest.mark.parametrize(
    ("source", "path", "message", "hint"),
    [
        ("x = 1", "ledger", "has no 'ledger'", "It holds no ledger"),
        (
            "from ledger import Ledger\nhere = Ledger.open('memory://')",
            "ledger",
            "has no 'ledger'",
            "Its ledgers: here.",
        ),
        ("ledger = 'x'", "ledger", "is no ledger but a str", "It holds no ledger"),
        ("import nowhere", "ledger", "is missing: ModuleNotFoundError: No module named 'nowhere' @1", None),
        ("\nraise RuntimeError('no luck')", "ledger", "imported: RuntimeError: no luck @2", "LEDGER_DEBUG=1"),
        ("import json\njson.loads('{')", "ledger", "imported: json.*Error: .* @2", "LEDGER_DEBUG=1"),
        ("raise RuntimeError('x' * 999)", "ledger", "imported: RuntimeError: x{286}… @1", "LEDGER_DEBUG=1"),
        ("raise SystemExit(3)", "ledger", "left the process while it was imported: SystemExit: 3 @1", "__main__"),
        ("\ndef f(:", "ledger", "imported: SyntaxError: .* @2", "LEDGER_DEBUG=1"),
        ("def __getattr__(name):\n    return 1 / 0", "ledger", "ledger of .* cannot be read: ZeroDivi.* @2", None),
    ],
)
def test_what_is_wrong_with_it_is_told(
    empty: Path, monkeypatch: pytest.MonkeyPatch, source: str, path: str, message: str, hint: str | None
) -> None:
    """Each way to fail has its words, and says what to do."""
    for name in module(empty, source, monkeypatch):
        with pytest.raises(AppNotLoaded, match=re.sub("@(.)", rf"\\({name}.py, line \1\\)", message)) as told:
            load_app(f"{name}:{path}")
        assert (told.value.code, (hint or "") in (told.value.hint or "")) == ("app_not_loaded", True)


@pytest.mark.parametrize("name", ["no_such_module", "no_such_package.app"])
def test_a_module_that_is_not_there(empty: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The folder that was looked in is named."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(AppNotLoaded, match=f"there is no module '{name}' in {empty}"):
        load_app(f"{name}:ledger")


def test_the_ledgers_own_words_are_kept(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the ledger says while the module opens it comes through as it is."""
    source = "from ledger import Ledger\nledger = Ledger.open('sqlite:///x.db', catalog='missing')"
    for name in module(empty, source, monkeypatch):
        with pytest.raises(CatalogFault):
            load_app(f"{name}:ledger")


def test_items_are_made_aside(capsys: pytest.CaptureFixture[str]) -> None:
    """While the host's code makes an item its prints go to stderr; between the items stdout is the command's."""

    def made() -> Iterator[int]:
        for number in range(2):
            sys.stdout.write("host\n")
            yield number

    for number in each_aside(made()):
        sys.stdout.write(f"{number}\n")
    assert capsys.readouterr() == ("0\n1\n", "host\nhost\n")
    assert issubclass(AppNotLoaded, LedgerError)


def test_the_line_is_that_of_the_hosts_own_code(
    empty: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A module beside is named with its folder; where no line is the host's, the exception stands alone."""
    beside = tmp_path_factory.mktemp("beside")
    (beside / "its_helper_module.py").write_text(
        "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd\n"
    )
    monkeypatch.syspath_prepend(str(beside))
    for name in module(empty, "import its_helper_module", monkeypatch):
        with pytest.raises(AppNotLoaded) as told:
            load_app(f"{name}:ledger")
        assert told.value.message.endswith(f"Odd: <exception str() failed> ({beside}/its_helper_module.py, line 3)")
        monkeypatch.setattr("ledger.cli.app.import_module", {}.__getitem__)
        with pytest.raises(AppNotLoaded, match=r"cannot be imported: KeyError: 'x'\. "):
            load_app("x:ledger")
