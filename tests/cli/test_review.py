"""The noun `review`."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask
from ledger.cli.pages import known
from ledger.cli.question import _name
from ledger.cli.text import paint
from ledger.errors import VerdictRefused
from ledger.ids import Clock
from ledger.session.reviewing import os_user
from tests.audit.odd import append, held
from tests.audit.world import opened, reply
from tests.cli.running import call_ids, data, failure, ledger

BOSS, DOUBT, COPY, DONE = "mix 2.0", "mix 3.0", "mix 4.0", "done 1.0"


@pytest.fixture
def ids(world: Path) -> dict[str, str]:
    return call_ids()


def states(*places: str) -> list[str]:
    found = {f"{row['sessionId']} {row['turn']}.{row['index']}": row["state"] for row in data("audit", "calls")}
    return [found[place] for place in places]


def story(call_id: str) -> Any:
    return data("review", "show", call_id)


# -- list


def test_what_waits_is_listed_and_the_status_says_so(world: Path) -> None:
    """The bare noun lists the questions, the oldest first, with what would run; the exit status is 3."""
    result = ledger("review")
    assert result.exit_code == 3
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["CALL", "AGE", "KIND", "TOOL", "V", "SESSION", "WHY", "EXPIRES", "ARGUMENTS"]
    assert [words in lines[1] for words in ('{"to": "boss@x"}', "approval", "asks ada", "  in 23h ")] == [True] * 4
    assert ["outcome-unknown" in lines[2], "duplicate" in lines[3]] == [True] * 2
    assert [" doubt " in lines[2], " never ran " in lines[3]] == [True] * 2
    assert "ledger review show CALL" in result.stderr


def test_a_program_gets_the_rows_and_the_same_status(world: Path) -> None:
    """With --json the rows of `Ledger.reviews` come in the envelope; --format prints them bare."""
    result = ledger("review", "--json")
    assert result.exit_code == 3
    answer = json.loads(result.stdout)
    assert ([row["kind"] for row in answer["data"]], answer["next"]) == (["approval", "doubt", "doubt"], None)
    assert len(ledger("review", "--format", "jsonl").stdout.splitlines()) == 3


def test_nothing_waits(world: Path) -> None:
    """Where nothing of a kind waits the exit status is 0."""
    result = ledger("review", "list", "--kind", "change")
    assert (result.exit_code, result.output) == (0, "Nothing waits.\n")
    assert ledger("review", "--session", "done").exit_code == 0
    assert ledger("review", "--tool", "send_email", "--kind", "approval").exit_code == 3


@pytest.mark.parametrize(("age", "status"), [("1h", 0), ("0s", 3)])
def test_an_age_decides_the_status(world: Path, age: str, status: int) -> None:
    """With --max-age everything is listed, and 3 is said only if something waits longer, which is marked."""
    result = ledger("review", "--max-age", age)
    assert result.exit_code == status
    assert len(result.stdout.splitlines()) == 4
    assert result.stdout.count(" !") == (3 if status else 0)


# -- show


def test_a_question_comes_with_all_that_helps(ids: dict[str, str]) -> None:
    """One sentence of doubt, the arguments that ran, what is known, and commands to copy."""
    page = ledger("review", "show", ids[DOUBT][-8:]).stdout
    for words in (
        f"Call {ids[DOUBT]}  needs-review",
        "It was started and no outcome is recorded",
        "  body  lost",
        f"  key           {ids[DOUBT]}",
        "  worker        process ",
        "  exception  TimeoutError",
        f"  - {ids[COPY]}",
        f"  ledger review resolve {ids[DOUBT][-8:]} --did-not-happen --run\n",
    ):
        assert words in page
    found = story(ids[COPY])
    assert (found["kind"], found["reason"], found["runbook"]) == ("doubt", "duplicate", None)
    assert found["commands"][0]["command"] == f"ledger review show {ids[DOUBT]}"
    assert [other["callId"] for other in found["lookAlikes"]] == [ids[DOUBT]]
    assert "Look-alikes" in ledger("review", "show", ids[COPY]).stdout


def test_an_approval_shows_who_is_asked(ids: dict[str, str]) -> None:
    """The request, who may answer, until when, and the head of the digest that binds the answer."""
    page = ledger("review", "show", ids[BOSS]).stdout
    assert "who may say   ada" in page
    assert "expires  " in page
    found = story(ids[BOSS])
    assert f"ledger review approve {ids[BOSS][-8:]} --digest {found['argumentsDigest'][:12]} --by ada\n" in page
    assert ["--by ada" in each["command"] for each in found["commands"]] == [True, False, True, False]


def test_a_command_to_copy_is_taken_as_it_stands(ids: dict[str, str]) -> None:
    """Where one person alone may say it, the command names them; nobody else is asked for a denial or a note."""
    [approve, *_] = story(ids[BOSS])["commands"]
    assert ledger(*approve["command"].split()[1:]).exit_code == 0
    assert story(ids[BOSS])["approval"]["person"] == "ada"


def test_nobody_is_named_where_several_may_say_it(empty: Path) -> None:
    """Which of them it is the command cannot know."""
    with opened(empty) as program:
        program.tool("pay", effect="external")(_pay)
        program.authorize(lambda call, principal: Ask(who=("ada", "bob")))
        called = program.session("s").call("pay", {"amount": 5}).call_id
    assert not any("--by" in each["command"] for each in story(called)["commands"])


def _pay(amount: int) -> None:
    """Pay."""


def test_what_asks_nothing_is_shown_all_the_same(ids: dict[str, str]) -> None:
    """A call that has ended shows its end; one can only add a note."""
    page = ledger("review", "show", ids[DONE]).stdout
    assert "It asks nothing of anybody." in page
    found = story(ids[DONE])
    assert (found["kind"], found["question"]) == (None, None)
    assert [each["command"].split()[2] for each in found["commands"]] == ["note"]


@pytest.mark.parametrize(
    ("approval", "words"),
    [
        ({"by": "policy", "policy": "policy"}, "policy policy"),
        ({"by": "policy", "policy": "none"}, "nobody: no policy is registered"),
        ({"by": "policy"}, "policy"),
        ({"by": "person", "policy": None, "person": "ada"}, "ada"),
        ({"by": "verdict"}, "verdict"),
    ],
)
def test_a_page_says_who_allowed_a_call(ids: dict[str, str], approval: dict[str, Any], words: str) -> None:
    """The policy by its name, a person by theirs; where no policy is registered, nobody did."""
    found = story(ids[DONE])
    assert (found["approval"]["by"], found["approval"]["policy"]) == ("policy", "policy")
    page = [paint(line, color=False).strip() for line in known({**found, "approval": approval})]
    assert [line.removeprefix("allowed by").strip() for line in page if line.startswith("allowed by")] == [words]


def test_the_commands_name_the_ledger_where_this_one_did(ids: dict[str, str], world: Path) -> None:
    """With --db on the line the commands to copy have it too; from the environment they need it not."""
    url = f"sqlite:///{world}/ledger.db"
    assert ledger("review", "show", ids[BOSS], "--db", url).stdout.count(f"--db {url}") == 4
    assert "--db" not in ledger("review", "show", ids[BOSS], env={"LEDGER_DB": url}).stdout


def catalog(folder: Path, **words: str) -> None:
    tool = folder / "schemas" / "tools" / "send_email"
    tool.mkdir(parents=True)
    definition = {"name": "send_email", "description": "Send.", "current": 1, **words}
    versions = {"1": {"contract": {"effect": "external"}}}
    (tool / "tool.json").write_text(json.dumps(definition | {"versions": versions}))
    (tool / "v1.json").write_text('{"type": "object"}')


def test_the_runbook_knows_the_call(ids: dict[str, str], world: Path) -> None:
    """The tool's runbook is shown with the call's values in it, where the catalog is at hand."""
    catalog(world, runbook="Search the log of {to} for {idempotencyKey}, {callId}, {nothing}.")
    wanted = f"Search the log of b@x for {ids[DOUBT]}, {ids[DOUBT]}, {{nothing}}."
    assert story(ids[DOUBT])["runbook"] == wanted
    assert f"How to find out\n  {wanted}\n" in ledger("review", "show", ids[DOUBT]).stdout
    assert story(ids["mix 2.3"])["runbook"] is None  # of another tool


def test_nothing_is_to_be_found_out_of_a_call_that_never_ran(world: Path) -> None:
    """Nor of one that has ended: the page keeps its runbook for a doubt."""
    with opened(world) as host:

        @host.tool("charge", effect="external", runbook="Look at the bank.")
        def charge() -> str:
            """Charge."""
            return "charged"

        host.session("paid").call("charge")
        host.authorize(lambda call, principal: Ask())
        host.session("to pay").call("charge")
    for call_id in call_ids(tool="charge").values():
        assert story(call_id)["runbook"] == "Look at the bank."
        assert "How to find out" not in ledger("review", "show", call_id).stdout


def test_a_runbook_beside_a_function_is_known_without_a_catalog(world: Path) -> None:
    """What programs said to their tool is recorded, each word once; the last one holds, and silence takes none back."""
    for runbook in ("Look.", "Look for {order} at the bank.", "Look for {order} at the bank.", None):
        with opened(world) as host:

            @host.tool("charge", effect="external", runbook=runbook)
            def charge(order: str) -> str:
                """Charge."""
                raise TimeoutError

            with host.session("billing") as session:
                session.call("charge", {"order": "A-7"}, idempotency_key="charge-A-7")
    call_id = call_ids(session="billing")["billing 1.0"]
    assert "How to find out\n  Look for A-7 at the bank.\n" in ledger("review", "show", call_id).stdout
    shown, published = data("tool", "show", "charge"), data("audit", "events", "--type", "tool.version_published")
    first, *others = [event for event in published if event["tool"] == "charge"]
    assert (shown["runbook"], len(others)) == ("Look for {order} at the bank.", 2)
    assert shown["recordedAt"] == first["recordedAt"]  # the version is no younger for it


def test_a_tool_without_a_runbook_has_none(ids: dict[str, str], world: Path) -> None:
    """Where the author wrote nothing, nothing is shown; arguments that never parsed fill no hole."""
    catalog(world)
    assert story(ids[DOUBT])["runbook"] is None
    path = world / "schemas" / "tools" / "find"
    path.mkdir()
    text = json.dumps({"name": "find", "description": "Find.", "runbook": "Look for {q}.", "current": 9})
    contract = '{"contract": {"effect": "read"}}'
    (path / "tool.json").write_text(f'{text[:-1]}, "versions": {{"9": {contract}}}}}')
    (path / "v9.json").write_text('{"type": "object"}')
    assert story(ids["mix 2.3"])["runbook"] == "Look for {q}."


def test_a_bad_catalog_is_told_and_the_question_shown(ids: dict[str, str], world: Path) -> None:
    """Whoever must answer is not kept from it by somebody else's mistake."""
    catalog(world)
    (world / "schemas" / "tools" / "catalog.json").write_text("{")
    result = ledger("review", "show", ids[DOUBT])
    assert result.exit_code == 0
    assert "Warning: " in result.stderr


