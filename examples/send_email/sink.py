"""A mail server on this machine that keeps every message it accepted, and delivers none (SMTP, RFC 5321)."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from typing import Self

_ANSWERS = {"EHLO": "250 sink", "HELO": "250 sink", "MAIL": "250 OK", "RCPT": "250 OK", "RSET": "250 OK"}


@dataclass(frozen=True, slots=True)
class Received:
    """A message as it was accepted: who gets it by the envelope, its subject, its text, its own id."""

    recipients: tuple[str, ...]
    subject: str | None
    body: str
    message_id: str | None


class Sink:
    """Listens on 127.0.0.1 as long as its `with` block runs; `port` says where, `messages` is what it accepted."""

    def __init__(self) -> None:
        self.messages: list[Received] = []
        sink = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                for line in sink.talk(self):
                    self.wfile.write(line.encode() + b"\r\n")

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def talk(self, handler: socketserver.StreamRequestHandler) -> Iterator[str]:
        """Yield what is answered; a message counts from the moment before its acceptance is told."""
        yield "220 sink"
        recipients: list[str] = []
        while line := handler.rfile.readline():
            verb = line[:4].decode("ascii", "replace").upper()
            if verb == "RCPT":
                recipients.append(line.split(b"<", 1)[1].split(b">", 1)[0].decode())
            if verb == "DATA":
                yield "354 go on"
                self.messages.append(_received(recipients, b"".join(_data(handler))))
                recipients = []
                yield "250 accepted"
            elif verb == "QUIT":
                yield "221 bye"
                return
            else:
                yield _ANSWERS.get(verb, "502 not here")


def _data(handler: socketserver.StreamRequestHandler) -> Iterator[bytes]:
    """Yield the lines of a message, without the dot that doubles a dot at a line's beginning."""
    while (line := handler.rfile.readline()) not in (b".\r\n", b""):
        yield line.removeprefix(b".")


def _received(recipients: list[str], data: bytes) -> Received:
    message = message_from_bytes(data, policy=policy.default)
    return Received(tuple(recipients), message["Subject"], message.get_content(), message["Message-ID"])
