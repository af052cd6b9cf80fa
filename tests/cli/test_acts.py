"""The acts of the demo check what they tell: where the world is otherwise, they don't go on."""

from pathlib import Path

import pytest

from ledger.cli import acts, main
from ledger.cli.scene import Scene
from ledger.cli.shell import Shell
from ledger.cli.telling import Teller
from ledger.demo.agent import SESSION
from ledger.demo.children import DemoFailed
from ledger.demo.place import Place
from ledger.replay import session_at
from tests.demo.agents import copied, killed


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """What a killed agent leaves, made once."""
    return killed(tmp_path_factory.mktemp("left"))


@pytest.fixture
def scene(left_behind: Place, tmp_path: Path) -> Scene:
    """The scene behind the kill, with the call that is in doubt."""
    place = copied(left_behind, tmp_path / "story")
    found = Scene(place, Teller(Shell(json=True), main, place.url))
    with found.reading() as reader:
        found.call = list(session_at(reader, SESSION).calls.values())[-1]
    return found


def undo(scene: Scene) -> None:
    """Put the file back as it was before the edit."""
    scene.file.write_text(scene.file.read_text().replace("(number - 1)", "number"))


def test_an_edit_that_could_be_made_twice_is_found(scene: Scene) -> None:
    """The claim that the second try is refused is tried on the real file."""
    undo(scene)
    with pytest.raises(DemoFailed, match="the same edit twice"):
        acts._blind(scene)


def test_a_file_without_the_change_is_found(scene: Scene) -> None:
    """The look at the file is a real one."""
    undo(scene)
    with pytest.raises(DemoFailed, match=r"pages\.py was to hold the new text, and it is untouched"):
        scene.look_at_the_file()


def test_a_status_that_is_not_success_is_told(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that ends with another status says which, to a person in words."""
    scene.teller = Teller(Shell(), main, scene.place.url)
    scene.teller.act("resume", "It goes on")
    with pytest.raises(DemoFailed, match="was to exit with 0, and exited with 3"):
        scene.teller.ledger("resume", SESSION)
    assert "\n  (exit status 3: something waits for a person)\n" in capsys.readouterr().out


def test_a_second_effect_is_found(scene: Scene) -> None:
    """The count from outside decides: a second line in it ends the story."""
    acts._resume(scene)
    acts._verdict(scene)
    acts._end_of_work(scene)
    scene.place.edited("pages.py")
    with pytest.raises(DemoFailed, match="was to be changed once, and was changed 2 times"):
        acts._count(scene, scene.digests())


def test_a_lost_event_is_found(scene: Scene) -> None:
    """What was acknowledged before the kill is looked for one by one."""
    acts._resume(scene)
    acts._verdict(scene)
    acts._end_of_work(scene)
    with pytest.raises(DemoFailed, match="no event that was acknowledged before the kill was to be lost, and 1 are"):
        acts._count(scene, [*scene.digests(), "another"])


def test_an_agent_that_does_not_end_is_found(scene: Scene) -> None:
    """Without a verdict the agent does not carry on: the story says with which status it ended, and its words."""
    scene.teller.act("end", "It carries on")
    with pytest.raises(DemoFailed, match=r"exited with 3: task .* / waits "):
        acts._end_of_work(scene)


def test_ctrl_c_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A story that is interrupted takes the folder with it that it had made, and no other."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Teller, "title", interrupted)
    with pytest.raises(KeyboardInterrupt):
        acts.play(Shell(), main, None)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt):
        acts.play(Shell(), main, tmp_path / "mine")
    assert list(tmp_path.iterdir()) == [tmp_path / "mine"]
