"""The project's own files, as the quality tests look at them."""

import ast
import io
import subprocess
import tokenize
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def tracked() -> tuple[Path, ...]:
    """Every file of the project, relative to its root: those that git tracks and those about to be added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return tuple(sorted(Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()))


def python_files(*folders: str) -> list[Path]:
    """Return the project's Python files, those below the given folders only if any is named."""
    return [path for path in tracked() if path.suffix == ".py" and (not folders or path.parts[0] in folders)]


@cache
def text(path: Path) -> str:
    """Return the text of a project file; bytes that are no UTF-8 are replaced."""
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


@cache
def syntax(path: Path) -> ast.Module:
    """Return the syntax tree of a project file."""
    return ast.parse(text(path), filename=str(path))


@cache
def comments(path: Path) -> tuple[tuple[int, str], ...]:
    """Return each comment of a Python file with its line number."""
    tokens = tokenize.generate_tokens(io.StringIO(text(path)).readline)
    return tuple((token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT)


@cache
def functions(tree: ast.AST) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    """Return every function of a tree, methods and inner ones included; no expression holds one."""
    found, left = [], [tree]
    while left:
        for node in ast.iter_child_nodes(left.pop()):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.append(node)
            if not isinstance(node, ast.expr):
                left.append(node)
    return tuple(found)


def named(node: ast.AST) -> str:
    """Return the last part of a dotted name, of `a.b.c` it is c; of anything else it is empty."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
