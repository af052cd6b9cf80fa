"""System H: every wrong call of every tool stops at its gate with no effect, and is repaired or given up."""

import json
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from examples.callability.__main__ import CHANGING, REPAIRS, examine, play, row
from examples.callability.host import GUEST, RIGHT, Host
from examples.callability.model import Repairing
from examples.callability.wrong import Wrong, wrong_calls
from examples.documents.shelves import Library
from examples.scripted import FORMATS, Ask, reply
from examples.weather.service import DEGREES, Service
from ledger import CallResult
from ledger.catalog import default_catalog_root, load_catalog
from tests.examples.running import ROOT, shown

SUITE = json.loads((ROOT / "tests/suite/callability.json").read_text(encoding="utf-8"))
HOSTILE: list[str] = SUITE["hostile"]
TOOLS = sorted(RIGHT)


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with Service() as found:
        yield found


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, service: Service) -> Host:
    """All tools on real things; beside their folders stands one that no tool may touch."""
    folder = tmp_path_factory.mktemp("callability")
    (folder / "outside").mkdir()
    (folder / "outside/secret.txt").write_text("secret", encoding="utf-8")
    found = Host(folder, service)
    (folder / "work/link").symlink_to(folder / "outside")
    return found


def wrongs(host: Host, tool: str) -> list[Wrong]:
    version = host.ledger.registry.version(tool)
    assert version
    return list(wrong_calls(version, RIGHT[tool]["arguments"]))


def told(call: CallResult) -> list[dict[str, Any]]:
    """The call's answer as a message."""
    return [{"role": "tool", "content": json.dumps(call.answer)}]


def test_the_whole_catalog_is_here() -> None:
    """Every tool of the catalog has a right call, and an expected end of a lost answer."""
    catalog = load_catalog(default_catalog_root())
    assert sorted(catalog.tools) == TOOLS == sorted(SUITE["lost"])


@pytest.mark.parametrize("tool", TOOLS)
def test_every_wrong_call_stops_at_its_gate(host: Host, tool: str) -> None:
    """Every call that is wrong in one way stops at its gate with its code, and nothing happens or leaves.

    Its answer is enough for a model that changes only what it blames: the next call would be the right one.
    """
    made, right, before = wrongs(host, tool), RIGHT[tool]["arguments"], host.effects()
    assert {wrong.gate for wrong in made} == {"decode", "schema"}
    for form in FORMATS:
        with host.session(f"gates {tool} {form}") as session:
            results = session.dispatch(reply(form, [(tool, wrong.arguments) for wrong in made]), format=form)
        for wrong, call in zip(made, results.calls, strict=True):
            stopped = (wrong.what, call.state, call.answer.get("gate"), call.code, call.answer.get("modelCanRepair"))
            assert stopped == (wrong.what, "rejected", wrong.gate, wrong.code, True)
            model = Repairing((tool, wrong.arguments), (tool, right), tries=[(tool, wrong.arguments)])
            assert (wrong.what, model(told(call))) == (wrong.what, [(tool, right)])
    assert host.effects() == before


@pytest.mark.parametrize("tool", TOOLS)
def test_a_call_that_is_all_wrong_is_repaired(host: Host, tool: str) -> None:
    """From a call in which everything is wrong a model comes to the right one at its first try; that one runs once."""
    host.restore()
    right = RIGHT[tool]["arguments"]
    wrong = dict.fromkeys(right, None) | {"is_authorized": True}
    first, repaired = play(host, f"repair {tool}", Repairing((tool, wrong), (tool, right)), format="anthropic")
    assert (first.answer["gate"], repaired.call.arguments) == ("schema", right)
    assert repaired.call.repair_of == first.call_id
    assert host.ledger.find(repaired).state == "succeeded"
    starts = host.ledger.events(session=f"repair {tool}", types=["call.started"])
    assert [row["callId"] for row in starts if row["tool"] == tool] == [repaired.call_id]


def test_the_readme_shows_the_figures(host: Host) -> None:
    """The README counts all wrong calls of all tools by gate, and a tool's row is what the example prints for it."""
    rows = shown("callability").splitlines()[1:]
    for tool, line in zip(TOOLS, rows, strict=True):
        gates = Counter(wrong.gate for wrong in wrongs(host, tool))
        counted = f"decode {gates['decode']}, schema {gates['schema']}"
        assert line == f"{tool:20}{gates.total():<13}{counted:24}{0:<9}{gates.total()}"
    assert row("write_note", examine(host, "write_note", RIGHT["write_note"]["arguments"])) in rows


