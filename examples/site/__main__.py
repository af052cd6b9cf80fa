"""`python -m examples.site`: one turn with four writes, and which of them the ledger let run together."""

from __future__ import annotations

import tempfile
from pathlib import Path

from examples.scripted import Script
from examples.site.tools import INDEX, Site, open_ledger

MODEL = Script(
    [
        [
            ("write_file", {"path": "about.txt", "text": "About us"}),
            ("write_file", {"path": "prices.txt", "text": "Prices"}),
            ("write_note", {"name": "to-do", "text": "Ask for the prices of next year."}),
            ("write_note", {"name": "done", "text": "Two pages."}),
        ],
        "The site has two pages.",
    ]
)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        site = Site.laid_out(folder)
        with open_ledger(f"sqlite:///{folder}/ledger.db", site) as ledger, ledger.session("site") as session:
            messages = session.messages(start=[{"role": "user", "content": "Write about us, and our prices."}])
            while not session.final:
                results = session.dispatch(MODEL.chat(messages, session.tools()))
                messages += results.messages
                for call in results.calls:
                    print(f"{call.tool:12}{call.state:11}{next(iter(call.result.values()))}")
            [plan] = ledger.events(session="site", types=["batch.planned"])
        print(f"keys        {plan['body']['resourceKeys']}")
        print(f"plan        {plan['body']['mode']}: {plan['body']['groups']}")
        print(f"index       {(site.pages.root / INDEX).read_text().split()}")


if __name__ == "__main__":
    main()
