"""The docs' picture of a call's life."""

import re
from pathlib import Path

import pytest

from ledger.calls import FOLLOWS, TERMINAL
from ledger.calls.diagram import BEGIN, END, PAGE, STATES, diagram, edges, main, page, table
from ledger.events import BODIES, CallNoted, CallOutcomeArrivedLate, CallUpcast
from tests.calls.stories import suite, tell

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_that_of_the_code() -> None:
    """The generated part of `docs/states.md` is exactly what the code makes; `make docs` writes it again."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert page(text) == text
    assert diagram() in text


def test_the_rest_of_the_page_is_left_alone(tmp_path: Path) -> None:
    """Only what stands between the two marks is written."""
    path = tmp_path / "states.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter é\n", encoding="utf-8")
    main(path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith(f"{END}\nafter é\n")
    assert "stateDiagram-v2" in text
    assert "old" not in text


@pytest.mark.parametrize("text", ["", BEGIN, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_a_page_without_its_marks_is_refused(text: str) -> None:
    """Without exactly one pair of marks nothing is written."""
    with pytest.raises(ValueError, match="once"):
        page(text)


def test_the_picture_shows_what_the_stories_do() -> None:
    """Every change of state of every legal story is an edge of the picture."""
    shown = edges()
    for story in suite()["cases"]:
        call = tell()
        for part in story["events"][: None if "state" in story else -1]:
            after = tell(part, call=call)
            if after.state != call.state:
                name = part[0]
                assert any(label.startswith(name) for label in shown[call.state, after.state]), (part, call.state)
            call = after


def test_the_picture_shows_no_more_than_the_table_allows() -> None:
    """Every edge is an event that may follow the state; events that change no state are not drawn."""
    for (before, _), labels in edges().items():
        for label in labels:
            assert BODIES["call." + re.split(r"[ (]", label)[0]] in FOLLOWS[before]
    drawn = {label for labels in edges().values() for label in labels}
    assert {"noted", "upcast", "outcome_arrived_late"} & drawn == set()


def test_final_states_end() -> None:
    """A final state leads to the end of the picture and nowhere else; the others lead somewhere."""
    for state in STATES:
        ends = f"    {state} --> [*]" in diagram()
        assert ends == (state in TERMINAL)
        assert any(before == state for before, _ in edges()) == (state not in TERMINAL)


def test_names_of_states_can_be_drawn() -> None:
    """A state with a hyphen has a name without one in the picture."""
    assert 'state "needs-review" as needs_review' in diagram()
    assert re.search(r"(?m)^    [\w\[\]*]+ --> [\w\[\]*]+: .*-", diagram().replace("did-not-happen", "x")) is None


def test_the_table_tells_all() -> None:
    """The table names every state with all that may follow, and every condition in words."""
    text = table()
    for state, follow in FOLLOWS.items():
        assert re.search(rf"(?m)^\| \**{state}\** \|(.*)\|$", text)
        assert len(follow) > 0
    assert text.count("`noted`") == sum(CallNoted in follow for follow in FOLLOWS.values())
    assert text.count("`outcome_arrived_late`") == sum(CallOutcomeArrivedLate in follow for follow in FOLLOWS.values())
    assert text.count("`upcast`") == sum(CallUpcast in follow for follow in FOLLOWS.values()) + 1
    assert "|  |" not in text