# -- verdicts


def test_an_approval_lets_it_run(ids: dict[str, str]) -> None:
    """The answer says what was recorded, and that the session's owner is there to start it."""
    result = ledger("review", "approve", ids[BOSS][-8:], "--by", "ada", "--note", "fine")
    first, second = result.stdout.splitlines()
    assert first == f"approved: send_email, call {ids[BOSS][-8:]} of session mix; it is authorized now."
    assert second.startswith("The session's owner (process ")
    assert "is alive: it starts in its loop, or at a resume: ledger resume mix --app MODULE:LEDGER" in second
    (event,) = data("audit", "events", "--call", ids[BOSS], "--type", "call.authorized")
    assert {key: event["body"][key] for key in ("person", "note", "osUser")} == {
        "person": "ada",
        "note": "fine",
        "osUser": os_user(),
    }


@pytest.mark.parametrize(
    ("owner", "seconds", "words", "wire"),
    [
        (
            "elsewhere:boot:ns:17:2:x",
            -1,
            "cannot be seen from here: it starts in its loop, or at a resume",
            (None, False),
        ),
        ("elsewhere:boot:ns:17:2:x", 600, "(process 17 on host elsewhere) works on it now", (None, True)),
        (
            "gone",
            600,
            "No process holds this session now: a worker that follows takes it; without one: ledger resume mix --app",
            (False, False),
        ),
    ],
)
def test_who_starts_it_depends_on_the_owner(
    ids: dict[str, str], world: Path, owner: str, seconds: int, words: str, wire: tuple[bool | None, bool]
) -> None:
    """Where the owner cannot be seen, holds the lease, or is dead, the answer says who will start the call."""
    with opened(world) as host:
        here = str(host._wiring.owner).split(":")
        dead = ":".join([*here[:3], "999999999", "1", "x"])
        held(host, "mix", dead if owner == "gone" else owner, seconds=seconds)
    answer = data("review", "approve", ids[BOSS], "--by", "ada")
    assert words in answer["next"]
    assert (answer["owner"]["alive"], answer["owner"]["working"]) == wire


