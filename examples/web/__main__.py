"""`python -m examples.web`: many sessions, several workers on one file, requests landing anywhere."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from examples.web.server import listen, start, stop

SESSIONS, REQUESTS, WORKERS, AT_ONCE = 200, 2, 4, 32


async def post(port: int, session: str, content: str, key: str) -> tuple[int, dict[str, Any]]:
    """Send one request; return its status and what it says."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"content": content, "key": key}).encode()
    writer.write(f"POST /sessions/{session} HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    head, _, data = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), json.loads(data)


async def many(port: int, sessions: int, requests: int) -> list[tuple[int, dict[str, Any]]]:
    """Let each session's user send one message after the other; so many users at once."""
    room = asyncio.Semaphore(AT_ONCE)

    async def user(number: int) -> list[tuple[int, dict[str, Any]]]:
        found = []
        for turn in range(requests):
            async with room:
                found.append(await post(port, f"user-{number}", f"{number}-{turn}", f"message-{turn}"))
        return found

    return [each for found in await asyncio.gather(*map(user, range(sessions))) for each in found]


def run(folder: Path, *, sessions: int = SESSIONS, requests: int = REQUESTS) -> dict[str, Any]:
    """Start the workers, send everything, stop them; return what was counted."""
    listening = listen()
    children = start(listening, folder, WORKERS)
    try:
        answers = asyncio.run(many(listening.getsockname()[1], sessions, requests))
    finally:
        statuses = stop(children)
        listening.close()
    orders = Counter(line.split()[0] for line in (folder / "orders.txt").read_text().splitlines())
    return {
        "answers": len(answers),
        "errors": [body for status, body in answers if status != 200],  # noqa: PLR2004 - HTTP's OK
        "workers": len({body.get("worker") for _, body in answers}),
        "orders": sum(orders.values()),
        "orderedTwice": [order for order, times in orders.items() if times > 1],
        "statuses": statuses,
    }


def told(found: dict[str, Any]) -> str:
    """Return what was counted, a line each."""
    counts = found | {"errors": len(found["errors"]), "orderedTwice": len(found["orderedTwice"])}
    names = ("answers", "errors", "workers", "orders", "orderedTwice")
    return "".join(f"{name:13}{counts[name]}\n" for name in names)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(told(run(Path(folder))))


if __name__ == "__main__":
    main()
