"""No path leads out of the workspace."""

import json
from pathlib import Path

import pytest

from ledger.answers import Rejected
from ledger.demo.workspace import Workspace, shown

CASES = json.loads((Path(__file__).parents[1] / "suite/demo_paths.json").read_text())


@pytest.fixture
def workspace(root: Path, tmp_path: Path) -> Workspace:
    (root / "src/deep").mkdir(parents=True)
    (root / "pages.py").touch()
    (tmp_path / "work-too").mkdir()
    (tmp_path / "work-too/a.py").touch()
    (root / "link_inside").symlink_to("src/../pages.py")
    (root / "loop").symlink_to("loop")
    (root / "link_to_file").symlink_to(tmp_path / "secret.txt")
    (root / "link_to_folder").symlink_to("..")
    (root / "link_to_nothing").symlink_to(tmp_path / "new.txt")
    (root / "link_of_link").symlink_to("link_to_file")
    return Workspace(root)


@pytest.mark.parametrize("case", CASES["inside"], ids=lambda case: case["path"])
def test_a_path_inside_is_resolved(workspace: Workspace, case: dict[str, str]) -> None:
    """A path that stays inside, links followed, is resolved, and named without detours."""
    place = workspace.resolve(case["path"])
    assert place == workspace.root / case["name"]
    assert workspace.name_of(place) == case["name"]


@pytest.mark.parametrize("case", CASES["outside"], ids=lambda case: case["why"])
def test_a_path_outside_is_rejected(workspace: Workspace, case: dict[str, str]) -> None:
    """A path that leads out, however it is written, is rejected with the code `path_outside`."""
    with pytest.raises(Rejected) as refused:
        workspace.resolve(case["path"])
    assert refused.value.code == "path_outside"


def test_an_absolute_path_inside_is_rejected(workspace: Workspace) -> None:
    """Absolute paths are rejected even if they lead inside: the model need not know where the workspace lies."""
    with pytest.raises(Rejected):
        workspace.resolve(str(workspace.root / "pages.py"))


def test_the_message_does_not_tell_where_a_link_leads(workspace: Workspace, tmp_path: Path) -> None:
    """What the model reads names its own path and nothing of the world outside."""
    with pytest.raises(Rejected) as refused:
        workspace.resolve("link_to_file")
    assert "link_to_file" in refused.value.message
    assert str(tmp_path) not in refused.value.message


def test_the_root_is_resolved_and_must_exist(root: Path, tmp_path: Path) -> None:
    """A root that is a link means its target; a missing root is an error at once."""
    (tmp_path / "door").symlink_to(root)
    assert Workspace(tmp_path / "door").root == root
    with pytest.raises(FileNotFoundError):
        Workspace(tmp_path / "missing")


def test_a_name_that_is_not_text_is_shown_escaped() -> None:
    """Bytes of a file name that are not UTF-8 are shown as escapes, everything else as it is."""
    assert shown("caf\udce9.txt") == "caf\\xe9.txt"
    assert shown("café.txt") == "café.txt"