def test_what_ran_is_shown_where_it_is_not_what_was_asked(world: Path) -> None:
    """With defaults filled in by the ledger, the page has both: the intent, and the arguments that ran."""
    with opened(world) as host:

        @host.tool("count", effect="external", apply_defaults=True)
        def count(of: str, upto: int = 10) -> int:
            """Count."""
            raise TimeoutError

        @host.tool("ask", effect="external", apply_defaults=True)
        def ask(to: str = "boss@x", words: int = 3) -> int:
            """Ask."""
            return words

        with host.session("filled") as session:
            session.dispatch(reply(("count", {"of": "x"}), ("ask", {"to": "boss@x"})))
    found = call_ids(session="filled")
    ran = ledger("review", "show", found["filled 1.0"]).stdout
    assert "Asked with\n  of  x\n\nArguments that ran\n  of    x\n  upto  10\n" in ran
    assert "Arguments that would run\n" in ledger("review", "show", found["filled 1.1"]).stdout


def test_a_page_says_where_it_cannot_show_what_would_run(world: Path) -> None:
    """A program fills in another default than the recorded schema says: nobody allows that by the page alone."""
    fields: dict[str, Any] = {"cents": {"type": "integer"}, "currency": {"default": "EUR"}}
    with opened(world) as host:
        options: Any = {"apply_defaults": True, "schema": {"type": "object", "properties": fields}}
        host.tool("settle", effect="external", **options)(lambda **arguments: arguments)
        host.authorize(lambda call, actor: Ask())
        host.session("EUR").dispatch(reply(("settle", {"cents": 1})))
        tool = host._wiring.registry.get("settle")
        assert tool is not None
        tool.version.schema["properties"]["currency"]["default"] = "USD"  # as a release that fills in otherwise
        host.session("USD").dispatch(reply(("settle", {"cents": 1})))
    [shown, hidden] = (call_ids(session=default)[f"{default} 1.0"] for default in ("EUR", "USD"))
    assert [story(each)["executedKnown"] for each in (shown, hidden)] == [True, False]
    assert ["These are not all" in ledger("review", "show", each).stdout for each in (shown, hidden)] == [False, True]
    assert "These are not all" in ledger("audit", "call", hidden).stdout
    status, code, message = failure("review", "approve", hidden)
    assert (status, code, "no page shows all arguments" in message) == (2, "usage", True)
    assert data("review", "approve", hidden, "--digest", story(hidden)["argumentsDigest"])["verdict"] == "approved"
    assert data("review", "approve", shown)["verdict"] == "approved"


