"""The agent behind the web server: one tool that writes, one policy, a scripted model; async from end to end."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from examples.scripted import Messages, reply
from ledger import Ledger

PATIENCE = 30.0
"""Seconds that a request waits while another worker has the session."""


def open_ledger(folder: Path) -> Ledger:
    """Open the ledger that all workers share; each process opens its own handle."""
    ledger = Ledger.open(f"sqlite:///{folder}/ledger.db")
    orders = folder / "orders.txt"

    @ledger.tool(effect="write", resource_keys=lambda arguments: [f"order:{arguments['order']}"])
    async def place_order(order: str) -> dict[str, Any]:
        """Place an order."""
        await asyncio.to_thread(_append, orders, f"{order} {os.getpid()}\n")
        return {"order": order, "placed": True}

    return ledger


def _append(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line)


async def model(messages: Messages) -> dict[str, Any]:
    """Stand for a provider's client: places the order that the last user asked for, then says so."""
    last = messages[-1]
    await asyncio.sleep(0)
    if last["role"] == "user":
        return reply("openai", [("place_order", {"order": last["content"]})], number=len(messages))
    return reply("openai", "It is placed.", number=len(messages))


async def answer(ledger: Ledger, session_id: str, content: str, key: str) -> dict[str, Any]:
    """
    Take a user's message and return the agent's answer, on whichever worker the request landed.

    `key` is the client's: a request that is sent again (its answer was lost) adds no second message, nor an order.
    """
    async with ledger.asession(session_id, wait=PATIENCE) as session:
        await session.amessages()
        await session.aadd({"role": "user", "content": content}, key=key)
        while not session.final:
            await session.adispatch(await model(await session.amessages()))
        return {"session": session_id, "answer": (await session.amessages())[-1]["content"], "worker": os.getpid()}
