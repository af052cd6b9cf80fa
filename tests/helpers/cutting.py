"""A line between a program and its PostgreSQL server that can be cut, before a request or before an answer."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy.engine import make_url

COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"
"""What the server answers to a COMMIT (https://www.postgresql.org/docs/current/protocol-message-formats.html)."""


class Line:
    """
    Passes bytes on. `cut_answer(data)` and `cut_request(data)` say of each piece whether to drop it and cut the line.

    `cuts` counts; `url` leads through the line.
    """

    def __init__(self, url: str, folder: Path) -> None:
        there = make_url(url)
        self._there = str(there.query.get("host") or there.host), there.port or 5432
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen(64)
        here = there.set(host=None, port=None).update_query_dict({"host": str(folder)})
        self.url = here.render_as_string(hide_password=False)
        self.cut_answer: Callable[[bytes], bool] = lambda _: False
        self.cut_request: Callable[[bytes], bool] = lambda _: False
        self.cuts = 0
        self._open: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = self._connect()
            self._open |= {near, far}
            for pair in ((near, far, "cut_request"), (far, near, "cut_answer")):
                thread = threading.Thread(target=self._pass, args=pair)
                self._threads.append(thread)
                thread.start()

    def _connect(self) -> socket.socket:
        host, port = self._there
        if host.startswith("/"):
            far = socket.socket(socket.AF_UNIX)
            far.connect(f"{host}/.s.PGSQL.{port}")
            return far
        return socket.create_connection((host, port))

    def _pass(self, source: socket.socket, target: socket.socket, cut: str) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if getattr(self, cut)(data):
                    self.cuts += 1
                    break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._open:
            end.close()


def commits(numbers: Iterator[bool]) -> Callable[[bytes], bool]:
    """Return a rule for answers: of those that tell of a COMMIT drop each for which the next of `numbers` is true."""
    return lambda data: COMMITTED in data and next(numbers, False)