def test_only_who_is_asked_may_approve(ids: dict[str, str]) -> None:
    """An approval by anybody else is refused, and so is a second one; the first is named."""
    assert failure("review", "approve", ids[BOSS], "--by", "bob")[:2] == (1, "verdict_refused")
    assert data("review", "approve", ids[BOSS], "--by", "ada")["verdict"] == "approved"
    status, code, message = failure("review", "approve", ids[BOSS], "--by", "ada")
    assert (status, code) == (1, "verdict_refused")
    assert "approved already by ada" in message


@pytest.mark.parametrize("length", [8, 12, 64])
def test_an_approval_binds_to_what_was_seen(ids: dict[str, str], length: int) -> None:
    """A head of the digest that was shown is enough; another digest is refused."""
    digest = story(ids[BOSS])["argumentsDigest"]
    other = "0" * length if not digest.startswith("0") else "1" * length
    assert failure("review", "approve", ids[BOSS], "--by", "ada", "--digest", other)[:2] == (1, "verdict_refused")
    assert failure("review", "approve", ids[BOSS], "--by", "ada", "--digest", digest[:7])[1] == "verdict_refused"
    assert data("review", "approve", ids[BOSS], "--by", "ada", "--digest", digest[:length])["state"] == "authorized"


def test_a_denial_ends_it(ids: dict[str, str]) -> None:
    """A refused call is denied, by whoever sits at this machine unless somebody is named."""
    answer = data("review", "deny", ids[BOSS])
    assert (answer["state"], answer["verdict"], answer["by"], answer["owner"]) == ("denied", "denied", os_user(), None)
    assert answer["next"] == "It will not run; the model is told that it was refused."


