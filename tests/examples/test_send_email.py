"""System D: a session of version 1 meets versions 2 and 3; by the count of a mail server nothing is sent twice."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import pytest

from examples.scripted import reply
from examples.send_email.__main__ import calls, copy_of_ledger, story
from examples.send_email.old import ADA, BOB, SESSION
from examples.send_email.sink import Sink
from examples.send_email.tools import NAME, Mailer, open_ledger
from ledger import Ledger
from ledger.catalog import default_catalog_root, load_catalog
from ledger.catalog.upcast.certificate import Step
from ledger.events import CallUpcast, read_event
from tests.cli.running import data, failure, ledger
from tests.examples.running import shown


class World:
    """What the old program left, and the mail server; `told` is what the example printed on the way."""

    def __init__(self, folder: Path, sink: Sink) -> None:
        self.folder, self.sink = folder, sink
        with redirect_stdout(io.StringIO()) as out:
            story(folder, sink)
        self.told = out.getvalue()
        self.number = 0

    @contextmanager
    def program(self, version: int) -> Iterator[Ledger]:
        """A newer release, on a copy of its own."""
        self.number += 1
        database = f"test-{self.number}.db"
        copy_of_ledger(self.folder / "ledger.db", self.folder / database)
        with open_ledger(self.folder, version, Mailer(self.sink.port), database=database) as opened:
            yield opened

    def said(self, version: int) -> list[str]:
        """What names this release's ledger and catalog on a command line."""
        database = f"sqlite:///{self.folder}/test-{self.number}.db"
        return ["--db", database, "--catalog", str(self.folder / f"catalog-{version}")]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with Sink() as sink:
        yield World(tmp_path_factory.mktemp("mail"), sink)


def records(opened: Ledger, call_id: str) -> list[bytes]:
    """The events of a call, byte for byte."""
    rows = opened.reader.read(SESSION, limit=1000)
    return [row.record for row in rows if row.call_id == call_id]


def test_the_readme_shows_what_it_prints(world: World) -> None:
    """The example runs, and prints what its README shows."""
    assert world.told == shown("send_email")


def test_each_message_is_sent_once(world: World) -> None:
    """Under each release ada and bob got one message, from the old program, and eve one, from the new one."""
    to = [message.recipients for message in world.sink.messages[:4]]
    assert to == [("ada@example.org",), ("bob@example.org",), ("eve@example.org",), ("eve@example.org",)]
    ids = [message.message_id for message in world.sink.messages[:4]]
    assert ids[:3] == [None] * 3
    assert ids[3] == "<newsletter-eve@example.org>"


@pytest.mark.parametrize("version", [2, 3])
def test_what_is_finished_stays_a_fact(world: World, version: int) -> None:
    """No event is added to it and none changes; its answer is the one it had; the intents of all calls stay too."""
    sent = len(world.sink.messages)
    with world.program(version) as opened:
        ada, *others = calls(opened)
        before = records(opened, ada.call_id)
        proposed = {call.call_id: records(opened, call.call_id)[0] for call in others}
        opened.session(SESSION).messages()
        again, *_ = calls(opened)
        assert records(opened, ada.call_id) == before
        assert {call_id: records(opened, call_id)[0] for call_id in proposed} == proposed
        assert (again.state, again.schema_version, again.result) == ("succeeded", 1, {"accepted": ["ada@example.org"]})
    assert len(world.sink.messages) == sent


