"""Times as people type and read them."""

import time
from datetime import UTC, datetime, timedelta, timezone

import click
import pytest
from click.testing import CliRunner

from ledger.cli.when import age_option, instant, moment_option, short_instant, span
from ledger.ids import age, moment

NOW = datetime(2026, 5, 10, 12, 0, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("15m", 900), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600), ("1h30m", 5_400), ("0s", 0)],
)
def test_ages(text: str, seconds: int) -> None:
    """An age is numbers with units, several in a row."""
    assert age(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "7", "d", "7x", "7 d", "-7d", "1.5h", "7D", "٧d", "999999999w"])
def test_other_ages_are_refused(text: str) -> None:
    """Anything else is refused with the way to write it, or as too long."""
    with pytest.raises(ValueError, match=r"is not a length of time: write 15m|is too long"):
        age(text)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("7d", "2026-05-03T10:00:00+00:00"),
        ("90m", "2026-05-10T08:30:00+00:00"),
        ("2026-05-01", "2026-05-01T00:00:00+00:00"),
        ("2026-05-01T12:00:00Z", "2026-05-01T12:00:00+00:00"),
        ("2026-05-01T09:00:00-03:00", "2026-05-01T12:00:00+00:00"),
        ("2026-05-01 12:00", "2026-05-01T12:00:00+00:00"),
        ("2026-05-01T12:00:00.123456", "2026-05-01T12:00:00.123456+00:00"),
    ],
)
def test_moments_are_utc(text: str, iso: str) -> None:
    """The offset is applied; without one the time is UTC by rule; an age counts back from now."""
    assert moment(text, NOW).isoformat() == iso


def test_the_rule_holds_in_every_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A naive time is UTC also where the machine's clock is not."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        found = moment("2026-05-01T12:00", NOW)
    time.tzset()
    assert found.isoformat() == "2026-05-01T12:00:00+00:00"


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01", "12:00", "0001-01-01T00:00:00+10:00", "200000w", "99999999w", "999999999w"]
)
def test_other_moments_are_refused(text: str) -> None:
    """Anything else is refused with the ways to write it, or as outside of the calendar."""
    with pytest.raises(ValueError, match=r"is not a time: write 7d|is outside of the calendar"):
        moment(text, NOW)


@click.command()
@moment_option("--since", "Not before.")
@age_option("--max-age", "Not older.")
def look(since: datetime | None, max_age: timedelta | None) -> None:
    click.echo(f"{since} {max_age}")


def test_options_give_values() -> None:
    """The options' types give a UTC time and a length of time."""
    before = datetime.now(UTC)
    result = CliRunner().invoke(look, ["--since", "1d", "--max-age", "15m"])
    day, hour, length = result.output.split()
    assert timedelta(0) <= datetime.fromisoformat(f"{day} {hour}") - (before - timedelta(days=1)) < timedelta(minutes=1)
    assert length == "0:15:00"


def test_options_may_be_left_out() -> None:
    """Without the option there is no value."""
    assert CliRunner().invoke(look, []).output == "None None\n"


@pytest.mark.parametrize("arguments", [["--since", "soon"], ["--max-age", "soon"]])
def test_options_refuse_other_text(arguments: list[str]) -> None:
    """A wrong time is wrong usage."""
    result = CliRunner().invoke(look, arguments)
    assert result.exit_code == 2
    assert "'soon' is not a" in result.output


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0s"),
        (59.9, "59s"),
        (60, "1m"),
        (61, "1m 1s"),
        (3600, "1h"),
        (3601, "1h"),
        (3660, "1h 1m"),
        (86_400, "1d"),
        (90_061, "1d 1h"),
        (200 * 86_400, "200d"),
    ],
)
def test_spans_have_their_two_largest_units(seconds: float, words: str) -> None:
    """A length of time is told as shortly as a person would."""
    assert span(seconds) == words


def test_recorded_times_in_tables() -> None:
    """To the second, in UTC; a session's table leaves out the year."""
    assert instant("2026-05-01T12:34:56.789012Z") == "2026-05-01 12:34:56"
    assert short_instant("2026-05-01T12:34:56.789012Z") == "05-01 12:34:56"
    assert instant(None) == short_instant(None) == instant("") == "-"