@pytest.mark.parametrize("tool", TOOLS)
def test_who_has_no_permission_is_denied(host: Host, tool: str) -> None:
    """A guest's right call ends at authorization with no effect; it is not to be repaired, and the model stops."""
    host.restore()
    right = (tool, RIGHT[tool]["arguments"])
    with host.session(f"guest {tool}") as session:  # what has to come before, somebody else did
        for before in RIGHT[tool].get("before", []):
            session.call(*before)
    effects, model = host.effects(), Repairing(right, right)
    with host.session(f"guest {tool}", GUEST) as session:
        results = session.dispatch(reply("anthropic", model([])), format="anthropic")
    [call] = results.calls
    assert (call.state, call.answer["gate"], call.code) == ("denied", "authorization", "not_permitted")
    assert (call.answer["modelCanRepair"], call.answer["next"]) == (False, "ask_user")
    assert model(results.messages) == "I stop here, and ask you."
    assert host.effects() == effects


@pytest.mark.parametrize("case", SUITE["calls"], ids=lambda case: case["name"])
def test_a_hand_written_call_stops_where_it_must(host: Host, case: dict[str, Any]) -> None:
    """A call that is wrong beyond its schema ends as it says, touches nothing, and is repaired or given up."""
    host.restore()
    tool = case["tool"]
    wrong = (case.get("called", tool), case["arguments"])
    effects = host.effects()
    model = Repairing(wrong, (tool, RIGHT[tool]["arguments"]))
    with host.session(f"alone {case['name']}") as session:
        [call] = session.dispatch(reply("openai", [wrong])).calls
    assert (call.state, call.answer.get("gate"), call.code) == (case["state"], case.get("gate"), case["code"])
    assert host.effects() == effects
    assert "secret" not in str(call.answer.get("data"))
    calls = play(host, case["name"], model)
    assert 1 <= len(model.tries) <= 1 + REPAIRS
    last = CallResult(host.ledger.find(calls[-1]))
    assert (last.answer["status"] == "succeeded") is (case["end"] == "repaired")
    if case["end"] == "stopped":
        assert host.effects() == effects


class Stubborn(Repairing):
    """A model that sends the same again."""

    def _repaired(self, answer: Any) -> Ask:
        return self.wrong


@pytest.mark.parametrize(
    "wrong",
    [
        ("write_note", {"name": "Not A Name", "text": "a"}),
        ("get_weather", "{'city': 'Oslo'}"),
        ("edit_file", {"path": "pages.py", "old_text": "size", "new_text": "length"}),
    ],
    ids=["schema", "decode", "refused by the tool"],
)
def test_a_model_that_does_not_learn_is_stopped(host: Host, wrong: Ask) -> None:
    """After three repairs that are as wrong as the first call the answer says: ask the user; and nothing happened.

    Whether a gate refuses them or the tool itself is all the same.
    """
    host.restore()
    effects, model = host.effects(), Stubborn(wrong, (wrong[0], {}))
    calls = play(host, f"does not learn {wrong[0]}", model)
    assert [call.answer["next"] for call in calls] == ["repair"] * REPAIRS + ["ask_user"]
    assert len(model.tries) == 1 + REPAIRS
    assert host.effects() == effects


@pytest.mark.parametrize("tool", TOOLS)
def test_a_repeated_provider_id_is_a_call_of_its_own(host: Host, tool: str) -> None:
    """Two calls under one provider id are two calls: each runs under an id of its own, and is answered in its place."""
    host.restore()
    form = FORMATS[TOOLS.index(tool) % 2]
    before = RIGHT[tool].get("before", [])
    said = reply(form, [(tool, RIGHT[tool]["arguments"])] * 2)
    for block in said["choices"][0]["message"]["tool_calls"] if form == "openai" else said["content"]:
        block["id"] = "same"
    with host.session(f"same id {tool}") as session:
        for call in before:
            session.call(*call)
        results = session.dispatch(said, format=form)
        host.settle(session)
        first, second = (session.history.calls[call.call_id] for call in results.calls)
    assert (first.provider_call_id, second.provider_call_id) == ("same", "same")
    assert first.call_id != second.call_id
    assert (first.attempt, second.attempt) == (1, 1)
    assert first.state == "succeeded"
    told = results.messages[1:] if form == "openai" else results.messages[1]["content"]
    assert len({answer.get("tool_call_id") or answer.get("tool_use_id") for answer in told}) == len(told) == 2


