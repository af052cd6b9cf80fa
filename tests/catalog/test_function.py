"""What a function says about itself is read, and what cannot be a tool is refused by its place."""

import functools
import operator
from pathlib import Path
from typing import Any

import pytest

from ledger.catalog.function import place_of, read_function
from ledger.errors import ToolMisfit
from tests.catalog.kinds import Node, Place


def greet(name: str, times: int = 1, *, context: Any, idempotency_key: str) -> str:
    """
    Greet somebody
    politely.

    Not for strangers.
    """
    return name * times


OBJECT = object()


class Mailer:
    """Not the description of a call."""

    def send(self, to: str) -> None:
        """Send it."""

    async def __call__(self, to: str) -> None:
        """Call it."""


def test_parameters_and_words_are_read() -> None:
    """Hints, defaults and the first paragraph describe the tool; what the ledger fills is left out."""
    function = read_function(greet)
    assert function.description == "Greet somebody politely."
    assert list(function.parameters) == ["name", "times"]
    assert (function.wants_context, function.wants_idempotency_key, function.is_async) == (True, True, False)
    assert function.schema() == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "times": {"type": "integer", "default": 1}},
        "additionalProperties": False,
        "required": ["name"],
    }
    assert function.place == f"greet ({__file__}:{greet.__code__.co_firstlineno})"


def test_methods_partials_and_callable_objects_are_functions_too() -> None:
    """`self` is no argument, a filled one is optional, and a coroutine is seen through all of them."""
    method = read_function(Mailer().send)
    assert (list(method.parameters), method.description, method.is_async) == (["to"], "Send it.", False)
    called = read_function(Mailer())
    assert (list(called.parameters), called.description, called.is_async) == (["to"], "Call it.", True)
    partial = read_function(functools.partial(functools.partial(greet, times=2)))
    assert partial.schema()["required"] == ["name"]
    assert partial.description == "Greet somebody politely."

    @functools.wraps(greet)
    def wrapped(*args: Any, **kwargs: Any) -> str:
        return greet(*args, **kwargs)

    assert list(read_function(wrapped).parameters) == ["name", "times"]
    assert Path(place_of(wrapped).rpartition(":")[0].partition("(")[2]) == Path(__file__)


def test_a_function_without_a_docstring_has_no_description() -> None:
    """Nothing is made up."""

    def silent(a: int) -> None: ...

    assert read_function(silent).description == ""


def test_defaults_that_the_model_could_not_send_are_not_shown() -> None:
    """None for a hint that takes no null stays out of the schema, as does an object of the host."""

    def f(
        a: str = None,  # type: ignore[assignment]  # noqa: RUF013 - people write it so
        b: str | None = None,
        c: Any = None,
        d: Any = OBJECT,
        e: None = None,
    ) -> None: ...

    fields = read_function(f).schema()["properties"]
    assert {name for name, field in fields.items() if "default" in field} == {"b", "c", "e"}
    assert "required" not in read_function(f).schema()


def test_definitions_stand_at_the_root() -> None:
    """A type that contains itself is referred to by every parameter that uses it."""

    def f(a: Node, b: list[Node], c: Place) -> None: ...

    schema = read_function(f).schema()
    assert schema["$defs"].keys() == {"Node"}
    assert schema["properties"]["b"] == {"type": "array", "items": {"$ref": "#/$defs/Node"}}


def generator(a: int) -> Any:
    yield a


async def async_generator(a: int) -> Any:
    yield a


def positional(a: int, /) -> None: ...


def variable(*a: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "because"),
    [
        (generator, "generator"),
        (async_generator, "generator"),
        (positional, "a of positional .*test_function.py:.* positional-only"),
        (variable, "positional-only"),
        (operator.attrgetter("a"), "does not say what it takes"),
        (dict, "does not say what it takes"),
    ],
)
def test_what_cannot_be_called_by_name_is_refused(function: Any, because: str) -> None:
    """A tool is called with keywords and gives one result."""
    with pytest.raises(ToolMisfit, match=because):
        read_function(function)


def any_keyword(a: int, **rest: int) -> None: ...


def no_hint(a) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001 - that it has none is the point


def no_json(a: bytes) -> None: ...


def unknown(a: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821 - that nobody knows it is the point


@pytest.mark.parametrize(
    ("function", "because"),
    [
        (any_keyword, r"takes \*\*kwargs"),
        (no_hint, "a of no_hint .* has no type hint"),
        (no_json, "a of no_json .* makes no schema: bytes"),
        (unknown, "cannot be resolved .*Nowhere"),
    ],
)
def test_without_usable_hints_there_is_no_schema(function: Any, because: str) -> None:
    """The parameter is named with its file and line; the function itself may still be a tool with schema=."""
    read = read_function(function)
    with pytest.raises(ToolMisfit, match=because):
        read.schema()
