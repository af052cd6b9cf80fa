"""The tail of long modules and functions is what makes a code base painful: it is cut off here."""

import ast
from pathlib import Path

from tests.quality.tree import comments, functions, python_files, syntax, text

MODULE_LINES = 400
FUNCTION_LINES = 40
PARAMETERS = 6


def library() -> list[Path]:
    """Return the library's modules; a migration is a record of its day and may be long."""
    return [path for path in python_files("ledger") if "versions" not in path.parts]


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count what a caller may pass: neither self nor cls, nor *args and **kwargs."""
    asked = function.args
    names = [argument.arg for argument in (*asked.posonlyargs, *asked.args, *asked.kwonlyargs)]
    return len([name for name in names if name not in {"self", "cls"}])


def excused(path: Path, line: int) -> bool:
    """Tell whether the line carries an exemption from the rule on parameters (its reason is another test's subject)."""
    return any(number == line and "PLR0913" in comment for number, comment in comments(path))


def test_there_is_something_to_measure() -> None:
    """The rules below look at the library's real modules and functions."""
    assert Path("ledger/__init__.py") in library()
    assert sum(len(functions(syntax(path))) for path in library()) > 0


def test_modules_are_short() -> None:
    """No module of the library has more than 400 lines."""
    long = {str(path): lines for path in library() if (lines := len(text(path).splitlines())) > MODULE_LINES}
    assert long == {}


def test_functions_are_short() -> None:
    """No function of the library has more than 40 lines, its docstring included."""
    long = {
        f"{path}:{function.lineno} {function.name}": lines
        for path in library()
        for function in functions(syntax(path))
        if (lines := (function.end_lineno or function.lineno) - function.lineno + 1) > FUNCTION_LINES
    }
    assert long == {}


def test_functions_take_few_parameters() -> None:
    """No function of the library takes more than 6 parameters without a reason on its line."""
    wide = {
        f"{path}:{function.lineno} {function.name}": count
        for path in library()
        for function in functions(syntax(path))
        if (count := parameters(function)) > PARAMETERS and not excused(path, function.lineno)
    }
    assert wide == {}


def test_modules_say_what_they_are() -> None:
    """Every module of the library opens with a docstring whose first line is one sentence."""
    mute = [
        str(path)
        for path in library()
        if not (ast.get_docstring(syntax(path)) or "").split("\n", maxsplit=1)[0].endswith((".", "?", "…"))
    ]
    assert mute == []
