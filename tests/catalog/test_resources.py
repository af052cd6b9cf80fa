"""Resource keys say which calls conflict; in doubt a call conflicts with everything."""

from typing import Any

import pytest

from ledger.catalog.resources import MAX_KEYS, check_template, keys_of
from ledger.errors import CatalogFault

ARGUMENTS = {"path": "a.py", "n": 5, "paths": ["a", "b"], "to": {"id": 7}, "none": None, "on": True, "x": {"y": [1]}}


@pytest.mark.parametrize(
    ("templates", "keys"),
    [
        (("workspace",), {"workspace"}),
        ((), set()),
        (("/path",), {"path:a.py"}),
        (("/to/id", "/n"), {"to/id:7", "n:5"}),
        (("/paths",), {"paths:a", "paths:b"}),
        (("file:{path}",), {"file:a.py"}),
        (("{to/id}:{n}",), {"7:5"}),
        (("{paths}-{paths}",), {"a-a", "a-b", "b-a", "b-b"}),
        (("/on",), {"on:true"}),
        (("/to",), {'to:{"id":7}'}),
        (None, None),
        (("/gone",), None),
        (("a", "file:{gone}"), None),
        (("/none",), None),
    ],
)
def test_templates_are_filled_from_the_arguments(templates: Any, keys: Any) -> None:
    """Constants, pointers and templates; a field that is absent or null makes the resource unknown."""
    assert keys_of(templates, None, ARGUMENTS) == keys


@pytest.mark.parametrize(
    ("answer", "keys"),
    [
        (["a", "b"], {"a", "b"}),
        ("a", {"a"}),
        ((), set()),
        (None, None),
        (5, None),
        ([5], None),
        (map(str, range(5_000)), None),
    ],
)
def test_a_function_wins_over_templates(answer: Any, keys: Any) -> None:
    """What it returns is taken if it is a list of texts, not too many; anything else is unknown."""
    assert keys_of(("workspace",), lambda _: answer, ARGUMENTS) == keys


def test_a_function_gets_a_copy_and_may_fail() -> None:
    """Its exceptions mean unknown, and what it does to the arguments stays with it."""

    def fails(arguments: Any) -> Any:
        arguments["x"]["y"].append(2)
        raise RuntimeError

    assert keys_of((), fails, ARGUMENTS) is None
    assert ARGUMENTS["x"] == {"y": [1]}


def test_keys_are_bounded() -> None:
    """A product of long lists is unknown, not a million keys."""
    many = [str(n) for n in range(MAX_KEYS)]
    assert keys_of(("/a",), None, {"a": many}) == frozenset(f"a:{n}" for n in many)
    assert keys_of(("{a}{a}",), None, {"a": many}) is None


@pytest.mark.parametrize("template", ["{", "a}", "{a}{", "{}"])
def test_a_stray_brace_is_a_fault(template: str) -> None:
    """A template that would never be filled is refused when the catalog is read."""
    with pytest.raises(CatalogFault, match="stray brace"):
        check_template(template)
    check_template("/{")
