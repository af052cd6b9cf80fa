"""An exemption carries its reason, and nothing is left for later."""

import ast
import re

import pytest

from tests.quality.tree import comments, functions, named, python_files, syntax, text, tracked

# What each exemption must look like when it gives its reason.
REASONED = {
    "pragma:": re.compile(r"pragma: no (cover|branch) - \S+"),
    "noqa": re.compile(r"noqa: [A-Z]+[0-9]+(, ?[A-Z]+[0-9]+)* - \w+"),
    "type: ignore": re.compile(r"type: ignore\[[a-z, -]+\]  # \w+"),
    "fmt:": re.compile(r"fmt: (on|off|skip) - \w+"),
}
LATER = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK")) + r")\b")


def bare(comment: str) -> list[str]:
    """Return the exemptions of a comment that give no reason."""
    return [word for word, reasoned in REASONED.items() if word in comment and not reasoned.search(comment)]


@pytest.mark.parametrize(
    ("comment", "lacking"),
    [
        ("# pragma: no cover", ["pragma:"]),
        ("# pragma: no cover - the process is gone by then", []),
        ("# noqa: BLE001", ["noqa"]),
        ("# noqa", ["noqa"]),
        ("# noqa: BLE001, S110 - a tool may raise anything", []),
        ("# type: ignore[misc]", ["type: ignore"]),
        ("# type: ignore[misc]  # the library has no types", []),
        ("# type: ignore[misc]  # noqa: BLE001 - a tool may raise anything", []),
        ("# plain", []),
    ],
)
def test_a_bare_exemption_is_seen(comment: str, lacking: list[str]) -> None:
    """An exemption without a reason is told from one with a reason."""
    assert bare(comment) == lacking


def test_exemptions_carry_a_reason() -> None:
    """Every exemption from coverage, lint, types or format in the project says why on its line."""
    found = [
        f"{path}:{number} {comment}"
        for path in python_files()
        if any(word in text(path) for word in REASONED)
        for number, comment in comments(path)
        if bare(comment)
    ]
    assert [line for line in found if not line.startswith("tests/quality/")] == []


def test_nothing_is_left_for_later() -> None:
    """No file of the project carries a note to its authors."""
    found = [
        f"{path}:{number} {line.strip()[:80]}"
        for path in tracked()
        if path.suffix not in {".lock", ".svg", ".png"}
        for number, line in enumerate(text(path).splitlines(), 1)
        if LATER.search(line)
    ]
    assert found == []


def does_nothing(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a function has no body but a docstring, `...` and `pass`, or says that it is not written yet."""
    for node in function.body:
        constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (constant or isinstance(node, ast.Pass)):
            return any(named(node) == "NotImplementedError" for node in ast.walk(function))
    return True


def hollow(tree: ast.Module) -> list[str]:
    """Return the functions of a module that do nothing, those whose body is a declaration by trade excepted."""
    declared = {
        function.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases)
        for function in functions(node)
    }
    return [
        function.name
        for function in functions(tree)
        if does_nothing(function)
        and function.lineno not in declared
        and not any(
            re.search("overload|abstractmethod|click.group", ast.unparse(mark)) for mark in function.decorator_list
        )
    ]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(): ...", ["f"]),
        ("def f():\n    'Later.'\n    pass", ["f"]),
        ("def f():\n    raise NotImplementedError", ["f"]),
        ("class Port(Protocol):\n    def f(self): ...", []),
        ("@overload\ndef f(): ...", []),
        ("def f():\n    return 1", []),
    ],
)
def test_a_hollow_function_is_seen(source: str, names: list[str]) -> None:
    """A placeholder is told from a function that does something and from a declaration."""
    assert hollow(ast.parse(source)) == names


def test_no_function_is_hollow() -> None:
    """No function of the library is a placeholder; only the methods of a port have no body."""
    found = {str(path): names for path in python_files("ledger") if (names := hollow(syntax(path)))}
    assert found == {}
