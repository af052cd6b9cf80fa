"""An agent's folder: laid out once, found again, counted from outside."""

from pathlib import Path

import pytest

from ledger.demo.place import Place
from ledger.errors import UsageError
from tests.demo.agents import opened


def test_everything_lies_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All paths are absolute and below the folder, so that a later change of the current folder is harmless."""
    monkeypatch.chdir(tmp_path)
    place = Place(Path("home"))
    assert place.folder == tmp_path.resolve() / "home"
    assert {place.database.parent, place.trace.parent, place.edits.parent, place.work.parent} == {place.folder}
    assert place.url == f"sqlite:///{place.folder}/agent.db"


def test_the_project_is_laid_out_once(tmp_path: Path) -> None:
    """The first time the project is laid out; where a ledger is, the workspace is taken as it is."""
    place = Place(tmp_path)
    workspace = place.begin()
    (workspace.root / "pages.py").write_text("edited")
    with pytest.raises(UsageError) as refused:
        place.begin()
    assert refused.value.code == "folder_in_use"
    place.database.touch()
    assert place.begin().root == place.work
    assert (workspace.root / "pages.py").read_text() == "edited"


def test_an_agent_is_found_where_it_was(tmp_path: Path) -> None:
    """The workspace of an earlier run is found; where no ledger is, that is said."""
    with pytest.raises(UsageError) as refused:
        Place(tmp_path / "nowhere").found()
    assert refused.value.code == "no_agent"
    opened(tmp_path).close()
    assert Place(tmp_path).found().root == tmp_path.resolve() / "work"


def test_edits_are_counted_outside(tmp_path: Path) -> None:
    """Each edit is one line of the log, whatever the file is called."""
    place = Place(tmp_path)
    assert place.times_edited() == 0
    for name in ("a.py", "two\nlines", "\udcff"):
        place.edited(name)
    assert place.times_edited() == 3
