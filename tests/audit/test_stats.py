"""Counts of calls, their rates and intervals."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.audit import stat_rows
from ledger.audit.stats import GROUPS, wilson
from ledger.errors import UsageError
from tests.audit.world import everything, opened


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("world")
    everything(folder)
    with opened(folder) as found:
        yield found


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (1, 1, 0.2065, 1.0),
        (15, 148, 0.0624, 0.1605),
        (500, 1000, 0.4691, 0.5309),
    ],
)
def test_intervals_are_wilsons(hits: int, count: int, low: float, high: float) -> None:
    """The 95 % score interval; 15 of 148 is the textbook's example (Newcombe 1998: 0.0624 to 0.1605)."""
    found = [end or 0.0 for end in wilson(hits, count)]
    assert found == pytest.approx([low, high], abs=1e-4)
    assert 0 <= found[0] <= hits / count <= found[1] <= 1


def test_nothing_is_known_of_no_calls() -> None:
    """Without a call there is neither rate nor interval."""
    assert wilson(0, 0) == (None, None)


def test_calls_are_counted_by_tool_and_version(ledger: Ledger) -> None:
    """Question 17: per tool and version how many calls, how they ended, and exact percentiles of their durations."""
    rows = {row["tool"]: row for row in ledger.stats()}
    find = rows["find"]
    ended = find["succeeded"] + find["rejected"]
    assert (find["schemaVersion"], find["calls"], find["ended"], find["open"]) == (1, 5, ended, 1)
    assert (find["of"], find["share"]) == (13, 5 / 13)
    assert (find["succeededRate"], find["repairableRate"]) == (0.5, 0.5)
    assert 0 < find["succeededRateLow"] < 0.5 < find["succeededRateHigh"] < 1
    assert find["timed"] == 2
    assert 0 <= find["p50Ms"] <= find["p95Ms"]
    durations = sorted(row["durationMs"] for row in ledger.calls(tool="find") if row["durationMs"] is not None)
    assert (find["p50Ms"], find["p95Ms"]) == (durations[0], durations[1])
    assert sum(row["calls"] for row in rows.values()) == 13


def test_failures_by_class(ledger: Ledger) -> None:
    """Question 3: what failed, by whose fault and by which code, since a time."""
    rows = {(row["errorClass"], row["code"]): row["calls"] for row in ledger.stats(by="code")}
    assert rows["policy", "no"] == 1
    assert {key for key in rows if key[0] == "model"} == {
        ("model", "invalid_json"),
        ("model", "lone_surrogate"),
        ("model", "unknown_tool"),
    }
    assert sum(rows.values()) == 13
    assert list(ledger.stats(by="code", since="2099-01-01")) == []
    odds: list[Any] = [None, True, ["code", {}], "colour"]
    for odd in odds:
        with pytest.raises(UsageError, match="calls are not counted by"):
            ledger.stats(by=odd)


def test_what_a_model_can_repair_by_wording(ledger: Ledger) -> None:
    """Question 7: per tool, wording and model the calls that the model could put right, with n and an interval."""
    rows = {(row["tool"], row["model"]): row for row in ledger.stats(by="description", tool="find")}
    row = rows["find", "m-1"]
    assert (row["description"], len(row["descriptionDigest"])) == ("Find.", 64)
    assert (row["repairable"], row["ended"]) == (2, 3)
    assert row["repairableRate"] == pytest.approx(2 / 3)
    assert 0 < row["repairableRateLow"] < row["repairableRateHigh"] < 1


@pytest.mark.parametrize("word", list(GROUPS))
def test_every_word_counts_every_call(ledger: Ledger, word: str) -> None:
    """Whatever they are counted by, the groups hold all calls once, those with the most first, alike in their keys."""
    rows = list(stat_rows(ledger.reader, word))
    counts = [row["calls"] for row in rows]
    assert sum(counts) == 13
    assert counts == sorted(counts, reverse=True)
    assert len({tuple(row) for row in rows}) == 1


def test_words_together_make_finer_groups(ledger: Ledger) -> None:
    """Several words are several columns, each once; without a tenant it is null."""
    rows = list(ledger.stats(by=["tenant", "tool", "version"]))
    assert list(rows[0])[:4] == ["tenant", "tool", "schemaVersion", "stage"]
    assert {row["tenant"] for row in rows} == {"acme", None}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"by": "colour"}, "not counted by 'colour'"),
        ({"by": "tool; DROP TABLE event"}, "not counted by"),
        ({"by": ["tool", "position) --"]}, "not counted by"),
        ({"type": "nope"}, "there is no type 'nope'"),
        ({"limit": 3}, "there is no filter 'limit'"),
    ],
)
def test_a_wrong_question_is_told_at_once(ledger: Ledger, asked: dict[str, Any], why: str) -> None:
    """Columns to count by are a closed set: nothing of a question becomes SQL."""
    with pytest.raises(UsageError, match=r"there is no|not counted") as refused:
        ledger.stats(**asked)
    assert why in refused.value.message


def test_nothing_is_counted_in_an_empty_ledger(tmp_path: Path) -> None:
    """No call, no group."""
    with opened(tmp_path) as empty:
        assert list(empty.stats()) == []