@pytest.mark.parametrize(
    ("options", "state", "told"),
    [
        (["--happened"], "succeeded", "happened"),
        (["--happened", '{"sent": "b@x"}'], "succeeded", "happened"),
        (["--did-not-happen"], "failed", "did-not-happen"),
        (["--did-not-happen", "--run"], "authorized", "did-not-happen, run"),
        (["--abandon"], "abandoned", "abandon"),
    ],
)
def test_verdicts_on_a_doubt(ids: dict[str, str], options: list[str], state: str, told: str) -> None:
    """Each verdict leads to its state; the copy ends with its original."""
    answer = data("review", "resolve", ids[DOUBT], *options, "--by", "ada")
    assert (answer["state"], answer["verdict"]) == (state, told)
    assert states(COPY) == ["needs-review" if state == "authorized" else {"failed": "failed"}.get(state, state)]


def test_what_it_returned_comes_from_the_line_a_file_or_stdin(ids: dict[str, str], world: Path) -> None:
    """The result is exactly the JSON that was given, however it was given."""
    big = '{"id": 2512292042121000001, "n": 1.0}'
    (world / "result.json").write_text(big)
    ledger("review", "resolve", ids[DOUBT], "--happened", "@result.json")
    assert story(ids[DOUBT])["result"] == {"id": 2512292042121000001, "n": 1.0}
    with opened(world) as host, host.session("more") as session:
        session.dispatch(reply(("send_email", {"to": "x", "body": "lost"})))
    later = call_ids()["more 1.0"]
    ledger("review", "resolve", later, "--happened", "-", input='["中"]')
    assert story(later)["result"] == ["中"]
    assert story(later)["resultKnown"] is True


def test_without_a_result_it_is_unknown_or_the_late_one(ids: dict[str, str], world: Path) -> None:
    """`--happened` alone says that nobody knows what it returned, unless an outcome arrived late."""
    from ledger.events import CallOutcomeArrivedLate

    with opened(world) as host, host.session("late") as session:
        session.dispatch(reply(("send_email", {"to": "x", "body": "lost"})))
        late = call_ids()["late 1.0"]
        append(host, host.find(late), CallOutcomeArrivedLate(ended="succeeded", token=0, result={"sent": "x"}))
    assert "Late outcome\n" in ledger("review", "show", late).stdout
    assert {
        "command": f"ledger review resolve {late[-8:]} --happened",
        "meaning": "it happened: take the late outcome",
    } in (story(late)["commands"])
    assert all("late" not in each["meaning"] for each in story(ids[DOUBT])["commands"])
    ledger("review", "resolve", late, "--happened")
    ledger("review", "resolve", ids[DOUBT], "--happened")
    assert [story(each)["resultKnown"] for each in (late, ids[DOUBT])] == [True, False]
    assert story(late)["result"] == {"sent": "x"}
    assert "what it returned is unknown" in ledger("review", "show", ids[DOUBT]).stdout


def test_what_may_have_run_does_not_run_again_by_itself(ids: dict[str, str]) -> None:
    """--run alone is refused where the outcome is unknown, and a copy takes no verdict at all."""
    assert failure("review", "resolve", ids[DOUBT], "--run")[:2] == (1, "verdict_refused")
    status, code, message = failure("review", "resolve", ids[COPY], "--abandon")
    assert (status, code) == (1, "verdict_refused")
    assert ids[DOUBT] in message


def test_resolving_twice_is_refused_with_the_first_verdict(ids: dict[str, str]) -> None:
    """A wrong verdict is corrected by a note and a new call."""
    data("review", "resolve", ids[DOUBT], "--abandon", "--by", "ada")
    status, code, message = failure("review", "resolve", ids[DOUBT], "--happened")
    assert (status, code) == (1, "verdict_refused")
    assert "abandon, by ada" in message


