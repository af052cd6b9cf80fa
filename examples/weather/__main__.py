"""`python -m examples.weather`: what becomes of right and wrong calls, and how many requests left the program."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from examples.scripted import Format, Script
from examples.weather.service import Service
from examples.weather.tools import User, Weather, open_ledger
from ledger import CallResult, Ledger

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
USERS = {
    "ada": User("ada", frozenset({"weather:read", "weather:write", "refund:write"}), refund_limit=5000),
    "guest": User("guest", frozenset()),
}


def run(ledger: Ledger, case: dict[str, Any], format: Format = "openai") -> CallResult:
    """Let a scripted model make the case's call, and end; return the call."""
    model = Script([[(case["tool"], case["arguments"])], "That is all."], format)
    with ledger.session(f"{case['name']} {format}", principal=USERS[case["user"]]) as session:
        messages = session.messages(format, start=[{"role": "user", "content": "How is the weather?"}])
        calls: list[CallResult] = []
        while not session.final:
            results = session.dispatch(model.chat(messages, session.tools(format)), format=format)
            messages += results.messages
            calls += results.calls
    return calls[0]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Service() as service:
        ledger = open_ledger(f"sqlite:///{folder}/ledger.db", weather := Weather(service.address))
        print(f"{'INPUT':24}{'STOPPED AT':15}{'STATE':14}{'CODE':19}{'NEXT':13}REQUESTS")
        for case in CASES:
            service.stalls, before = case.get("stalls", 0), len(service.requests)
            weather.timeout = 0.5 if service.stalls else 10.0
            answer = (call := run(ledger, case)).answer
            row = f"{case['name']:24}{answer.get('gate', '-'):15}{call.state:14}{answer.get('code', '-'):19}"
            print(f"{row}{answer['next']:13}{len(service.requests) - before}")
        ledger.close()


if __name__ == "__main__":
    main()
