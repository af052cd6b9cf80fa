"""Commands to copy."""

import pytest

from ledger.cli.commands import argued, copyable, pasteable
from ledger.cli.shell import Shell
from tests.cli.running import ledger

GIVEN = Shell(db="sqlite:///my agent.db", catalog="tools", given={"db", "catalog"})


@pytest.mark.parametrize(
    ("shell", "words", "line"),
    [
        (Shell(db="sqlite:///x.db"), ["review", "list"], "ledger review list"),
        (GIVEN, ["review", "list"], "ledger review list --db 'sqlite:///my agent.db' --catalog tools"),
        (GIVEN, ["resume", "s", "--app", "app:ledger"], "ledger resume s --app app:ledger"),
        (Shell(db="x.db", given={"db"}), ["session", "show", *argued("-s")], "ledger session show --db x.db -- -s"),
        (Shell(db="a://u:p@h/l", given={"db"}), ["db", "path"], "ledger db path --db a://u@h/l"),
    ],
)
def test_a_command_names_what_was_named(shell: Shell, words: list[str], line: str) -> None:
    """What stood on the line stands on the printed one; what the environment says is found again anyway."""
    assert copyable(shell, *words) == line


def test_a_command_leaves_out_what_the_environment_names_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """LEDGER_DB may have the password, which no printed command has."""
    shell = Shell(db="a://u:p@h/l", given={"db"})
    monkeypatch.setenv("LEDGER_DB", "a://u:p@h/l")
    assert copyable(shell, "review") == "ledger review"
    monkeypatch.setenv("LEDGER_DB", "a://u:p@h/other")
    assert copyable(shell, "review") == "ledger review --db a://u@h/l"


def test_the_commands_in_a_text_do_too() -> None:
    """Other words in backquotes, and the text around, stay as they are."""
    text = "Run `ledger db check`, then `stop` it: `ledger resume S --app MODULE:LEDGER`."
    assert pasteable(Shell(), text) == text
    named = "`ledger db check --db 'sqlite:///my agent.db' --catalog tools`"
    assert pasteable(GIVEN, text) == text.replace("`ledger db check`", named)


def test_an_argument_that_looks_like_an_option() -> None:
    """It stands behind all options and `--`."""
    assert argued("s", "--app", "a:b") == ("s", "--app", "a:b")
    assert argued("-s", "--app", "a:b") == ("--app", "a:b", "--", "-s")


def test_hints_can_be_pasted(world: object) -> None:
    """The hint of an error, and those behind a list, work on the ledger that was named."""
    db = ("--db", "sqlite:///./ledger.db")
    assert "See `ledger session list --db sqlite:///./ledger.db`." in ledger("session", "show", "x", *db).stderr
    assert "`ledger review show CALL --db sqlite:///./ledger.db`" in ledger("review", "list", *db).stderr
    assert "`ledger review show CALL`" in ledger("review", env={"LEDGER_DB": db[1]}).stderr
