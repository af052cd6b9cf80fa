"""`python -m examples.retirement`: two tools go through all stages, beside sessions that knew them."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from examples.retirement.tools import APPROVER, Code, Releases, equip
from examples.scripted import Ask, reply
from ledger import Ledger
from ledger.catalog import default_catalog_root
from ledger.cli import main as command_line
from ledger.demo.sample import lay_out
from ledger.importing import Wanted, import_file

TOOLS = ("search_code", "grep", "glob", "deploy", "prepare_release", "publish_release")
OLD, PENDING = "old-transcript", "left-behind"
"""A session that another program wrote down a year ago, and one whose deployment was never started."""
SEARCH: Ask = ("search_code", {"query": "def page_of", "look_in": "texts"})
DEPLOY: Ask = ("deploy", {"service": "site", "version": "1.5.0"})
INSTEAD: dict[str, list[Mapping[str, Any]]] = {
    "search_code": [
        {"tool": "grep", "when": "you know a text (look_in was texts)", "example": {"text": "def page_of"}},
        {"tool": "glob", "when": "you know a name (look_in was names)", "example": {"pattern": "*.py"}},
    ],
    "deploy": [
        {"tool": "prepare_release", "when": "first", "example": {"service": "site", "version": "1.5.0"}},
        {"tool": "publish_release", "when": "then; a person approves it", "example": {"release": "site-1.5.0"}},
    ],
}
_CALL_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
HINTS = {"search_code": "One search became two.", "deploy": "Preparing became a step of its own; so did publishing."}


class Shop:
    """A program that is released again and again, in one folder: its catalog, its ledger, its code and releases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder}/ledger.db"
        self.catalog = folder / "catalog"
        for name in TOOLS:
            shutil.copytree(default_catalog_root() / name, self.catalog / name)
        shutil.copy(default_catalog_root() / "catalog.json", self.catalog)
        self.code, self.releases = Code(lay_out(folder / "work")), Releases(folder)

    @contextmanager
    def program(self) -> Iterator[Ledger]:
        with Ledger.open(self.url, catalog=self.catalog) as ledger:
            equip(ledger, self.code, self.releases)
            yield ledger

    def command(self, *words: str) -> tuple[int, str]:
        """Run `ledger …` on this catalog and ledger; return how it ended, and what it said about an error."""
        done = CliRunner().invoke(command_line, [*words, "--db", self.url, "--catalog", str(self.catalog), "--json"])
        return done.exit_code, json.loads(done.stdout).get("error", {}).get("message", "")

    def retire(self, tool: str, stage: str) -> str:
        """Return what became of it, as a line."""
        words = ["--hint", HINTS[tool]] if stage == "hidden" else []
        for each in INSTEAD[tool] if stage == "hidden" else ():
            words += ["--use", json.dumps(each)]
        status, why = self.command("tool", "retire", tool, "--stage", stage, *words)
        return f"{tool} is {stage} now" if status == 0 else f"refused: {_CALL_ID.sub('…', why)}"


def offered(ledger: Ledger, session_id: str) -> set[str]:
    """Return which of our tools a session is offered."""
    tools = ledger.session(session_id).tools()
    return {tool["function"]["name"] for tool in tools} & set(TOOLS)


def ask(ledger: Ledger, session_id: str, call: Ask) -> dict[str, Any]:
    """Let the model of a session make a call; return what it reads."""
    with ledger.session(session_id) as session:
        messages = session.messages()
        session.tools()
        result = session.dispatch(reply("openai", [call], number=len(messages))).calls[0]
        return dict(result.answer)


def line(what: str, answer: Mapping[str, Any]) -> str:
    instead = " ".join(each["tool"] for each in answer.get("replacement", ()))
    words = [answer["status"], answer.get("code"), answer["next"], f"instead: {instead}" if instead else None]
    return f"  {what:32}{', '.join(word for word in words if word)}"


