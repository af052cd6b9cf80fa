"""Ctrl-C at a chosen line: the moments that no signal of a test would ever hit."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any


def interrupted_at(line: int, code: CodeType, call: Callable[[], object]) -> bool:
    """
    Call with a Ctrl-C just before the n-th line that runs in a function's code; False if it has fewer lines.

    A `with` line comes twice, the second time to leave: there a signal is never handled before the lock is released
    (the interpreter looks for signals behind a call), so only the first time counts.
    """
    left = [line]
    entered: set[int] = set()

    def local(frame: FrameType, event: str, _: object) -> Any:
        leaving = linecache.getline(code.co_filename, frame.f_lineno).lstrip().startswith("with ")
        if event != "line" or (leaving and frame.f_lineno in entered):
            return local
        entered.add(frame.f_lineno)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return local

    def watch(frame: FrameType, _event: str, _: object) -> Any:
        return local if frame.f_code is code else None

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
