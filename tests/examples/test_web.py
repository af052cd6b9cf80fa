"""Many sessions on several worker processes of one async web server, requests landing anywhere."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from examples.web.__main__ import many, post, run, told
from examples.web.app import open_ledger
from examples.web.server import listen, start, stop
from tests.examples.running import shown


def test_two_hundred_sessions_on_four_workers(tmp_path: Path) -> None:
    """Every request is answered without an error, every order is placed once, all workers took part and ended well."""
    found = run(tmp_path, sessions=200, requests=1)
    assert found == {
        "answers": 200,
        "errors": [],
        "workers": 4,
        "orders": 200,
        "orderedTwice": [],
        "statuses": [0, 0, 0, 0],
    }
    assert told(found) == shown("web").replace("400", "200")  # the page's run sends two messages for each user
    with open_ledger(tmp_path) as ledger:
        assert {row["state"] for row in ledger.calls()} == {"succeeded"}
        assert list(ledger.reviews()) == []


def test_requests_for_one_session_wait_for_each_other(tmp_path: Path) -> None:
    """At once, on any worker: each gets its answer; one that is sent again adds nothing; a wrong one is told so."""

    async def send(port: int) -> list[tuple[int, dict[str, Any]]]:
        sent = [post(port, "one", f"order-{number}", f"key-{number}") for number in range(6)]
        again = [post(port, "one", "order-0", "key-0"), post(port, "one", "another", "key-0")]
        return [*await asyncio.gather(*sent), *[await each for each in again], await post(port, "_bad", "x", "y")]

    listening = listen()
    children = start(listening, tmp_path, 3)
    try:
        answers = asyncio.run(send(listening.getsockname()[1]))
        rest = asyncio.run(many(listening.getsockname()[1], 1, 2))
    finally:
        statuses = stop(children)
        listening.close()
    assert ([status for status, _ in answers], statuses) == ([200] * 7 + [409, 409], [0, 0, 0])
    assert [status for status, _ in rest] == [200, 200]
    orders = [line.split()[0] for line in (tmp_path / "orders.txt").read_text().splitlines()]
    assert sorted(orders) == sorted({f"order-{number}" for number in range(6)} | {"0-0", "0-1"})
