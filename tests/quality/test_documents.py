"""Documents are executed: their Python runs, their commands work, their links lead somewhere.

The ```python and ```console blocks of a document run in the order in which they stand, in an empty folder. Of a
```console block the lines after `$ ` are run (`$ command  # exit 3` expects that status); its other lines show what a
reader sees. ```sh is for what can't run inside a test: its `make` targets must exist. A line `<!-- not run: why -->`
before a block leaves it out, a line `<!-- file: name -->` puts it into that file instead.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from tests.quality.tree import ROOT, text, tracked

DOCUMENTS = [path for path in tracked() if path.suffix == ".md" and path.parts[0] not in {"tests", "ledger"}]
MARK = r"(?P<mark><!-- (?P<what>not run|file): (?P<told>[^\n]+) -->\n)?"
FENCE = re.compile(rf"^{MARK}```(?P<kind>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
TARGETS = set(re.findall(r"^([a-z]+):", text(Path("Makefile")), flags=re.MULTILINE))


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: what it holds, the line where it starts, whether it is to be run, and the file it is put into."""

    kind: str
    code: str
    line: int
    runs: bool
    file: str | None = None


def blocks(markdown: str) -> Iterator[Block]:
    """Yield the fenced blocks of a document in order."""
    for match in FENCE.finditer(markdown):
        line = markdown.count("\n", 0, match.start("code")) + 1
        file = match["told"] if match["what"] == "file" else None
        yield Block(match["kind"], match["code"], line, runs=match["mark"] is None, file=file)


def run_command(command: str, folder: Path) -> None:
    """Run a shown command as a reader would and compare its exit status."""
    expected = re.search(r"# exit (\d+)$", command)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == int(expected[1] if expected else 0), f"{command}\n{done.stdout}{done.stderr}"


def run_document(name: str, markdown: str, folder: Path) -> None:
    """Run a document's blocks in order; what one Python block defines, the next one knows."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(markdown):
        if block.file is not None:
            (folder / block.file).write_text(block.code)
        if block.runs and block.kind == "python":
            source = "\n" * (block.line - 1) + block.code
            exec(compile(source, name, "exec"), names)
        if block.runs and block.kind == "console":
            for command in re.findall(r"^\$ (.+)$", block.code, flags=re.MULTILINE):
                run_command(command, folder)


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_a_document_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python and console block of a document runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    run_document(str(path), text(path), tmp_path)
    assert "```" not in FENCE.sub("", text(path)), "a block is not closed"


def test_the_first_example_runs_in_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """People try it where the project's own catalog is at hand: no tool there has that name and other arguments."""
    (tmp_path / "schemas").symlink_to(ROOT / "schemas")
    monkeypatch.chdir(tmp_path)
    run_document("README.md", text(Path("README.md")), tmp_path)
    assert (tmp_path / "agent.db").exists()


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link of a document names a file of the project, and its anchor a heading there."""
    lost = []
    for match in LINK.finditer(text(path)):
        target, _, anchor = match["target"].partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        file = Path(os.path.normpath(path.parent / target)) if target else path
        known = file in tracked() or any(file in inner.parents for inner in tracked())
        if not known or (anchor and anchor not in anchors(text(file))):
            lost.append(match["target"])
    assert lost == []


def anchors(markdown: str) -> set[str]:
    """Return the anchors that a page shows for a document's headings."""
    headings = re.findall(r"^#+ (.+)$", markdown, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_named_targets_exist(path: Path) -> None:
    """Every `make` target that a document names is one of the Makefile."""
    named = set(re.findall(r"(?:`|^\$ |^)make ([a-z]+)", text(path), flags=re.MULTILINE))
    assert named - TARGETS == set()


@pytest.mark.parametrize(
    ("markdown", "error"),
    [
        ("```python\nassert False\n```\n", AssertionError),
        ("```python\nx = 1\n```\n\n```python\nx.y\n```\n", AttributeError),
        ("```console\n$ exit 4\n```\n", AssertionError),
        ("```console\n$ true  # exit 3\n```\n", AssertionError),
    ],
)
def test_a_wrong_document_is_found(tmp_path: Path, markdown: str, error: type[Exception]) -> None:
    """A block that fails, and a command that ends otherwise than it says, are found."""
    with pytest.raises(error):
        run_document("wrong.md", markdown, tmp_path)


def test_the_files_of_a_ledger_are_named(tmp_path: Path) -> None:
    """Who wants to keep, copy or delete a ledger reads of every file that belongs to it."""
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db", catalog=None) as ledger, ledger.session("one") as session:
        session.messages(start=[{"role": "user", "content": "Hi."}])
        found = {file.name for file in tmp_path.iterdir()}
    told = set(re.findall(r"`(ledger\.db[-.\w]*)`", text(Path("docs/start.md"))))
    assert len(found) == 4
    assert found == told


def test_blocks_share_what_they_define(tmp_path: Path) -> None:
    """A later block sees the names and the files of an earlier one; one that is marked does not run, or is a file."""
    markdown = (
        f"```python\nfolder = {str(tmp_path)!r}\n```\n"
        "```console\n$ echo yes > made\n$ (exit 3)  # exit 3\nyes\n```\n"
        "```python\nfrom pathlib import Path\n\nassert Path(folder, 'made').read_text() == 'yes\\n'\n```\n"
        "<!-- not run: it only shows the error -->\n```python\n1 / 0\n```\n"
        "<!-- file: put.py -->\n```python\nprint(1 / 0)\n```\n"
    )
    run_document("right.md", markdown, tmp_path)
    assert (tmp_path / "made").exists()
    assert (tmp_path / "put.py").read_text() == "print(1 / 0)\n"
