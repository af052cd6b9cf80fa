"""System C: a tool's contract at four gates, against a real HTTP service whose log says what left the program."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.scripted import FORMATS, Format, Script, answers, reply
from examples.weather.__main__ import CASES, USERS, main, run
from examples.weather.service import Service
from examples.weather.tools import User, Weather, open_ledger
from ledger import CallResult, Ledger
from tests.examples.running import facts, shown

ADA, GUEST = USERS["ada"], USERS["guest"]
RIGHT = {"city": "Oslo", "date": "2026-02-28", "units": "celsius"}
REPORT = RIGHT | {"temperature": -3}


class World:
    """The ledger, the client and the service of all tests here."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.service = service
        self.weather = Weather(service.address)
        self.ledger = open_ledger(f"sqlite:///{folder}/ledger.db", self.weather, jitter=self.calm)

    def calm(self) -> float:
        """Between two attempts the client becomes patient: only the first one is to time out."""
        self.weather.timeout = 10.0
        return 0.0

    def stall(self, times: int) -> None:
        self.service.stalls = times
        self.weather.timeout = 0.05 if times else 10.0

    def arrived(self, number: int) -> list[str]:
        """The log, once it holds this many requests: a stalled one may be logged after its client gave up."""
        assert self.service.wait_for(number)
        return self.service.requests

    def one(self, session_id: str, user: User, tool: str, arguments: dict[str, Any]) -> CallResult:
        """A call in a session of its own."""
        with self.ledger.session(session_id, principal=user) as session:
            return session.dispatch(reply("openai", [(tool, arguments)])).calls[0]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with Service() as service:
        found = World(service, tmp_path_factory.mktemp("weather"))
        yield found
        found.ledger.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_call_stops_where_it_must(world: World, case: dict[str, Any]) -> None:
    """In both wire forms each call stops at its gate, with its code and advice, having sent what it says and no more.

    The events of both sessions are equal after decode.
    """
    for form in FORMATS:
        before = len(world.service.requests)
        world.stall(case.get("stalls", 0))
        call = run(world.ledger, case, form)
        answer = call.answer
        assert (call.state, answer["next"]) == (case["state"], case["next"])
        assert (answer.get("gate"), answer.get("code")) == (case.get("gate"), case.get("code"))
        if call.state in {"rejected", "denied"}:
            assert answer["modelCanRepair"] is (case["next"] == "repair")
        assert len(world.arrived(before + case["requests"])) == before + case["requests"]
    first, second = (facts(world.ledger, f"{case['name']} {form}") for form in FORMATS)
    assert first == second
    assert ("call.started" in {fact["type"] for fact in first}) is (case["requests"] > 0)


def test_the_cases_stop_at_every_gate() -> None:
    """Schema, business and authorization each stop a case, and some end well."""
    assert {case.get("gate") for case in CASES} == {None, "schema", "business", "authorization"}


def test_a_missing_fact_is_not_guessed(world: World) -> None:
    """The answer to a call without its city names the city, and tells the model to ask instead of guessing."""
    answer = world.one("missing", ADA, "get_weather", {"date": "2026-02-28", "units": "celsius"}).answer
    assert answer["hint"] == "Missing: city. Do not guess: ask the user, or get it from a trusted tool."
    assert [violation["pointer"] for violation in answer["violations"]] == ["/city"]


@pytest.mark.parametrize(
    ("given", "pointer"),
    [({"units": "Celsius"}, "/units"), ({"date": "2026-02-31"}, "/date"), ({"city": "Atlantis"}, "/city")],
)
def test_a_wrong_fact_is_named(world: World, given: dict[str, Any], pointer: str) -> None:
    """What the model can repair comes with the pointer to the field."""
    answer = world.one(f"wrong {pointer}", ADA, "get_weather", RIGHT | given).answer
    assert (answer["next"], [violation["pointer"] for violation in answer["violations"]]) == ("repair", [pointer])


@pytest.mark.parametrize("city", ["Lima", "Nairobi"])
def test_a_denial_invites_no_probing(world: World, city: str) -> None:
    """Whoever has no permission reads the same words for every city, and none that say what would be allowed."""
    answer = world.one(f"denied {city}", GUEST, "get_weather", RIGHT | {"city": city}).answer
    assert answer == world.one(f"denied too {city}", GUEST, "get_weather", RIGHT).answer
    assert answer["modelCanRepair"] is False
    assert answer["requiresUserAction"] == "Ask your administrator for access."
    assert answer.keys() & {"hint", "violations", "data", "pointer"} == set()
    assert not any(word in str(answer) for word in ("scope", "weather:read", city))


def test_the_arguments_do_not_say_who_acts(world: World) -> None:
    """An argument that claims a permission is an unknown field; without it the user is denied all the same."""
    claimed = world.one("claimed", GUEST, "get_weather", RIGHT | {"is_authorized": True})
    assert (claimed.state, claimed.answer["gate"]) == ("rejected", "schema")
    assert world.one("not claimed", GUEST, "get_weather", RIGHT).state == "denied"


