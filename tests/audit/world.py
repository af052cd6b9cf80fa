"""A ledger on a real file with calls of every kind: what the tests of the read side and of the command line look at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ledger import Allow, Ask, Deny, Ledger
from ledger.catalog import Catalog
from ledger.testing import crash

HOSTILE = "caf\udce9 中文 ✓ \x1b]52;c;eA==\x07\x9b31m\u202eevil\u2066\u200b\u2028\r\n\x00\x7f"


class Crashed(BaseException):
    """Stands for the end of the process."""


def end() -> None:
    raise Crashed


def reply(*calls: tuple[str, Any], text: str | None = None) -> dict[str, Any]:
    """A model's message; arguments that are a text go out as they are."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"c{n}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for n, (name, given) in enumerate(calls)
        ]
    return message


def opened(folder: Path, **settings: Any) -> Ledger:
    """A host: a read, an external tool that may lose its reply, and a policy that asks about the boss."""
    tools = folder / "schemas/tools"  # never those of the project, where the tests are started
    settings.setdefault("catalog", tools if tools.is_dir() else Catalog(tools={}, digest=""))
    ledger = Ledger.open(f"sqlite:///{folder}/ledger.db", **settings)

    @ledger.tool("send_email", effect="external")
    def send(to: str, body: str = "") -> dict[str, Any]:
        """Send an email."""
        if body == "lost":
            raise TimeoutError
        return {"sent": to, "id": 2512292042121000001}

    @ledger.tool(effect="read")
    def find(q: str) -> dict[str, Any]:
        """Find."""
        return {"q": q, "hits": [HOSTILE]}

    @ledger.authorize
    def policy(call: Any, principal: Any) -> Any:
        if call.arguments.get("to") == "boss@x":
            return Ask(who=["ada"], message=f"To the boss? {HOSTILE}")
        return Deny("no", "Not there.") if call.arguments.get("to") == "evil@x" else Allow()

    return ledger


def mixed(ledger: Ledger, name: str = "mix") -> None:
    """A session with a call of every kind."""
    with ledger.session(name, principal="ada", tenant="acme", agent="helper", model="m-1") as session:
        session.messages(start=[{"role": "user", "content": f"hi {HOSTILE}"}])
        session.dispatch(reply(("find", {"q": HOSTILE[4:]}), ("send_email", {"to": "a@x", "body": "hello"})))
        bad: tuple[tuple[str, Any], ...] = (("find", {"q": HOSTILE}), ("find", '{"q": "x'), (f"nosuch{HOSTILE}", {}))
        session.dispatch(reply(("send_email", {"to": "boss@x"}), ("send_email", {"to": "evil@x"}), *bad))
        session.dispatch(reply(("send_email", {"to": "b@x", "body": "lost"})))
        session.dispatch(reply(("send_email", {"to": "b@x", "body": "lost"})))


def finished(ledger: Ledger, name: str = "done") -> None:
    """A closed session with one call and an answer."""
    with ledger.session(name, principal="bob") as session:
        session.messages(start=[{"role": "user", "content": "hi"}])
        session.dispatch(reply(("find", {"q": "1"})))
        session.dispatch(reply(text="All done."))
        session.close()


def crashed(folder: Path, name: str = "crash") -> None:
    """A session whose process died behind the start of a write: another write and a read never started."""
    with opened(folder) as ledger:
        crash.arm(ledger, crash.after("call.started"), end=end)
        try:
            with ledger.session(name, principal="ada") as session:
                calls = ("send_email", {"to": "c@x"}), ("send_email", {"to": "d@x"}), ("find", {"q": "2"})
                session.dispatch(reply(*calls))
        except Crashed:
            return


def everything(folder: Path) -> None:
    """All three sessions, in `ledger.db` of the folder."""
    with opened(folder) as ledger:
        mixed(ledger)
        finished(ledger)
    crashed(folder)


def calls(ledger: Ledger, session: str) -> dict[str, Any]:
    """The calls of a session by their place, as rows."""
    return {f"{row['turn']}.{row['index']}": row for row in ledger.calls(session=session)}