def test_other_arguments_make_a_new_call(ids: dict[str, str]) -> None:
    """They are checked by the schema that the ledger itself recorded; the new call is authorized."""
    misfit = ("review", "resolve", ids[BOSS], "--arguments", '{"too": 1}')
    assert failure(*misfit)[1] == "verdict_refused"  # the policy asks ada
    assert failure(*misfit, "--by", "ada")[:2] == (2, "usage")
    answer = data("review", "resolve", ids[BOSS], "--arguments", '{"to": "team@x"}', "--by", "ada")
    assert (answer["verdict"], answer["state"]) == ("superseded", "authorized")
    assert answer["callId"] != ids[BOSS]
    assert states(BOSS) == ["authorized"]  # the same place, its next revision
    assert story(ids[BOSS])["supersededBy"] == answer["callId"]
    assert failure("review", "resolve", ids[DOUBT], "--arguments", '{"to": "x"}')[1] == "verdict_refused"
    said = ledger("review", "resolve", ids[DOUBT], "--did-not-happen", "--arguments", '{"to": "x"}')
    line = said.stdout.splitlines()[0]
    assert line.startswith(f"superseded: call {ids[DOUBT][-8:]}; ")
    assert line.endswith("takes its place and is authorized now.")


def test_all_that_is_wrong_with_new_arguments_is_told(world: Path) -> None:
    """Each fault with its place, up to ten and how many more; nothing of a sensitive value."""
    secret: dict[str, Any] = {"type": "string", "maxLength": 4, "x-sensitive": True}
    numbers = {name: {"type": "integer"} for name in "abcdefghijk"}
    schema = {"type": "object", "properties": {"pin": secret, **numbers}, "additionalProperties": False}
    with opened(world) as host:

        @host.tool("count", effect="external", schema=schema)
        def count(**_: Any) -> int:
            """Count."""
            raise TimeoutError

        called = host.session("s").call("count", {"a": 1}).call_id

    def told(**arguments: Any) -> str:
        resolve = ("review", "resolve", called, "--did-not-happen", "--arguments", json.dumps(arguments))
        status, code, message = failure(*resolve)
        assert (status, code) == (2, "usage")
        return message.partition("at the schema gate: ")[2]

    assert told(a="x") == 'The arguments do not fit the schema: /a: expected integer, got string "x"'
    few = told(a=1, c="y", pin="hunter2-canary", z=0)
    assert few == (
        '/c: expected integer, got string "y"; /pin: does not fit `maxLength`; a sensitive value is not shown;'
        ' /z: unknown field "z"'
    )
    many = told(**dict.fromkeys(numbers, "x"), pin=5).split("; ")
    assert [each.partition(":")[0] for each in many] == [*(f"/{name}" for name in "abcdefghij"), "and 2 more"]
    assert told(**{f"z{number:02}": 0 for number in range(30)}).endswith("; and at least 10 more")


def test_a_verdict_binds_to_what_was_seen(ids: dict[str, str]) -> None:
    """--digest refuses a verdict on other arguments than those that were shown."""
    digest = story(ids[DOUBT])["argumentsDigest"]
    assert failure("review", "resolve", ids[DOUBT], "--abandon", "--digest", "f" * 64)[1] == "verdict_refused"
    assert data("review", "resolve", ids[DOUBT], "--abandon", "--digest", digest[:8])["state"] == "abandoned"


def test_a_note_changes_nothing_else(ids: dict[str, str]) -> None:
    """A note may be added in any state, also to what has ended."""
    answer = data("review", "note", ids[DONE], "looked at it", "--by", "ada")
    assert (answer["state"], answer["verdict"], answer["next"]) == ("succeeded", "noted", "Noted.")
    assert "ada, " in ledger("review", "show", ids[DONE]).stdout
    assert "looked at it" in ledger("audit", "call", ids[DONE]).stdout