def test_a_supervisor_is_asked(world: World) -> None:
    """A refund above the user's limit is denied with what a person can do; at the limit it is paid once."""
    refunds = dict(world.service.refunds)
    above = world.one("above", ADA, "refund", {"order_id": "B-7", "amount": 5001}).answer
    assert (above["gate"], above["code"]) == ("authorization", "LIMIT_EXCEEDED")
    assert above["requiresUserAction"] == "Ask a supervisor."
    assert "5000" not in str(above)
    assert world.service.refunds == refunds
    assert world.one("at", ADA, "refund", {"order_id": "B-7", "amount": 5000}).state == "succeeded"
    assert world.service.refunds == refunds | {"B-7": 5000}


@pytest.mark.parametrize("format", FORMATS)
def test_what_may_have_happened_is_not_sent_again(world: World, format: Format) -> None:
    """A report without an answer is sent once: not again by the ledger, by a model that insists, or by a resume."""
    before, session_id = len(world.service.requests), f"insists {format}"
    insists = Script([[("report_weather", REPORT)], [("report_weather", REPORT)], "I give up."], format)
    world.stall(1)
    with world.ledger.session(session_id, principal=ADA) as session:
        messages = session.messages(format, start=[{"role": "user", "content": "Report -3 degrees."}])
        while not session.final:
            messages += session.dispatch(insists.chat(messages), format=format).messages
            world.weather.timeout = 10.0
    first, second = answers(messages)
    assert (first["status"], second["status"]) == ("needs_review", "needs_review")
    assert first["message"].startswith("OUTCOME UNKNOWN")
    assert second["code"] == "duplicate"
    world.ledger.resume(session_id)
    assert world.arrived(before + 1)[before:] == ["POST /reports"]
    assert [row["tool"] for row in world.ledger.reviews(session=session_id)] == ["report_weather"] * 2


def test_a_person_settles_it(world: World) -> None:
    """A person looks at the service's list and says that it happened: so the model reads, and nothing is sent."""
    before = len(world.service.requests)
    world.stall(1)
    call = world.one("settled", ADA, "report_weather", REPORT | {"city": "Nairobi"})
    world.arrived(before + 1)
    assert world.service.reports[-1]["city"] == "Nairobi"
    world.ledger.resolve(call, "happened", by="ada", result={"number": len(world.service.reports)})
    with world.ledger.session("settled", principal=ADA) as session:
        assert [answer["status"] for answer in answers(session.messages())] == ["succeeded"]
    assert world.ledger.find(call).state == "succeeded"
    assert len(world.service.requests) == before + 1


def test_hostile_text_stays_inside_its_parameter(world: World) -> None:
    """What would be syntax in a URL arrives as one value of one parameter, and the request has no other."""
    hostile = "Oslo&units=kelvin#/../?x=1 HTTP/1.1\r\nHost: evil"
    before = len(world.service.requests)
    world.weather.get_weather(RIGHT["city"], RIGHT["date"], RIGHT["units"])
    with pytest.raises(Exception, match="There is no such city"):
        world.weather.get_weather(hostile, RIGHT["date"], RIGHT["units"])
    plain, strange = world.service.requests[before:]
    assert strange.startswith("GET /weather?city=Oslo%26units%3Dkelvin%23%2F")
    assert [plain.count(mark) for mark in "?&=#"] == [strange.count(mark) for mark in "?&=#"]


def test_a_user_has_so_many_calls_an_hour(tmp_path: Path, world: World) -> None:
    """Forty calls of a user start within an hour; the next one is denied until a time, and no request leaves.

    The store counts: another program on the same file denies it as well, whatever the city. Another user may call.
    """
    url, before = f"sqlite:///{tmp_path}/ledger.db", len(world.service.requests)
    world.weather.timeout = 10.0
    with open_ledger(url, world.weather) as ledger, ledger.session("many", principal=ADA) as session:
        *first, last = session.dispatch(reply("openai", [("get_weather", RIGHT)] * 41)).calls
    assert {call.state for call in first} == {"succeeded"}
    check_it_waits(last)
    with open_ledger(url, world.weather) as ledger:
        with ledger.session("again", principal=ADA) as session:
            asked = reply("anthropic", [("get_weather", RIGHT | {"city": "Lima"})])
            check_it_waits(session.dispatch(asked, format="anthropic").calls[0])
        with ledger.session("other", principal=User("bob", ADA.scopes)) as session:
            assert session.call("get_weather", RIGHT).state == "succeeded"
    assert len(world.service.requests) == before + 41


def check_it_waits(call: CallResult) -> None:
    answer = call.answer
    assert (call.state, call.code, answer["gate"]) == ("denied", "RATE_LIMITED", "authorization")
    assert (answer["modelCanRepair"], answer["next"]) == (False, "retry_later")
    assert 0 < answer["retryAfter"] <= 3600


def test_the_readme_shows_what_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """The example runs, and prints what its README shows."""
    main()
    assert capsys.readouterr().out == shown("weather")


def test_the_ledger_is_sound(world: World) -> None:
    """No event of all these sessions is unreadable."""
    ledger: Ledger = world.ledger
    assert [row for row in ledger.events() if row["unreadable"]] == []
