"""A mark that would mask nothing is refused, with its place and what to write instead, whoever declares the tool."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from ledger.catalog import build_tool
from ledger.catalog.guard import guard_input
from ledger.catalog.output import output_schema
from ledger.errors import CatalogFault, LedgerError
from ledger.session.redaction import MASK, sensitive
from tests.catalog.hostile import TEXT, holding
from tests.catalog.shelf import Shelf

SECRET: dict[str, Any] = {"x-sensitive": True}


REFUSED: dict[str, tuple[Any, str, str]] = {
    "in the content of a text": (
        holding(a={**TEXT, "contentSchema": {"properties": {"b": SECRET}}}),
        "/properties/a/contentSchema",
        "Write `x-sensitive: true` beside `contentSchema`",
    ),
    "in the content of a text, by reference": (
        {
            **holding(a={**TEXT, "contentSchema": {"$ref": "#/$defs/s"}}, b={"$ref": "#/$defs/s"}),
            "$defs": {"s": SECRET},
        },
        "/properties/a/contentSchema",
        "masked as a whole",
    ),
    "in a definition without use": (
        {**holding(a=TEXT), "$defs": {"s": {"writeOnly": True}}},
        "/$defs/s/writeOnly",
        "Refer to it by `$ref`",
    ),
    "in definitions that use one another": (
        {**holding(a=TEXT), "$defs": {"s": {"items": {"$ref": "#/$defs/t"}}, "t": {"properties": {"b": SECRET}}}},
        "/$defs/t/properties/b/x-sensitive",
        "nothing refers to",
    ),
    "among the properties": (
        {"type": "object", "properties": {"password": TEXT, "x-sensitive": True}},
        "/properties/x-sensitive",
        "into the property's own schema",
    ),
    "among the properties, with the other word": (
        {"type": "object", "properties": {"password": TEXT, "writeOnly": True}},
        "/properties/writeOnly",
        "`writeOnly: {}`",
    ),
    "as text": (holding(a={"x-sensitive": "true"}), "/properties/a/x-sensitive", "Write true, without quotes"),
}


@pytest.mark.parametrize("place", REFUSED)
def test_a_mark_that_masks_nothing_is_refused(place: str, shelf: Shelf) -> None:
    """By the guard, by `tool check` and at the registration of a function, at its place, with what to write instead."""
    schema, pointer, hint = REFUSED[place]
    with pytest.raises(CatalogFault) as fault:
        guard_input(schema, path="v1.json")
    assert (fault.value.path, fault.value.pointer) == ("v1.json", pointer)
    assert hint in str(fault.value)
    with pytest.raises(CatalogFault, match="masks nothing") as registered:
        build_tool(lambda **_: None, name="login", schema=schema, description="Log in.")
    assert registered.value.pointer == pointer
    with pytest.raises(LedgerError, match="masks nothing"):
        output_schema(schema)
    shelf.tool(schemas=(schema,))
    assert ("quarantined", "look_at/v1.json", pointer) in shelf.said()


def named(**extra: Any) -> Any:
    """A function with a parameter that pydantic describes."""

    def login(pin: str) -> None:
        """Log in."""

    login.__annotations__["pin"] = Annotated[str, Field(json_schema_extra=extra)]
    return login


def test_a_mark_of_pydantic_is_looked_at_as_well() -> None:
    """`SecretStr` and a right mark mask their values; a mark with a slip is refused when the function is registered."""

    class Login(BaseModel):
        pin: SecretStr
        keys: dict[SecretStr, int] = {}

    def login(given: Login) -> None:
        """Log in."""

    tool = build_tool(login, schema=Login)
    masked = sensitive(tool.version.schema, {"pin": "1234", "keys": {"5678": 1}})
    assert masked == ({"pin": MASK, "keys": MASK}, ("1234", "5678", "1"))
    assert sensitive(build_tool(named(**SECRET)).version.schema, {"pin": "1234"})[0] == {"pin": MASK}
    for wrong in ({"x-sensitive": "yes"}, {"x-sensitve": True}, {"x-sensitive": 1}):
        with pytest.raises(CatalogFault, match="masks nothing") as fault:
            build_tool(named(**wrong))
        assert fault.value.pointer == f"/properties/pin/{next(iter(wrong))}"


@pytest.mark.parametrize(
    "schema",
    [
        holding(a={"x-sensitive": False}),
        holding(a={**TEXT, **SECRET, "contentSchema": TEXT}),
        holding(a={"default": {"x-sensitive": True}, "examples": [{"writeOnly": True}]}),
        holding(a={"x-sensitivity": "high", "x-note": True}),
        {"type": "object", "properties": {"x-sensitive": TEXT, "writeOnly": {}}},
        {**holding(a=TEXT), "$defs": {"s": TEXT}},
        {**holding(a={"$ref": "#/$defs/s"}), "$defs": {"s": {"items": {"$ref": "#/$defs/t"}}, "t": SECRET}},
        {"type": "object", "not": {"if": {"contains": SECRET}}, "propertyNames": SECRET},
    ],
    ids=str,
)
def test_what_masks_or_says_nothing_is_let_through(schema: Any) -> None:
    """Marks that are reached, values that only look like one, annotations of others, properties with an odd name."""
    assert guard_input(schema).schema == schema


def test_a_mark_in_the_schema_of_a_result_is_refused(shelf: Shelf) -> None:
    """The model reads the result as it is recorded; `writeOnly` says that the value is not in it at all."""
    shelf.tool(versions={"1": {"contract": {"effect": "read"}, "outputSchema": "v1.output.json"}})
    shelf.write("look_at/v1.output.json", holding(token={**TEXT, "writeOnly": True}))
    assert [said for said in shelf.said() if said[0] == "quarantined"] == []
    shelf.write("look_at/v1.output.json", holding(token={**TEXT, **SECRET}))
    assert ("quarantined", "look_at/v1.output.json", "/properties/token/x-sensitive") in shelf.said()
    (hint,) = [note.hint or "" for note in shelf.report().notes if note.code == "quarantined"]
    assert "leave the secret out" in hint
