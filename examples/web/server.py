"""A small HTTP server with several worker processes on one socket: a request lands wherever it does."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

from examples.web.app import answer, open_ledger
from ledger import Ledger, LedgerError

LARGEST = 64 * 1024


def listen() -> socket.socket:
    """Return a socket that all workers accept from."""
    found = socket.create_server(("127.0.0.1", 0), backlog=512)
    found.setblocking(False)  # noqa: FBT003 - the socket module's own signature
    return found


def start(listening: socket.socket, folder: Path, workers: int) -> list[int]:
    """Start the workers and return their process ids; each opens the ledger by itself, behind the fork."""
    children = []
    for _ in range(workers):
        pid = os.fork()
        if not pid:
            status = 1
            try:
                asyncio.run(_serve(listening, folder))
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
    return children


def stop(children: list[int]) -> list[int]:
    """Tell the workers to end, and return their statuses: 0 for each that ended as it was told."""
    for pid in children:
        os.kill(pid, signal.SIGTERM)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]


async def _serve(listening: socket.socket, folder: Path) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    ledger = open_ledger(folder)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        status, body = await _respond(ledger, reader)
        data = json.dumps(body).encode()
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, sock=listening)
    async with server:
        await ended.wait()
    await ledger.aclose()


async def _respond(ledger: Ledger, reader: asyncio.StreamReader) -> tuple[str, dict[str, Any]]:
    """Answer `POST /sessions/ID` with `{"content": …, "key": …}`."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        length = next(int(line.partition(":")[2]) for line in head if line.lower().startswith("content-length:"))
        if method != "POST" or not path.startswith("/sessions/") or length > LARGEST:
            return "404 Not Found", {"error": "POST /sessions/ID"}
        asked = json.loads(await reader.readexactly(length))
        return "200 OK", await answer(ledger, path.removeprefix("/sessions/"), asked["content"], asked["key"])
    except LedgerError as error:
        return "409 Conflict", {"error": error.code, "message": error.message}
    except (ValueError, KeyError, StopIteration, asyncio.IncompleteReadError) as error:
        return "400 Bad Request", {"error": type(error).__name__}
