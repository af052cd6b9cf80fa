"""A tool is built from a function and a schema that fit, or refused by naming both places."""

from collections.abc import Callable
from copy import deepcopy
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ledger.catalog import ArgumentsUnfit, Contract, Registry, Tool, ToolDefinition, build_tool, load_catalog
from ledger.errors import CatalogFault, ToolMisfit
from tests.catalog.kinds import Mail, Node, Open, Unit

CATALOG = load_catalog(Path(__file__).parents[2] / "schemas/tools")
HERE = "test_build.py"


def find(
    number: int, day: date = date(2026, 1, 2), unit: Unit = Unit.CELSIUS, *, context: Any = None
) -> dict[str, Any]:
    """Find a ticket."""
    return {"number": number}


def schema(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": sorted(fields), "additionalProperties": False}


def test_a_function_alone_is_a_tool() -> None:
    """Name, description, schema and version 1 come from the function, its file and line from its code."""
    tool = build_tool(find, effect="read", runbook="Look.")
    assert (tool.name, tool.version.version, tool.version.description) == ("find", 1, "Find a ticket.")
    assert (tool.derived, tool.is_async, tool.wants_context, tool.wants_idempotency_key) == (True, False, True, False)
    assert (tool.contract, tool.version.runbook) == (Contract(effect="read"), "Look.")
    assert tool.definition.latest is tool.version
    assert HERE in tool.version.path
    assert repr(tool).startswith("<Tool find v1: find (")
    assert tool.validator is tool.validator
    assert [each.pointer for each in tool.validator.violations({"unit": "x"})] == ["/number", "/unit"]


def test_arguments_arrive_as_the_types_asked_for() -> None:
    """Enums and dates are built, context and key are filled in, what is absent keeps the function's default."""
    tool = build_tool(find, effect="read")
    context = SimpleNamespace(idempotency_key="k1")
    built = tool.keywords({"number": 1.0, "day": "2026-02-03", "unit": "fahrenheit"}, context)
    assert built == {"number": 1, "day": date(2026, 2, 3), "unit": Unit.FAHRENHEIT, "context": context}
    assert not tool.runs_user_code
    with pytest.raises(ArgumentsUnfit, match="/day: expected a date"):
        tool.bind({"number": 1, "day": "2026-02-31"})

    def pay(amount: int, idempotency_key: str) -> None: ...

    paid = build_tool(pay, supports_idempotency=True)
    assert paid.keywords({"amount": 1}, context) == {"amount": 1, "idempotency_key": "k1"}


def test_a_dict_schema_describes_a_function_without_hints() -> None:
    """Parameters without hints take the JSON as it is; the schema's copy is the tool's own."""

    def look(path, *rest_ignored_by_nobody, **more):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, ANN002, ANN003 - no hints
        return path

    with pytest.raises(ToolMisfit, match="positional-only"):
        build_tool(look, schema=schema(path={}))

    def peek(path, **more):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, ANN003 - no hints
        return path

    given = schema(path={"type": "string"}, depth={"type": "integer"})
    tool = build_tool(peek, name="fs/peek", version=3, schema=given, description="Peek.", resource_keys=("/path",))
    given["properties"]["path"]["type"] = "integer"
    assert (tool.name, tool.version.version, tool.version.schema["properties"]["path"]) == (
        "fs/peek",
        3,
        {"type": "string"},
    )
    assert tool.bind({"path": "a", "depth": 1}) == {"path": "a", "depth": 1}
    assert tool.resource_keys({"path": "a"}) == frozenset({"path:a"})
    assert tool.contract.resource_keys == ("/path",)


def test_a_function_may_name_its_resources() -> None:
    """resource_keys= takes a function as well; without any the resources are unknown."""
    tool = build_tool(find, effect="read", resource_keys=lambda arguments: [f"ticket:{arguments['number']}"])
    assert tool.resource_keys({"number": 5}) == frozenset({"ticket:5"})
    assert tool.resource_keys_fn is not None
    assert tool.contract.resource_keys is None
    assert build_tool(find, effect="read").resource_keys({"number": 5}) is None


def test_a_model_as_schema_gives_its_fields_or_itself() -> None:
    """One parameter of the model's type takes it whole, else each field has its parameter."""

    def each(to: list[str], subject: str) -> None: ...

    def whole(mail: Mail, *, context: Any) -> None: ...

    fields = build_tool(each, schema=Mail)
    assert fields.version.schema["required"] == ["to"]
    assert fields.runs_user_code
    assert fields.bind({"to": ["a"]}) == {"to": ["a"], "subject": "none"}
    assert build_tool(whole, schema=Mail).bind({"to": ["a"]}) == {"mail": Mail(to=["a"])}
    with pytest.raises(ArgumentsUnfit, match="too long"):
        fields.bind({"to": ["a"], "subject": "x" * 11})

    def everything(**fields: Any) -> None: ...

    assert build_tool(everything, schema=Open).bind({"a": 1, "b": 2}) == {"a": 1, "b": 2}

    def node(node: Node) -> None: ...

    tool = build_tool(node, schema=Node)
    assert (tool.version.schema["type"], list(tool.version.schema["$defs"])) == ("object", ["Node"])
    assert tool.bind({"value": 1, "next": {"value": 2}})["node"].next.value == 2


def test_a_catalog_tool_is_its_current_version_with_a_function() -> None:
    """Contract, words and schema are the catalog's; an option may repeat them, not contradict them."""
    definition = CATALOG.tools["read_file"]

    def read_file(path: str) -> None: ...

    tool = build_tool(read_file, definition=definition, effect="read")
    assert tool.version is definition.latest
    assert tool.definition is definition
    assert not tool.derived


def give(path: str, deep: bool = False) -> None: ...


@pytest.mark.parametrize(
    ("build", "because"),
    [
        (
            lambda: build_tool(give, definition=CATALOG.tools["read_file"], effect="write"),
            'says effect is "write", .*tool.json#/versions/1/contract says "read"',
        ),
        (lambda: build_tool(give, definition=CATALOG.tools["read_file"], scopes=("a",)), 'scopes is "a"'),
        (
            lambda: build_tool(give, definition=CATALOG.tools["read_file"], version=7),
            "version 7 of read_file, .*There are 1",
        ),
        (
            lambda: build_tool(give, definition=CATALOG.tools["read_file"], description="x"),
            "description=, which .*tool.json already says",
        ),
        (lambda: build_tool(give, definition=CATALOG.tools["read_file"], schema={}), "schema=, which"),
        (
            lambda: build_tool(give, schema=schema(pth={"type": "string"})),
            '/pth is a field of the schema.*no such parameter; did you mean "path"',
        ),
        (lambda: build_tool(give, schema=schema()), "path of give .*test_build.py.* is no field of the schema"),
        (
            lambda: build_tool(give, schema={**schema(path={}), "required": []}),
            "path of give .* is needed, but the schema lets it be left out",
        ),
        (
            lambda: build_tool(give, schema=schema(path={"type": "integer"})),
            'path of give .* takes "string", the schema gives "integer", "number"',
        ),
        (
            lambda: build_tool(give, schema=schema(path={"anyOf": [{"type": "null"}, {"type": ["object", "array"]}]})),
            'takes "string", the schema gives "array", "null", "object"',
        ),
        (
            lambda: build_tool(find, schema=schema(number={}, context={})),
            "/context is a field of the schema, but the ledger fills",
        ),
        (lambda: build_tool(give, schema=schema(path={}, idempotency_key={})), "/idempotency_key is a field"),
        (lambda: build_tool(give, schema=Mail), "Mail.to is no parameter of give"),
        (lambda: build_tool(lambda to, subject, extra: 0, name="x", schema=Mail), "extra of .* is no field of Mail"),
        (
            lambda: build_tool(find, effect="read", supports_idempotency=True),
            "effect read and supportsIdempotency .*find .*test_build.py",
        ),
        (
            lambda: build_tool(find, effect="read", reconcile=lambda a, c: None),
            r"reconcile= \(.*lambda.*says effect read",
        ),
        (
            lambda: build_tool(lambda idempotency_key: 0, name="x", schema=schema()),
            "takes idempotency_key, but .* does not say supportsIdempotency",
        ),
        (
            lambda: build_tool(give, supports_idempotency=True),
            "says supportsIdempotency, but give .* has no way to get the key",
        ),
        (lambda: build_tool(give, reconcile=lambda arguments: None), "reconcile= calls .* with 2 arguments"),
    ],
)  # fmt: skip - one contradiction a line
def test_a_contradiction_names_both_places(build: Callable[[], Tool], because: str) -> None:
    """Function and schema, function and contract, decorator and catalog: the message leads to both."""
    with pytest.raises(ToolMisfit, match=because):
        build()


@pytest.mark.parametrize(
    ("build", "because"),
    [
        (lambda: build_tool(lambda: 0, schema=schema()), "<lambda>.* is no tool name"),
        (lambda: build_tool(give, efect="read"), 'give .*unknown word "efect"'),
        (
            lambda: build_tool(give, schema={"type": "object", "properties": {"path": {"type": "str"}}}),
            "give .*/properties/path/type",
        ),
        (lambda: build_tool(give, schema={"type": "string"}), "must say so"),
        (lambda: build_tool(give, schema={}), "empty"),
        (lambda: build_tool(give, resource_keys=("file:{",)), "stray brace"),
    ],
)  # fmt: skip - one fault a line
def test_a_fault_of_name_schema_or_option_names_the_function(build: Callable[[], Tool], because: str) -> None:
    """What would be a fault in a catalog file is one in a decorator."""
    with pytest.raises(CatalogFault, match=because):
        build()


def test_what_fits_in_another_way_is_accepted() -> None:
    """Schemas that say less than the function, references, and three ways to an idempotency key."""
    build_tool(give, schema={"type": "object", "allOf": [{"properties": {"path": {}}}]})
    build_tool(give, schema={"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}})
    build_tool(give, schema=schema(path={"$ref": "#/$defs/p"}) | {"$defs": {"p": {"type": "string"}}})
    build_tool(give, schema=schema(path=True))
    build_tool(give, schema=schema(path={"anyOf": [{}, {"type": "null"}]}))
    build_tool(give, schema={**schema(path={"default": "."}), "required": []}, apply_defaults=True)
    build_tool(lambda **anything: 0, name="x", schema=schema(context={}))
    build_tool(lambda idempotencyKey: 0, name="x", schema=schema(idempotencyKey={}), supports_idempotency=True)  # noqa: N803 - as on the wire
    build_tool(lambda context: 0, name="x", schema=schema(), supports_idempotency=True, reconcile=lambda a, c: None)
    assert build_tool(give, recovery="retry").contract.recovery == "retry"


def test_an_open_schema_does_not_drop_what_the_function_does_not_take() -> None:
    """An unknown field that the schema lets pass is refused at the call, not silently ignored."""
    tool = build_tool(give, schema={**schema(path={}), "additionalProperties": True})
    assert tool.validator.violations({"path": "a", "dep": 1}) == ()
    with pytest.raises(ArgumentsUnfit, match=r'/dep: unknown field "dep"; did you mean "deep"\?'):
        tool.bind({"path": "a", "dep": 1})


def test_the_registry_knows_tools_with_and_without_a_function() -> None:
    """A catalog tool is known by its definition, but only one with a function is got or offered."""
    registry = Registry(CATALOG)
    assert registry.get("read_file") is None
    assert registry.version("read_file") is CATALOG.tools["read_file"].latest
    assert registry.definition("read_file") is CATALOG.tools["read_file"]
    assert (registry.version("nobody"), registry.definition("nobody")) == (None, None)
    assert registry.offered() == []

    def read_file(path: str) -> None: ...

    tool = build_tool(read_file, definition=CATALOG.tools["read_file"])
    registry.register(tool)
    registry.register(build_tool(find, effect="read"))
    assert registry.get("read_file") is tool
    assert registry.version("read_file") is tool.version
    assert registry.definition("find") is not None
    assert "find" in registry.names
    assert set(CATALOG.tools) < set(registry.names)
    assert [each.tool for each in registry.offered()] == ["find", "read_file"]
    assert [each.name for each in registry] == ["find", "read_file"]
    assert "find" in registry
    assert "list_files" not in registry


def test_changing_what_was_offered_changes_nothing() -> None:
    """Schemas are handed out as copies."""
    registry = Registry()
    registry.register(build_tool(find, effect="read"))
    before = deepcopy(registry.version("find"))
    registry.offered()[0].schema["properties"].clear()
    assert registry.version("find") == before
    assert registry.names == ("find",)


def test_another_function_for_one_version_is_refused() -> None:
    """The same function again is fine, another one names both places."""
    registry = Registry()
    registry.register(build_tool(find, effect="read"))
    registry.register(build_tool(find, effect="read"))

    def other(number: int) -> None: ...

    with pytest.raises(ToolMisfit, match=r"find version 1 is find \(.*, and now also .*other \(.*raise the version"):
        registry.register(build_tool(other, name="find"))


def test_the_highest_version_runs_unless_the_catalog_names_another() -> None:
    """Of several registered versions the catalog's current one is got, else the highest; each by its number."""
    registry = Registry()
    for number in (1, 3, 2):
        registry.register(build_tool(find, effect="read", version=number))
    got, first = registry.get("find"), registry.get("find", 1)
    assert got is not None
    assert first is not None
    assert (got.version.version, first.version.version) == (3, 1)
    assert registry.get("find", 9) is None
    definition = ToolDefinition(
        name="find", current=2, versions={n: t.version for n in (2, 3) if (t := registry.get("find", n))}
    )
    published = Registry(CATALOG.__class__(tools={"find": definition}, digest=""))
    for number in (2, 3):
        published.register(build_tool(find, definition=definition, version=number))
    assert [each.version for each in published.offered()] == [2]
    only = Registry(published.catalog)
    only.register(build_tool(find, definition=definition, version=3))
    assert [each.version for each in only.offered()] == [3]


@pytest.mark.parametrize(("stage", "offered"), [("active", 1), ("hidden", 0), ("compat", 0), ("removed", 0)])
def test_only_active_tools_are_offered(stage: Any, offered: int) -> None:
    """A retired tool is known and can be got, but no model is offered it."""
    version = build_tool(find, effect="read").version
    definition = ToolDefinition(name="find", current=1, versions={1: version}, stage=stage)
    registry = Registry(CATALOG.__class__(tools={"find": definition}, digest=""))
    registry.register(build_tool(find, definition=definition))
    assert len(registry.offered()) == offered
    assert registry.get("find") is not None