@pytest.mark.parametrize("tool", TOOLS)
def test_a_lost_answer_is_not_repeated(host: Host, tool: str) -> None:
    """A tool that did its work and then timed out: a read has failed, a write is in doubt, or looked up.

    A model that sends it again does not make it happen again.
    """
    host.restore()
    host.ledger.losing = frozenset({tool})
    calls: list[CallResult] = []
    with host.session(f"lost {tool}") as session:
        for before in RIGHT[tool].get("before", []):
            session.call(*before)
        for number in (1, 2):
            calls += session.dispatch(reply("openai", [(tool, RIGHT[tool]["arguments"])], number=number)).calls
            host.settle(session)
            if number == 1:
                effects = host.effects()
            host.ledger.losing = frozenset()
    first, second = (host.ledger.find(call) for call in calls)
    assert first.state == SUITE["lost"][tool]
    if first.state == "succeeded":  # the tool looked, and it had happened
        assert (first.reconciled, first.attempt, second.code) == (True, 1, "version_conflict")
    elif first.side_effecting:
        assert (first.attempt, second.reason, second.attempt) == (1, "duplicate", 0)
    else:
        assert second.state == "succeeded"
        effects["requests"] = host.effects()["requests"]
    assert host.effects() == effects


class Wire:
    """Hears of all that leaves the program: requests, SQL as the database understood it, processes."""

    def __init__(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        self.host = host
        self.shapes: set[Any] = set()
        self.processes: list[list[str]] = []
        self.requests = len(host.service.requests)
        connect, process = Library.connection, subprocess.Popen

        def connection(library: Library) -> sqlite3.Connection:
            found = connect(library)
            found.set_authorizer(self.statement)
            return found

        class Popen(process):  # type: ignore[misc, valid-type]  # a class of the library, heard of in its making
            def __init__(heard, arguments: list[str], *more: Any, **options: Any) -> None:  # noqa: N805 - self is the wire
                self.processes.append(arguments)
                super().__init__(arguments, *more, **options)

        monkeypatch.setattr(Library, "connection", connection)
        monkeypatch.setattr(subprocess, "Popen", Popen)

    def statement(self, *action: Any) -> int:
        self.shapes.add(("sql", *action))
        return sqlite3.SQLITE_OK

    def heard(self) -> set[Any]:
        """The shapes of everything so far: without values, which may differ."""
        for request in self.host.service.requests[self.requests :]:
            method, target = request.split(" ", 1)
            self.shapes.add((method, urlsplit(target).path, *(name for name, _ in parse_qsl(urlsplit(target).query))))
        self.shapes |= {("process", *arguments[1:-1]) for arguments in self.processes}
        self.shapes |= {("folder", path) for path in self.host.folder.rglob("*") if path.is_dir()}
        return self.shapes


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, service: Service) -> Iterator[Host]:
    """A host in whose world the hostile texts are names of files, documents and cities, so that they get through."""
    host = Host(tmp_path_factory.mktemp("hostile"), service)
    rows = [(text, "acme", 1, f"Revenue {text}", text) for text in HOSTILE]
    with closing(host.shelves.connection()) as database, database:
        database.executemany("INSERT INTO document VALUES (?, ?, ?, ?, ?)", rows)
    for text in HOSTILE:
        (host.workspace.root / text).write_text("number\n", encoding="utf-8")
    DEGREES.update(dict.fromkeys(HOSTILE, 1.0))
    yield host
    for text in HOSTILE:
        del DEGREES[text]


def sent(host: Host, session_id: str, tool: str, field: str, texts: list[str]) -> list[CallResult]:
    """Make the right call with each text in this field."""
    found = []
    with host.session(session_id) as session:
        for number, text in enumerate(texts):
            if tool == "read_document":
                session.call("search_documents", {"query": text if text in HOSTILE else "first quarter"})
            arguments = RIGHT[tool]["arguments"] | {field: text}
            [call] = session.dispatch(reply("openai", [(tool, arguments)], number=number)).calls
            host.settle(session)
            found.append(CallResult(session.history.calls[call.call_id]))
            assert arrived(host, found[-1], field)
            if tool in CHANGING:
                host.restore()
    return found


