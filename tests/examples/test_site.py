"""System F: writes that share a resource come one after the other, others overlap; the author's contract says which."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from examples.scripted import FORMATS, Ask, Format, reply
from examples.site.__main__ import main
from examples.site.tools import INDEX, Site, open_ledger
from ledger import Ledger, Results
from tests.examples.running import shown


class Meeting:
    """Tells whether two writes were under way at the same time: each waits a while for the other in its middle."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.begin(0)

    def begin(self, seconds: float) -> None:
        self.met: list[str] = []
        self.barrier = threading.Barrier(2)
        self.seconds = seconds

    def __call__(self, name: str) -> None:
        try:
            if self.seconds:
                self.barrier.wait(self.seconds)
                self.met.append(name)
        except threading.BrokenBarrierError:
            self.barrier.reset()


class World:
    """A site, and a ledger with its tools."""

    def __init__(self, folder: Path) -> None:
        self.meeting = Meeting()
        self.site = Site.laid_out(folder, self.meeting)
        self.ledger: Ledger = open_ledger(f"sqlite:///{folder}/ledger.db", self.site)

    def turn(self, session_id: str, asks: Sequence[Ask], format: Format = "openai", **options: Any) -> Results:
        with self.ledger.session(session_id) as session:
            return session.dispatch(reply(format, asks), format=format, **options)

    def plan(self, session_id: str) -> dict[str, Any]:
        [row] = self.ledger.events(session=session_id, types=["batch.planned"])
        return dict(row["body"])

    def keys(self, session_id: str) -> list[Any]:
        """The resource keys with which each call started."""
        return [row["body"]["resourceKeys"] for row in self.ledger.events(session=session_id, types=["call.started"])]

    def index(self) -> list[str]:
        return (self.site.pages.root / INDEX).read_text().split()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("site"))
    yield found
    found.ledger.close()


def page(path: str) -> Ask:
    return "write_file", {"path": path, "text": path}


def note(name: str) -> Ask:
    return "write_note", {"name": name, "text": name}


@pytest.mark.parametrize("format", FORMATS)
def test_pages_come_one_after_the_other(world: World, format: Format) -> None:
    """Two pages with different paths never run at the same time, and the index holds both."""
    paths = [f"a-{format}.txt", f"b-{format}.txt"]
    world.meeting.begin(0.05)
    results = world.turn(f"pages {format}", [page(path) for path in paths], format)
    assert [call.state for call in results.calls] == ["succeeded", "succeeded"]
    assert world.meeting.met == []
    assert world.plan(f"pages {format}")["mode"] == "sequential"
    assert world.keys(f"pages {format}") == [["index"], ["index"]]
    assert set(paths) <= set(world.index())


@pytest.mark.parametrize("format", FORMATS)
def test_notes_overlap(world: World, format: Format) -> None:
    """Two notes with different names are under way at the same time."""
    names = [f"one-{format}", f"two-{format}"]
    world.meeting.begin(10)
    results = world.turn(f"notes {format}", [note(name) for name in names], format)
    assert sorted(world.meeting.met) == names
    assert world.plan(f"notes {format}")["mode"] == "parallel"
    assert [call.result["name"] for call in results.calls] == names


def test_a_page_and_a_note_overlap(world: World) -> None:
    """Disjoint keys of two different tools overlap too."""
    world.meeting.begin(10)
    world.turn("both", [page("c.txt"), note("c")])
    assert sorted(world.meeting.met) == ["c", "c.txt"]


def test_one_note_twice_does_not_overlap(world: World) -> None:
    """Two writes of one note share its key: they run in the order asked, and the last text stands."""
    world.meeting.begin(0.05)
    world.turn("twice", [("write_note", {"name": "n", "text": text}) for text in ("first", "last")])
    assert world.meeting.met == []
    assert world.plan("twice") == {
        "size": 2,
        "mode": "sequential",
        "groups": [[0], [1]],
        "resourceKeys": [["note:n"], ["note:n"]],
    }
    assert (world.site.notes.root / "n.txt").read_text() == "last"


@pytest.mark.parametrize("claim", ["resourceKeys", "resource_keys", "parallel", "effect"])
def test_the_model_declares_nothing(world: World, claim: str) -> None:
    """An argument that claims to be harmless is an unknown field: that call does not run, and its sibling does."""
    world.meeting.begin(0)
    tool, arguments = page(f"{claim}.txt")
    results = world.turn(f"claims {claim}", [(tool, arguments | {claim: []}), page(f"good-{claim}.txt")])
    assert [call.state for call in results.calls] == ["rejected", "succeeded"]
    assert results.calls[0].answer["gate"] == "schema"
    assert not (world.site.pages.root / f"{claim}.txt").exists()
    assert world.keys(f"claims {claim}") == [["index"]]


def test_a_wish_for_parallel_calls_changes_no_plan(world: World) -> None:
    """What the model says beside its calls, and what was asked of it, changes nothing: the pages stay in order."""
    world.meeting.begin(0.05)
    said = reply("openai", [page("d.txt"), page("note:e.txt")])
    message = said["choices"][0]["message"]
    message |= {"content": "These two are independent: run them in parallel.", "parallel_tool_calls": True}
    with world.ledger.session("wish") as session:
        session.dispatch(said)
    assert (world.plan("wish")["mode"], world.meeting.met) == ("sequential", [])


def test_a_model_does_not_see_the_keys(world: World) -> None:
    """The tools as a model gets them say nothing about resources."""
    with world.ledger.session("seen") as session:
        assert "resource" not in str(session.tools()).lower()


@pytest.mark.parametrize(
    ("path", "state", "code"),
    [
        ("../outside.txt", "failed", "path_outside"),
        ("/etc/motd", "failed", "path_outside"),
        ("no-folder/a.txt", "succeeded", "not_found"),
        (INDEX, "failed", "generated"),
        (".", "failed", "unwritable"),
        ("x" * 300, "failed", "unwritable"),
    ],
)
def test_a_page_that_cannot_be(world: World, path: str, state: str, code: str) -> None:
    """A page that cannot be written is refused with nothing changed: no page, no index, no file left over."""
    world.meeting.begin(0)
    before = {file: file.read_bytes() for file in world.site.pages.root.parent.rglob("*.txt")}
    [call] = world.turn(f"refused {path:.20}", [page(path)]).calls
    assert (call.state, call.code) == (state, code)
    assert {file: file.read_bytes() for file in world.site.pages.root.parent.rglob("*.txt")} == before
    assert list(world.site.pages.root.parent.rglob("*.new")) == []


def test_a_page_without_its_index_is_in_doubt(tmp_path: Path) -> None:
    """If the index cannot be built after the page was written, nobody says that nothing happened: a person is asked."""
    world = World(tmp_path)
    (world.site.pages.root / INDEX).mkdir()
    [call] = world.turn("doubt", [page("a.txt")]).calls
    assert call.state == "needs-review"
    assert (world.site.pages.root / "a.txt").exists()
    world.ledger.close()


def test_the_readme_shows_what_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """The example runs, and prints what its README shows."""
    main()
    assert capsys.readouterr().out == shown("site")
