"""What a person decided, on the page of the call."""

from pathlib import Path
from typing import Any

import pytest

from ledger.cli.decided import decision, evidence, note
from ledger.cli.text import paint
from tests.cli.running import call_ids, data, ledger

BOSS, DOUBT = "mix 2.0", "mix 3.0"
WHY = ("--by", "ada", "--note", "I looked", "--evidence", "log.txt", "--evidence", "https://x/log")
SEEN = "log.txt (5 bytes, SHA-256 "


def pages(call_id: str) -> list[str]:
    """Both pages of a call."""
    return [ledger(*command, call_id).stdout for command in (("review", "show"), ("audit", "call"))]


@pytest.mark.parametrize(
    ("place", "answer", "heading"),
    [
        (BOSS, ["approve"], "Approval\n  by        ada, 20"),
        (BOSS, ["deny"], "Denial\n  by        ada, 20"),
        (
            DOUBT,
            ["resolve", "--did-not-happen", "--run"],
            "Verdict\n  verdict   did-not-happen, run\n  by        ada, 20",
        ),
        (DOUBT, ["resolve", "--abandon"], "Verdict\n  verdict   abandon\n  by        ada, 20"),
    ],
)
def test_every_page_has_the_word_its_reason_and_its_evidence(
    world: Path, place: str, answer: list[str], heading: str
) -> None:
    """Approved, denied or resolved: who, when, why, and what they had looked at."""
    (world / "log.txt").write_bytes(b"sent\n")
    called = call_ids()[place]
    data("review", answer[0], called, *answer[1:], *WHY)
    for page in pages(called):
        assert heading in page
        assert "  note      I looked\n" in page
        assert f"  evidence  {SEEN}" in page
        assert "); https://x/log\n" in page


def test_both_pages_of_a_replaced_call_name_the_other(world: Path) -> None:
    """The old one by whom and when, the new one whose place it takes; a command leads there."""
    (world / "log.txt").write_bytes(b"sent\n")
    old = call_ids()[DOUBT]
    new = data("review", "resolve", old, "--did-not-happen", "--arguments", '{"to": "x"}', *WHY)["callId"]
    for page in pages(old):
        assert f"  superseded by  {new}, says ada, 20" in page
        assert (
            f"Replaced by another call\n  new call       {new}\n  did it happen  no\n  by             ada, 20" in page
        )
        assert f"  evidence       {SEEN}" in page
    for page in pages(new):
        assert f"  takes the place of  {old}\n" in page
        assert "Approval\n  by        ada, 20" in page
    [look, _] = data("review", "show", old)["commands"]
    assert look["command"] == f"ledger review show {new}"
    [denied] = [row for row in data("audit", "events", "--call", old) if row["type"] == "call.superseded"]
    assert [each.get("file", each.get("url")) for each in denied["body"]["evidence"]] == ["log.txt", "https://x/log"]


def test_the_events_of_a_denial_tell_its_note(world: Path) -> None:
    """Beside who refused it."""
    ledger("review", "deny", call_ids()[BOSS], *WHY[:4])
    assert "It was not executed. (by ada): I looked\n" in ledger("audit", "call", call_ids()[BOSS]).stdout


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([], ""),
        ([{"url": "https://x"}, {"file": "a", "sha256": "ff", "size": 1}], "https://x; a (1 byte, SHA-256 ff)"),
        ([{"url": "https://x", "page": 3}], '{"url": "https://x", "page": 3}'),
        ([{"file": "a"}, "a word", None], '{"file": "a"}; a word; -'),
    ],
)
def test_evidence_is_told_in_words(found: list[Any], told: str) -> None:
    """Files and URLs as people read them, and what else a host gave as it is."""
    assert evidence(found) == told


def test_a_note_and_an_anonymous_word() -> None:
    """A note has its evidence behind it; what is not recorded is not shown."""
    at = "2026-12-01T00:00:00.000000Z"
    said = {"by": "ada", "at": at, "text": "asked"}
    assert note(said) == "ada, 2026-12-01 00:00:00: asked"
    assert note(said | {"evidence": [{"url": "https://x"}]}).endswith(": asked (evidence: https://x)")
    assert note(said | {"verified": True}).startswith("ada (verified), 2026")
    row = dict.fromkeys(("osUser", "host", "note", "settledBy", "supersededBy"))
    word: dict[str, Any] = {
        **row,
        "decision": "run",
        "run": True,
        "by": "ada",
        "verified": True,
        "at": at,
        "evidence": [],
    }
    lines = [paint(line, color=False) for line in decision(word)]
    assert lines == ["", "Verdict", "  verdict  run", "  by       ada (verified), 2026-12-01 00:00:00 UTC"]
