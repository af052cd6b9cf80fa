"""
What coverage traces of a test run: what tests and their fixtures run, and nothing else.

Before Python 3.14 tracing slows down every line, those of the test runner and of libraries too. So the machinery
between tests is not traced, nor the process that only hands them to workers, nor a test that is marked `uncounted`
because others reach the same lines. That can make a line missing; it never hides one that no test reaches.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator
from typing import Any

import pytest

CHILDREN = ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
"""By these a Python that a test starts is told to trace itself (https://coverage.readthedocs.io/en/latest/subprocess.html)."""


def untraced() -> dict[str, str]:
    """Return the environment for a Python that does what other tests reach in a traced process: it starts sooner."""
    return {name: value for name, value in os.environ.items() if name not in CHILDREN}


def stop() -> None:
    """Trace neither this thread nor those that it starts."""
    sys.settrace(None)
    threading.settrace(None)


class Counting:
    """A plugin: tracing is off between tests, and on while one runs, is set up or torn down."""

    def __init__(self) -> None:
        self._tracers: list[tuple[Any, Any]] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool, bool]:
        here, threads = sys.gettrace(), threading.gettrace()
        counted = item.get_closest_marker("uncounted") is None
        hidden = {} if counted else {name: os.environ.pop(name) for name in CHILDREN if name in os.environ}
        self._tracers.append((here, threads) if counted else (None, None))
        stop()
        try:
            return (yield)
        finally:
            self._tracers.pop()
            os.environ.update(hidden)
            threading.settrace(threads)
            sys.settrace(here)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self) -> Generator[None, Any, Any]:
        return (yield from self._traced())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        return (yield from self._traced())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, Any, Any]:
        return (yield from self._traced())

    def _traced(self) -> Generator[None, Any, Any]:
        here, threads = self._tracers[-1] if self._tracers else (None, None)
        if here is None or sys.gettrace() is not None:
            return (yield)
        threading.settrace(threads)
        sys.settrace(here)
        try:
            return (yield)
        finally:
            stop()
