"""Tests state facts, and none of them may be switched off or wait for the clock."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.quality.tree import functions, named, python_files, syntax, text

SWITCHED_OFF = re.compile(r"\bsleep\((?!0\))|\bxfail\b|\bskipif\b|\bskip\(|mark\.skip\b|\bimportorskip\b|\bskipTest\b")


def facts() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every test function with the place where it stands."""
    for path in python_files("tests"):
        for function in functions(syntax(path)):
            if function.name.startswith("test"):
                yield f"{path}:{function.lineno} {function.name}", function


def asserts(function: ast.AST) -> bool:
    """Tell whether a test asserts, expects an exception, or calls a helper whose name says that it checks."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = named(node.func)
            if name in {"raises", "warns", "fail"} or name.startswith(("check", "assert", "expect")):
                return True
    return False


def test_every_test_states_a_fact() -> None:
    """Every test function has a docstring that ends as a sentence does."""
    mute = [where for where, function in facts() if not (ast.get_docstring(function) or "").endswith(".")]
    assert mute == []


def test_every_test_asserts() -> None:
    """Every test function asserts something, itself or through a helper whose name says that it checks."""
    harmless = [where for where, function in facts() if not asserts(function)]
    assert harmless == []


def test_no_test_is_switched_off_or_sleeps() -> None:
    """No test is marked to be passed over or to fail, and none waits by sleeping, not even in a child's source.

    `asyncio.sleep(0)` waits for nothing: it lets the other tasks run.
    """
    found = [
        f"{path}:{number} {line.strip()}"
        for path in python_files("tests")
        for number, line in enumerate(text(path).splitlines(), 1)
        if SWITCHED_OFF.search(line)
    ]
    assert found == []


def test_test_files_mirror_the_package() -> None:
    """A folder of tests is named like a part of the package, or like one of the few subjects that cut across it."""
    across = {"quality", "suite", "docs", "examples", "crash", "soak", "helpers", "typing", "faults", "cases"}
    parts = {path.parts[1].removesuffix(".py") for path in python_files("ledger") if len(path.parts) > 1}
    folders = {path.parts[1] for path in python_files("tests") if len(path.parts) > 2}
    assert folders - parts - across == set()
    assert Path("tests/quality/test_tests.py") in python_files("tests")
