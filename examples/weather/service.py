"""The weather service: a real HTTP server on this machine that keeps a log of every request that reached it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

DEGREES = {"Oslo": -3.0, "Lima": 24.0, "Nairobi": 19.0}
"""In celsius; there is no other city."""


class Service:
    """
    Listens on 127.0.0.1 as long as its `with` block runs; `address` is host and port.

    `requests` is its log (method and target as they came), `reports` and `refunds` are what it keeps. As often as
    `stalls` says, it does what it was asked for and never answers: the worst that a network can do to a caller.
    """

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.reports: list[dict[str, Any]] = []
        self.refunds: dict[str, int] = {}
        self.stalls = 0
        self._lock = threading.Condition()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Do what a request asks for and return status and body; what it asks for is in its target and its body."""
        with self._lock:
            self.requests.append(f"{method} {target}")
            self._lock.notify_all()
            asked = urlsplit(target)
            match method, asked.path:
                case "GET", "/weather":
                    return self._weather(dict(parse_qsl(asked.query)))
                case "POST", "/reports":
                    self.reports.append(json.loads(body))
                    return 201, {"number": len(self.reports)}
                case "POST", "/refunds":
                    order = json.loads(body)
                    self.refunds[order["order_id"]] = self.refunds.get(order["order_id"], 0) + order["amount"]
                    return 201, order
                case _:
                    return 404, {"error": "There is nothing here."}

    def wait_for(self, number: int) -> bool:
        """Wait until this many requests are in the log; False if they do not come within 10 seconds."""
        with self._lock:
            return self._lock.wait_for(lambda: len(self.requests) >= number, timeout=10)

    def _weather(self, query: dict[str, str]) -> tuple[int, dict[str, Any]]:
        celsius = DEGREES.get(query.get("city", ""))
        if celsius is None:
            return 404, {"error": "There is no such city."}
        degrees = celsius if query["units"] == "celsius" else celsius * 9 / 5 + 32
        return 200, query | {"temperature": degrees}

    def stalling(self) -> bool:
        """Whether this request is one that gets no answer; if so, wait until the service ends."""
        with self._lock:
            self.stalls, stalls = max(0, self.stalls - 1), self.stalls
        return stalls > 0 and self._closing.wait()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def _handle(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, found = service.answer(self.command, self.path, body)
                if service.stalling():
                    return
                text = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = _handle  # noqa: N815 - the names that http.server looks for

            def log_message(self, format: str, *args: Any) -> None:
                """Write nothing: the log is `requests`."""

        return Handler