def begin(shop: Shop) -> None:
    """While both tools are active: an old transcript is imported, and a deployment is asked for and left behind."""
    import_file(Path(__file__).with_name("old.json"), shop.url, wanted=Wanted(session_id=OLD))
    with shop.program() as ledger, ledger.session(PENDING) as session:
        session.propose(*DEPLOY)


def look(shop: Shop, stage: str) -> None:
    """Show what becomes of both tools in a stage."""
    print(f"{stage}:")
    with shop.program() as ledger:
        print(f"  {'a new session is offered':32}{' '.join(sorted(offered(ledger, f'new in {stage}')))}")
        extra = offered(ledger, OLD) - offered(ledger, f"new in {stage}")
        print(f"  {'the old one besides':32}{' '.join(sorted(extra)) or '-'}")
        print(line("search_code, in the old one", ask(ledger, OLD, SEARCH)))
        if stage != "hidden":  # there it would simply deploy
            print(line("deploy, in the old one", ask(ledger, OLD, DEPLOY)))
            ledger.session(PENDING).messages()
            [row] = ledger.calls(session=PENDING)
            print(f"  {'the deployment left behind':32}{row['state']}, {row['reason']}")
            print(f"  {'the users get':32}{shop.releases.public() or 'nothing'}")


def go_on(shop: Shop) -> None:
    """The model takes what it was told to take; publishing is approved, and the left behind one given up."""
    with shop.program() as ledger:
        prepared = ask(ledger, OLD, ("prepare_release", DEPLOY[1]))
        print(line("prepare_release instead", prepared))
        print(line("publish_release then", ask(ledger, OLD, ("publish_release", prepared["data"]))))
        [asked] = ledger.reviews(session=OLD, kind="approval")
        ledger.approve(str(asked["callId"]), by=APPROVER)
        with ledger.session(OLD) as session:
            session.wait(0)
        [left] = ledger.calls(session=PENDING)
        ledger.resolve(str(left["callId"]), "abandon", by=APPROVER, note="It was published in another way.")
        print(f"  {'approved; the users get':32}{shop.releases.public()}")


def reword(shop: Shop) -> None:
    """Give grep another description, with a model that goes by it; show what audit counts for each."""
    file = shop.catalog / "grep" / "tool.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    wordings = ("Search.", document["description"])
    asks = ([("grep", {"query": "page"}), ("glob", {"pattern": "*"})] * 2, [("grep", {"text": "page"})] * 3)
    for number, (wording, calls) in enumerate(zip(wordings, asks, strict=True)):
        file.write_text(json.dumps(document | {"description": wording}), encoding="utf-8")
        with shop.program() as ledger, ledger.session(f"wording {number}") as session:
            session.dispatch(reply("openai", [*calls, ("glob", {"pattern": "*.txt"})]))
    with shop.program() as ledger:
        print("a reworded description (ledger audit stats --by description):")
        for number, wording in enumerate(wordings):
            rows = ledger.stats(by="description", session=f"wording {number}")
            [row] = [row for row in rows if row["description"] == wording]
            print(f"  {wording:46}{row['calls']} of {row['of']} calls, {row['rejected']} rejected")


def story(folder: Path) -> Shop:
    """Tell it all; return the program as it is then."""
    shop = Shop(folder)
    begin(shop)
    print(shop.retire("deploy", "compat"))
    for stage in ("hidden", "compat"):
        for tool in INSTEAD:
            print(shop.retire(tool, stage))
        look(shop, stage)
    go_on(shop)
    print(shop.retire("search_code", "removed"))
    for name in (OLD, PENDING):
        shop.command("session", "close", name)
    for tool in INSTEAD:
        print(shop.retire(tool, "removed"))
    with shop.program() as ledger:
        print(line("search_code, in a new session", ask(ledger, "new in removed", SEARCH)))
        print(line("deploy, in a new session", ask(ledger, "new in removed", DEPLOY)))
    status, _ = shop.command("replay", "session", OLD)
    print(f"  {'the old transcript, replayed':32}exit status {status}")
    print(shop.retire("search_code", "hidden"))
    reword(shop)
    return shop


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        story(Path(folder))


if __name__ == "__main__":
    main()