def test_evidence_is_recorded_by_its_digest(ids: dict[str, str], world: Path) -> None:
    """A file is named with its size and SHA-256, a URL as it is; what is neither is refused before anything is said."""
    (world / "log.txt").write_bytes(b"sent\n")
    ledger("review", "note", ids[DONE], "seen", "--evidence", "log.txt", "--evidence", "https://x/log")
    (note,) = story(ids[DONE])["notes"]
    assert note["evidence"] == [
        {"file": "log.txt", "sha256": hashlib.sha256(b"sent\n").hexdigest(), "size": 5},
        {"url": "https://x/log"},
    ]
    status, code, message = failure("review", "resolve", ids[DOUBT], "--abandon", "--evidence", "missing.txt")
    assert (status, code) == (2, "usage")
    assert "missing.txt" in message
    assert "words go into --note" in message
    assert states(DOUBT) == ["needs-review"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "No verdict"),
        (["--happened", "--did-not-happen"], "one verdict"),
        (["--happened", "--run"], "one verdict"),
        (["--abandon", "--arguments", "{}"], "with --abandon nothing runs"),
        (["--happened", "1", "--arguments", "{}"], "with --happened nothing runs"),
        (["--abandon", "--run"], "one verdict"),
        (["--did-not-happen", "--run", "--arguments", "{}"], "leave --run out"),
        (["--happened", "{"], "put it in front of the options"),
        (["--happened", "@missing.json"], "missing.json: No such file"),
        (["--arguments", "{\n]"], "this is no strict JSON"),
    ],
)
def test_options_that_make_no_verdict(ids: dict[str, str], options: list[str], words: str) -> None:
    """Contradictions and broken values are wrong usage, and nothing is recorded."""
    status, code, message = failure("review", "resolve", ids[DOUBT], *options)
    assert (status, code) == (2, "usage")
    assert words in message
    assert states(DOUBT) == ["needs-review"]


def test_a_closed_session_takes_what_is_known_only(ids: dict[str, str]) -> None:
    """Nothing of a closed session runs any more: an approval is refused, a denial is taken."""
    data("session", "close", "mix")
    assert failure("review", "approve", ids[BOSS], "--by", "ada")[0] == 1
    assert data("review", "deny", ids[BOSS])["state"] == "denied"


@pytest.mark.parametrize("verb", [["approve"], ["deny"], ["resolve", "--abandon"], ["note", "x"], ["show"], ["list"]])
def test_verdicts_make_no_ledger(empty: Path, verb: list[str]) -> None:
    """A verdict on a call of a ledger that is not there makes none."""
    call = [] if verb == ["list"] else ["c"]
    assert failure("review", verb[0], *call, *verb[1:])[:2] == (1, "no_database")
    assert list(empty.iterdir()) == []
    assert issubclass(VerdictRefused, Exception)


def test_an_expired_approval_is_told_in_words(world: Path) -> None:
    """The list, the page and the refusal say so, before and after a resume flagged it; the reason stays what it is."""
    ago = datetime.now(UTC) - timedelta(days=3)
    with opened(world, clock=Clock(now=lambda: ago)) as host, host.session("late") as session:
        (asked,) = session.dispatch(reply(("send_email", {"to": "boss@x"}))).calls
    (line,) = ledger("review", "--session", "late").stdout.splitlines()[1:]
    assert " expired  " in line
    page = ledger("review", "show", asked.call_id).stdout
    assert "The time to approve it is over" in page
    assert " UTC, expired\n" in page
    assert "ledger review approve" not in page
    assert "expired at" in failure("review", "approve", asked.call_id, "--by", "ada")[2]
    ledger("resume", "late")
    assert " expired  " in ledger("review", "--session", "late").stdout
    found = story(asked.call_id)
    assert (found["reason"], "is over" in found["question"]) == ("approval-mismatch", True)
    ledger("review", "resolve", asked.call_id, "--abandon")
    assert " UTC, expired" not in ledger("review", "show", asked.call_id).stdout


def test_a_call_is_named_by_its_tail(world: Path, ids: dict[str, str]) -> None:
    """In commands it has the name that the tables show; whole where its tail does not lead to one call."""
    with opened(world) as host:
        assert _name(host.reader, ids[BOSS]) == ids[BOSS][-8:]
        assert _name(host.reader, "01a229b2-b6d9-7000-936a-zzzzzzzzzzzz") == "01a229b2-b6d9-7000-936a-zzzzzzzzzzzz"