def test_the_first_step_is_proved_and_certified(world: World) -> None:
    """The file's operations are proved on the schemas: version 2 can say more. The event holds the certificate."""
    definition = load_catalog(default_catalog_root()).tools[NAME]
    step = Step(definition.upcasts[1], definition.versions[1], definition.versions[2])
    assert (step.proof.status, step.proof.grade) == ("proved", "embed")
    with world.program(2) as opened:
        opened.session(SESSION).messages()
        bodies = [read_event(row.record).body for row in opened.reader.read(SESSION, limit=1000)]
        [body] = [body for body in bodies if isinstance(body, CallUpcast)]
        assert (body.from_version, body.to_version, body.round_trip) == (1, 2, True)
        assert body.arguments == {"recipients": ["eve@example.org"], "body": "Dear eve, the build is green."}
        assert body.upcast_digest == definition.upcasts[1].digest
        rows = list(opened.calls(session=SESSION))
        assert [row["reason"] for row in rows] == [None, "outcome-unknown", "not-started"]


@pytest.mark.parametrize("version", [2, 3])
def test_a_model_that_asks_again_sends_nothing(world: World, version: int) -> None:
    """In the new form: the finished one is answered from the record, the one in doubt is a copy of what is in doubt."""
    sent, extra = len(world.sink.messages), {"subject": "Build", "idempotencyKey": "again-0001"} if version == 3 else {}
    with world.program(version) as opened, opened.session(SESSION) as session:
        session.messages()
        old = {"recipients": [ADA[1]["to"]], "body": ADA[1]["body"]}
        if version == 2:
            [call] = session.dispatch(reply("openai", [(NAME, old)]), turn=1).calls
            assert (call.state, call.call.schema_version) == ("succeeded", 1)
            doubtful = {"recipients": [BOB[1]["to"]], "body": BOB[1]["body"]}
            [copy] = session.dispatch(reply("openai", [(NAME, doubtful | extra)], number=9)).calls
            assert (copy.state, copy.call.reason) == ("needs-review", "duplicate")
        else:  # what it means has changed: the old form is no call of this version
            [call] = session.dispatch(reply("openai", [(NAME, old)], number=9)).calls
            assert (call.state, call.answer["gate"]) == ("rejected", "schema")
    assert len(world.sink.messages) == sent


def test_a_person_is_shown_what_is_carried_and_what_is_asked(world: World) -> None:
    """Under version 3: the draft and the questions, and a command that nobody can send off without answering."""
    sent = len(world.sink.messages)
    with world.program(3) as opened:
        opened.session(SESSION).messages()
        *_, eve = calls(opened)
        page = data(*world.said(3), "review", "show", eve.call_id)
        draft = {"recipients": ["eve@example.org"], "body": "Dear eve, the build is green."}
        assert page["upcast"]["reached"] == 2
        assert page["upcast"]["draft"] == draft
        assert [each["pointer"] for each in page["upcast"]["ask"]] == ["/subject", "/idempotencyKey"]
        shown_page = ledger(*world.said(3), "review", "show", eve.call_id).stdout
        assert "/subject: What is the message about, in one line?" in shown_page
        given = json.dumps(draft | {"subject": None, "idempotencyKey": None})
        assert any(f"--arguments '{given}'" in each["command"] for each in page["commands"])
        resolve = (*world.said(3), "review", "resolve", eve.call_id, "--by", "ada", "--arguments")
        assert failure(*resolve, given)[:2] == (2, "usage")
        answers = {"subject": "Build", "idempotencyKey": f"answered-{world.number}"}
        assert ledger(*resolve, json.dumps(draft | answers)).exit_code == 0
        opened.session(SESSION).messages()
        assert [call.state for call in calls(opened)][2:] == ["superseded", "succeeded"]
    assert [message.subject for message in world.sink.messages[sent:]] == ["Build"]


def test_the_plan_says_the_same_before_the_deploy(world: World) -> None:
    """`migrate-schemas --strict` with the new catalog: nobody is needed for version 2, and somebody for version 3."""
    with world.program(1):
        for version, status in ((2, 0), (3, 1)):
            said = [*world.said(1)[:2], "--catalog", str(world.folder / f"catalog-{version}")]
            done = ledger(*said, "migrate-schemas", "--strict")
            assert (done.exit_code, "Failed by --strict" in done.stdout) == (status, version == 3)
