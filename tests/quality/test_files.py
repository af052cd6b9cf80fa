"""The repository's files as a whole: they parse, they fit each other, they name no machine."""

import json
import re
import tomllib
from pathlib import Path

import ledger
from ledger.version import VERSION
from tests.quality.tree import ROOT, text, tracked

# Written in halves, so that this file does not contain what it looks for.
FOREIGN = ("/work" + "/main", "/work" + "/shared", "." + "library/", ".." + "/shared", "." + "pyenv", "/tmp" + "/spec")


def test_no_file_names_the_machine_it_was_written_on() -> None:
    """No tracked file contains a path of a developer's machine; only the CI script looks beside the checkout."""
    own = [str(folder) for folder in (ROOT, Path.home()) if len(folder.parts) > 2]
    found = [
        f"{path}: {word}"
        for path in tracked()
        if path != Path(".ci/run")
        for word in (*FOREIGN, *own)
        if word in text(path)
    ]
    assert found == []


def test_text_files_are_tidy() -> None:
    """Every Python, Markdown, TOML and JSON file is UTF-8 with plain line ends and one line end at its end."""
    untidy = []
    for path in tracked():
        if path.suffix in {".py", ".md", ".toml", ".json", ".jsonl", ".ini", ".sh"}:
            content = (ROOT / path).read_bytes()
            content.decode("utf-8")
            if content and (b"\r" in content or not content.endswith(b"\n") or content.endswith(b"\n\n")):
                untidy.append(str(path))
    assert untidy == []


def test_every_json_file_parses() -> None:
    """Every JSON file of the project parses, the published schemas among them."""
    files = [path for path in tracked() if path.suffix == ".json"]
    for path in files:
        json.loads(text(path))
    assert [path for path in files if path.parts[0] == "schemas"]


def test_every_public_name_resolves() -> None:
    """Every name in `ledger.__all__` can be imported, and `dir(ledger)` offers it."""
    assert ledger.__all__
    for name in ledger.__all__:
        assert getattr(ledger, name) is not None
        assert name in dir(ledger)
    assert len(set(ledger.__all__)) == len(ledger.__all__)


def test_the_lock_is_complete_and_portable() -> None:
    """The lock pins every direct dependency by version and hash, and names no registry."""
    lock = text(Path("requirements-dev.lock"))
    pinned = set(re.findall(r"^([a-z0-9-]+)==", lock, flags=re.MULTILINE))
    project = tomllib.loads(text(Path("pyproject.toml")))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    assert {re.split(r"[<>=\[ ;]", requirement)[0] for requirement in asked} <= pinned
    assert "://" not in lock
    blocks = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_the_changelog_knows_the_version() -> None:
    """The changelog has a section for unreleased work; once something was released, the project's version is in it."""
    changelog = text(Path("CHANGELOG.md"))
    released = re.findall(r"^## \[(\d[^\]]*)\]", changelog, flags=re.MULTILINE)
    assert "## [Unreleased]" in changelog
    assert not released or VERSION in released
