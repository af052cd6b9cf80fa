"""What users install: the wheel, built without the network and looked into."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.quality.tree import ROOT, tracked


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel as an installer does: it holds no scripts of its own."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python away from the checkout with the unpacked wheel first on its path."""
    script = f"import sys; sys.path.insert(0, {str(installed)!r}); "
    return subprocess.run(
        [sys.executable, "-c", script + arguments[0], *arguments[1:]],
        cwd=installed.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_holds_one_package(installed: Path) -> None:
    """The wheel brings the package and its metadata, no other top-level name: no `cli`, no `tests`."""
    assert sorted(path.name.split("-")[0] for path in installed.iterdir()) == ["ledger", "toolcall_ledger"]


def test_it_holds_every_file_of_the_package(installed: Path) -> None:
    """Every tracked file of the package is in the wheel, the type marker and the migrations among them."""
    package = {path for path in tracked() if path.parts[0] == "ledger"}
    missing = {str(path) for path in package if not (installed / path).is_file()}
    assert missing == set()
    assert Path("ledger/py.typed") in package
    assert any(path.parts[1] == "migrations" for path in package)


def test_it_holds_the_catalog(installed: Path) -> None:
    """Every tracked schema is in the wheel as package data."""
    schemas = [path for path in tracked() if path.parts[0] == "schemas"]
    missing = [str(path) for path in schemas if not (installed / "ledger/_schemas" / Path(*path.parts[1:])).is_file()]
    assert missing == []
    assert schemas


def test_it_declares_what_it_needs(installed: Path) -> None:
    """The wheel offers both commands, needs four libraries, and carries its licence."""
    [information] = installed.glob("*.dist-info")
    scripts = (information / "entry_points.txt").read_text().split("[console_scripts]")[1].split("[")[0]
    assert [line for line in scripts.splitlines() if line] == [
        "ledger = ledger.cli:main",
        "toolcall-ledger = ledger.cli:main",
    ]
    metadata = (information / "METADATA").read_text().splitlines()
    needed = [line.split(": ")[1] for line in metadata if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert sorted(name.split(">")[0] for name in needed) == ["alembic", "click", "jsonschema", "sqlmodel"]
    assert (information / "licenses/LICENSE").is_file()


def test_pytest_finds_its_fixtures_and_nothing_else_needs_it(installed: Path) -> None:
    """The wheel names its plugin to pytest; without pytest the rest of `ledger.testing` works."""
    [information] = installed.glob("*.dist-info")
    assert (
        "[pytest11]\nledger.testing.plugin = ledger.testing.plugin\n" in (information / "entry_points.txt").read_text()
    )
    source = "sys.modules['pytest'] = None; from ledger import Ledger; import ledger.testing as testing; "
    done = run(installed, source + "print([getattr(testing, name).__name__ for name in dir(testing)])")
    assert "no_second_effect" in done.stdout, done.stderr


def test_it_runs_away_from_the_checkout(installed: Path) -> None:
    """The unpacked wheel imports and shows its help without the checkout's files."""
    done = run(installed, "import ledger; print(ledger.__file__)")
    assert done.stdout.strip() == str(installed / "ledger/__init__.py"), done.stderr
    done = run(installed, "import sys; sys.argv = ['ledger', '--help']; from ledger.cli import main; main()")
    assert done.returncode == 0, done.stderr
    assert "replay" in done.stdout


def test_it_finds_its_catalog(installed: Path) -> None:
    """Away from a checkout the default catalog is the packaged one, and none of its tools is quarantined."""
    source = "from ledger.catalog.files import default_catalog_root, load_catalog; root = default_catalog_root(); "
    done = run(installed, source + "found = load_catalog(root); print(root); print(len(found.tools), found.faults)")
    tools = len({path.parts[2] for path in tracked() if path.parts[:2] == ("schemas", "tools") and len(path.parts) > 3})
    assert done.stdout.splitlines() == [str(installed / "ledger/_schemas/tools"), f"{tools} ()"], done.stderr
