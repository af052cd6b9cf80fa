"""The files of a new project: a catalog with one tool, and a small program that records its calls."""

from __future__ import annotations

import posixpath
from json import dumps
from typing import Any, Final

from ledger.catalog.files import meta_texts

CATALOG: Final[dict[str, Any]] = {
    "$schema": "../meta/catalog.schema.json",
    "dialect": "https://json-schema.org/draft/2020-12/schema",
}

TOOL: Final[dict[str, Any]] = {
    "$schema": "../../meta/tool.schema.json",
    "name": "add_note",
    "title": "Add note",
    "description": "Append one line to the notes.",
    "useWhen": "The user asks to remember something.",
    "runbook": "Look whether notes.txt ends with {text}.",
    "current": 1,
    "versions": {"1": {"contract": {"effect": "write", "resourceKeys": ["notes"]}}},
}

SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string", "description": "What to remember.", "minLength": 1, "maxLength": 500}},
}

APP: Final = '''\
"""A small agent whose tool calls are recorded. Try: python app.py"""

from pathlib import Path

from ledger import Allow, Ask, Ledger

NOTES = Path("notes.txt")

ledger = Ledger.open("@URL@", catalog="@CATALOG@")


@ledger.tool("add_note")  # its schema and contract are in @CATALOG@/add_note
def add_note(text: str) -> dict:
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(text + "\\n")
    return {"lines": len(NOTES.read_text(encoding="utf-8").splitlines())}


@ledger.tool(effect="read")  # its schema comes from the type hints
def read_notes() -> list:
    """Return all notes."""
    return NOTES.read_text(encoding="utf-8").splitlines() if NOTES.exists() else []


@ledger.authorize
def policy(call, principal):
    return Ask(message="A new note?") if call.tool == "add_note" else Allow()


class ScriptedModel:
    """Stands in for a model's client; yours returns the provider's reply."""

    script = [("read_notes", "{}"), ("add_note", '{"text": "milk"}')]

    def chat(self, messages, tools):
        turn = sum(message["role"] == "assistant" for message in messages)
        if turn >= len(self.script):
            return {"role": "assistant", "content": "Done."}
        name, arguments = self.script[turn]
        function = {"name": name, "arguments": arguments}
        return {"role": "assistant", "tool_calls": [{"id": f"c{turn}", "type": "function", "function": function}]}


def main():
    model = ScriptedModel()
    with ledger.session("first", principal="you") as session:  # the same id after a crash: it carries on
        messages = session.messages("openai", start=[{"role": "user", "content": "Remember the milk."}])
        waits = session.wait(0).waiting  # of an earlier run
        while not (waits or session.final):
            reply = model.chat(messages, tools=session.tools("openai"))
            results = session.dispatch(reply)
            messages += results.messages
            waits = results.waiting
        if waits:
            print("A call waits for a person. Look at it:", @REVIEW@)
            return
        session.close()
    print(messages[-1]["content"])


if __name__ == "__main__":
    main()
'''


def files(url: str, catalog: str, review: str) -> dict[str, str]:
    """Return each file's text by its path, for this ledger, this catalog and this command to review."""
    app = (
        APP.replace("@REVIEW@", dumps(review))
        .replace('"@URL@"', dumps(url))
        .replace('"@CATALOG@"', dumps(catalog))
        .replace("@CATALOG@", catalog)
    )
    return {
        "app.py": app,
        f"{catalog}/catalog.json": _json(CATALOG),
        f"{catalog}/add_note/tool.json": _json(TOOL),
        f"{catalog}/add_note/v1.json": _json(SCHEMA),
        **{posixpath.normpath(f"{catalog}/../meta/{name}"): text for name, text in meta_texts().items()},
    }


def _json(document: dict[str, Any]) -> str:
    return dumps(document, indent=2) + "\n"