def arrived(host: Host, call: CallResult, field: str) -> bool:
    """Whether the text of a call that succeeded is, whole and by itself, where it was to go."""
    text, arguments = call.call.arguments[field], call.call.arguments
    if text not in HOSTILE or call.answer["status"] != "succeeded":
        return True
    match call.tool, field:
        case "get_weather", _:
            query = parse_qsl(urlsplit(host.service.requests[-1].split(" ", 1)[1]).query)
            return query == list(arguments.items())
        case "report_weather", _:
            return bool(host.service.reports[-1] == arguments)
        case "write_file", "text":
            return bool((host.folder / "site/pages/about.txt").read_bytes() == text.encode())
        case "write_file", "path":
            return bool((host.folder / "site/pages" / text).read_text(encoding="utf-8") == arguments["text"])
        case "write_note", "text":
            return bool((host.folder / "site/notes/to-do.txt").read_bytes() == text.encode())
        case "edit_file", "new_text":
            return text.encode() in (host.folder / "work/pages.py").read_bytes()
        case "save_report", "content":
            return bool(host.shelves.report("acme", "half-year")["content"] == text)
        case "read_document", _:
            return bool(call.result["text"] == text)
        case "search_documents", _:
            return [found["document_id"] for found in call.result["documents"]] == [text]
        case "delete_file", _:
            return not (host.workspace.root / text).exists()
        case "glob", _:  # a pattern of one part: it names files inside, or none
            return all(fnmatchcase(Path(name).name, text) for name in call.result["files"])
        case "read_file" | "read_lines", _:
            return "number" in str(call.result)
        case "send_email", "subject":
            return bool(host.sink.messages[-1].subject == text)
        case "send_email", "body":
            return bool(host.sink.messages[-1].body.splitlines() == text.splitlines())
        case "search_code", _:
            return bool(call.result == {"lines": []})
        case _:
            return call.tool in {"search_text", "grep"}


def texts_of(tool: str) -> list[str]:
    """The fields of a tool that take any text."""
    schema = load_catalog(default_catalog_root()).tools[tool].latest.schema
    return [name for name, field in schema["properties"].items() if field["type"] == "string" and "enum" not in field]


@pytest.mark.uncounted
@pytest.mark.parametrize(("tool", "field"), [(tool, field) for tool in TOOLS for field in texts_of(tool)])
def test_hostile_text_stays_text(hostile: Host, monkeypatch: pytest.MonkeyPatch, tool: str, field: str) -> None:
    """What is syntax for a shell, SQL, a URL, a template or a terminal goes through each text field as text.

    It is recorded as it was sent; what leaves the program is shaped as for a plain text, and holds it whole.
    """
    plain = Wire(hostile, monkeypatch)
    right = RIGHT[tool]["arguments"][field]
    assert sent(hostile, f"plain {tool} {field}", tool, field, [right])[0].state == "succeeded"
    shapes = plain.heard()
    monkeypatch.undo()
    wire = Wire(hostile, monkeypatch)
    calls = sent(hostile, f"hostile {tool} {field}", tool, field, HOSTILE)
    assert [call.call.arguments[field] for call in calls] == HOSTILE
    assert wire.heard() <= shapes
    assert {call.state for call in calls} <= {"succeeded", "rejected", "failed"}
    assert [call for call in calls if call.code == "tool_error"] == []
    assert [path for folder in (hostile.folder, Path.cwd()) for path in folder.glob("**/pwned*")] == []


def test_hostile_names_stay_one_argument_of_a_process(hostile: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test file whose name is a command line is run as a file: the process gets one argument more, and no shell."""
    wire = Wire(hostile, monkeypatch)
    names = ["$(touch pwned); touch pwned.py", "--help.py"]
    for name in names:
        (hostile.workspace.root / name).write_text("", encoding="utf-8")
        with hostile.session(f"run {name}") as session:
            assert session.call("run_test", {"path": name}).state == "succeeded"
        (hostile.workspace.root / name).unlink()
    assert [arguments[1:] for arguments in wire.processes] == [["-m", "unittest", f"./{name}"] for name in names]
    assert list(hostile.folder.rglob("pwned")) == []
