"""The parts of the engine at their edges: texts, examples, words, subjects, and the net below the rules."""

from typing import Any

import pytest

from ledger.catalog.diff import Settings, Subject, contained, difference, read_subjects, space, subject
from ledger.catalog.diff.cells import Numbers, Texts
from ledger.catalog.diff.difference import judged
from ledger.catalog.diff.examples import Examples, NoExample, number_of
from ledger.catalog.diff.meet import decimal
from ledger.catalog.diff.space import Space, read
from ledger.catalog.diff.texts import Undecided, outside, sample, shortest
from ledger.catalog.diff.walk import ROOT, Walk
from ledger.catalog.diff.wording import turned
from ledger.catalog.shape import SIGNIFICANT
from ledger.errors import CatalogFault

TEXT = {"type": "string"}


def codes(old: Any, new: Any, **settings: frozenset[str]) -> list[str]:
    found = difference(Subject(schema=old), Subject(schema=new), Settings(**settings))  # type: ignore[arg-type]  # two
    return sorted(finding.code for finding in found.findings)


def holding(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@pytest.mark.parametrize(
    ("must", "never", "low", "high", "text"),
    [
        ((), (), 3, None, "aaa"),
        ((), (), 3, 2, None),
        (("^[0-9]+$",), ("^(0|[1-9][0-9]*)$",), 0, None, "00"),
        (("^a*$",), (), 4, None, "aaaa"),
        (("^a{2}$",), (), 3, None, None),
        (("^a", "b$"), (), 0, None, "ab"),
        (("^[^ -~]$",), (), 0, None, "\x00"),
        (("\\b",), ("a", "A", "0", "1", "b", "_"), 0, None, "2"),
    ],
)
def test_the_shortest_text_is_found(
    must: tuple[str, ...], never: tuple[str, ...], low: int, high: int | None, text: str | None
) -> None:
    """Or that there is none."""
    assert shortest(must, never, low=low, high=high) == text


def test_what_is_too_large_is_not_decided() -> None:
    """Long texts, Unicode categories and products of large patterns."""
    for must, low in (((), 10_001), (("\\p{L}",), 0), (("^[ab]*a[ab]{200}$", "^[ab]*b[ab]{190}$"), 0)):
        with pytest.raises(Undecided):
            shortest(must, low=low)
    assert sample(Texts(patterns=frozenset({"\\p{L}"}))) is None
    assert sample(Texts(formats=frozenset({"uuid"}))) == "123e4567-e89b-42d3-a456-426614174000"
    assert outside(Texts(high=3), Texts(high=2)) == "aaa"


def test_numbers_are_found_between_bounds() -> None:
    """Whole ones, fractions, steps; None where the tries miss."""
    third, half = decimal(0.25), decimal(0.5)
    assert number_of(Numbers(low=decimal(7), whole=True)) == 7
    assert number_of(Numbers(low=third, low_open=True, high=half, high_open=True)) == 0.375
    assert number_of(Numbers(low=decimal(1), low_open=True, multiples=frozenset({third, decimal(0.375)}))) == 1.5
    assert number_of(Numbers(low=decimal(2**2000), low_open=True, whole=True)) == 2**2000 + 1
    assert (
        number_of(Numbers(low=third, low_open=True, high=half, high_open=True, multiples=frozenset({decimal(0.3)})))
        == 0.3
    )
    narrow = Numbers(low=decimal(0.1), high=decimal(0.2), multiples=frozenset({decimal(0.13)}), low_open=True)
    assert number_of(narrow) == 0.13
    assert number_of(Numbers(low=decimal(0.1), high=decimal(0.2), whole=True)) is None


def test_an_example_has_what_it_must() -> None:
    """Declared properties first, then undeclared ones; what cannot be written down is not."""
    schema = {"type": "object", "properties": {"a": TEXT, "b": False, "c": TEXT}, "minProperties": 3}
    assert Examples(Space(read(schema, "2020-12"))).of(ROOT) == {"a": "", "c": "", "extra2": "example"}
    none = {
        "type": "object",
        "required": ["n"],
        "properties": {"n": {"type": "integer", "multipleOf": 7, "minimum": 1}},
    }
    assert Examples(Space(read(none, "2020-12"))).of(ROOT) == {"n": 7}
    endless = {"type": "object", "required": ["c"], "properties": {"c": {"$ref": "#"}}}
    with pytest.raises(NoExample):
        Examples(Space(read(endless, "2020-12"))).of(ROOT)
    hard = {"type": "object", "required": ["t"], "properties": {"t": {"type": "string", "pattern": "\\p{L}"}}}
    with pytest.raises(NoExample):
        Examples(Space(read(hard, "2020-12"))).of(ROOT)


def test_the_proof_is_a_net_below_the_rules() -> None:
    """Where the findings say less than the validator would, nothing is claimed."""
    one, two = (read(holding(a={"type": "string", "minLength": least}), "2020-12") for least in (0, 1))
    walk = Walk(Space(one), Space(two), SIGNIFICANT)
    assert [each.finding.code for each in judged(walk, one, two, [], same=False)] == ["not_proved"]


def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison that takes too many steps ends as not proved, wherever it stands."""
    old = holding(a={"oneOf": [{"const": at} for at in range(9)]}, b={"enum": ["x", "y"]}, c={"type": "array"})
    new = holding(a={"oneOf": [{"const": at} for at in range(10)]}, b={"enum": ["x", "y", "z"]}, c={"type": "array"})
    assert "not_proved" not in codes(old, new)
    monkeypatch.setattr(space, "MAX_WORK", 5)
    assert codes(old, new) == ["not_proved"]


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_proofs_are_bounded(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """A proof that takes too many steps is none."""
    monkeypatch.setattr("ledger.catalog.diff.prove.MAX_STEPS", steps)
    assert contained(holding(a={"enum": ["x", "y"]}), holding(a=TEXT)).relation == "unknown"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("Delete the file.", "Delete the file.", None),
        ("", "Delete the file.", None),
        ("Do not wait.", "Don't wait.", None),
        ("Wait 5 seconds.", "Wait 5 second.", None),
        ("Use the default branch.", "Use the default tree.", None),
        ("Repository name", "The name of the repository, without the .git extension. Case is ignored.", None),
        ("Sort by date, oldest first.", "Sort by date, newest first.", "description_reversed"),
        ("The path must be absolute.", "The path must be relative.", "description_reversed"),
        ("Amount in cents", "Amount in dollars", "description_unit"),
        ("Size in kilobytes", "Size in megabytes", "description_unit"),
        ("Date (MM-DD-YYYY)", "Date (DD-MM-YYYY)", "description_unit"),
        ("Default: true", "Default: false", "description_default"),
        ("A. Returns drafts. B.", "A. Never returns drafts. B.", "description_reversed"),
        ("It’s shown. Files aren’t kept.", "It’s shown. Files are kept.", "description_reversed"),
        ("word " * 150 + "is included", "word " * 150 + "is excluded", "description_reversed"),
        ("Payer", "Payee", "description_reversed"),
        ("Amount in minor units.", "Amount in major units.", "description_reversed"),
        ("¢", "$", "description_unit"),
        ("Price in ¢.", "Price in cents.", None),
        ("latitude, longitude", "longitude, latitude", "description_reversed"),
        ("The latitude and the longitude", "Latitude and longitude", None),
        ("time in UTC", "local time", "description_unit"),
        ("The start in GMT, to the minute.", "The start in UTC, to the minute.", None),
        ("A local file, then its time in UTC.", "Its time in UTC, then a local file.", None),
        ("amount in thousands", "amount in millions", "description_unit"),
        ("0-based index", "1-based index", "description_unit"),
        ("Line number, zero based.", "Line number, 0-indexed.", None),
        ("Percent (0-100)", "Fraction (0-1)", "description_unit"),
        ("Timeout (s)", "Timeout (seconds)", None),
        ("Timeout (s)", "Timeout (ms)", "description_unit"),
    ],
)
def test_signs_that_a_description_turned(old: str, new: str, code: str | None) -> None:
    """A negation, an opposite, a unit, a default; another wording is none."""
    assert turned(old, new) == code


@pytest.mark.parametrize("word", ["title", "markdownDescription", "description"])
def test_every_word_of_a_value_is_read_for_signs(word: str) -> None:
    """A title is all that some generators write; one that names the same unit is another title."""
    cents = holding(a={"type": "integer", word: "Amount in cents"})
    assert codes(cents, holding(a={"type": "integer", word: "Amount in dollars"})) == ["description_unit"]
    assert "description_unit" not in codes(cents, holding(a={"type": "integer", word: "The amount, in cents"}))


def test_a_word_that_is_no_text_is_no_sign() -> None:
    """Only what editors know may be anything; the guard refuses the others."""
    one, two = ({"type": "integer", "markdownDescription": said} for said in ("Amount in cents", ["Amount in dollars"]))
    assert codes(holding(a=one), holding(a=two)) == ["annotation_changed"]


@pytest.mark.parametrize("word", ["title", "description", "useWhen", "notWhen", "runbook"])
def test_the_words_of_a_tool_are_read_for_signs(word: str) -> None:
    """All that models read of it; what only people read is no sign."""
    one, two = (Subject(schema=holding(), words={word: f"Amounts in {unit}."}) for unit in ("cents", "dollars"))
    expected = "metadata_changed" if word == "runbook" else "description_unit"
    assert [each.code for each in difference(one, two).findings] == [expected]


def test_each_description_of_a_union_is_read() -> None:
    """The words of every alternative are compared, not only the first ones."""
    old = holding(
        a={"anyOf": [{"const": "x", "description": "All items."}, {"const": "y", "description": "Include it."}]}
    )
    new = holding(
        a={"anyOf": [{"const": "x", "description": "All items."}, {"const": "y", "description": "Exclude it."}]}
    )
    assert codes(old, new) == ["description_reversed"]
    assert codes(old, holding(a={"anyOf": [{"const": "x", "description": "All items."}, {"const": "y"}]})) == [
        "description_changed"
    ]


def test_reordered_alternatives_are_found_again() -> None:
    """Alternatives of a union are paired by what they take, though one of them grew and their order changed."""

    def kind(name: str, **more: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"k": {"const": name}, **more}, "required": ["k"]}

    old = holding(a={"anyOf": [kind("x"), kind("y"), kind("z")]})
    new = holding(a={"anyOf": [kind("z"), kind("y", more=TEXT), kind("x")]})
    assert codes(old, new) == ["property_added_open"]


def test_a_property_that_looks_like_a_lost_one_is_named() -> None:
    """By another convention of names, or by the same schema to the letter; else nothing is said."""
    words = {"type": "string", "description": "Search query."}
    for old, new, hint in (
        (
            holding(per_page=TEXT),
            holding(perPage={"type": "integer"}),
            '"per_page" is refused now; "perPage" looks like it',
        ),
        (holding(q=words), holding(other=TEXT, query=words), '"q" is refused now; "query" looks like it'),
        (holding(q=words), holding(query=TEXT), '"q" is refused now'),
        (holding(q=TEXT), holding(query=TEXT), '"q" is refused now'),
    ):
        found = difference(Subject(schema=old), Subject(schema=new))
        assert found.findings[0].message == hint


def test_properties_at_their_edges() -> None:
    """Required without being declared, forbidden by name, beside other patterns."""
    bare = {"type": "object", "required": ["a"]}
    assert codes(bare, {**bare, "properties": {"a": TEXT}}) == ["property_claimed"]
    assert codes({"type": "object", "properties": {"a": False}}, {"type": "object"}) == ["object_opened"]
    assert codes({"type": "object", "properties": {"undeclared": TEXT}}, holding(undeclared=TEXT)) == ["object_closed"]
    letters, digits = ({"type": "object", "patternProperties": {each: TEXT}} for each in ("^\\p{L}", "^[0-9]"))
    assert codes(letters, digits) == ["patterns_changed"]
    assert codes(letters, {"type": "object", "patternProperties": {"^\\p{L}": {"minLength": 1}}}) == [
        "bound_narrowed",
        "type_added",
    ]


def test_a_type_that_nothing_had_is_added() -> None:
    """A value that could not be valid before, and can now."""
    never = {"type": "array", "minItems": 2, "maxItems": 1}
    assert codes(holding(a={"anyOf": [never]}), holding(a=TEXT)) == ["property_added"]
    assert contained({**never}, {"type": "string"}).relation == "contained"


def test_places_of_arrays_behind_the_last_item_do_not_count() -> None:
    """What stands behind maxItems is never looked at."""
    old = holding(a={"type": "array", "maxItems": 1, "prefixItems": [TEXT, TEXT]})
    assert codes(old, holding(a={"type": "array", "maxItems": 1, "prefixItems": [TEXT, {"type": "integer"}]})) == [
        "spelling_changed"
    ]


def test_the_first_default_counts() -> None:
    """Of two defaults in one place the outer one is filled in; changing places changes it."""
    defs = {"one": {"type": "integer", "default": 1}, "two": {"type": "integer", "default": 2}}

    def schema(name: str, default: int) -> dict[str, Any]:
        return {**holding(a={"$ref": f"#/$defs/{name}", "default": default}), "$defs": defs}

    assert codes(schema("one", 2), schema("two", 1)) == ["default_changed"]
    assert codes(schema("one", 2), schema("one", 2)) == []


def test_formats_that_cannot_assert_do_not() -> None:
    """A name that no checker knows is an annotation."""
    assert codes(holding(a=TEXT), holding(a={"type": "string", "format": "x"}), formats=frozenset({"x"})) == [
        "format_added"
    ]


def test_a_list_of_too_many_tools_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything of them is compared."""
    monkeypatch.setattr(subject, "MAX_TOOLS", 2)
    with pytest.raises(CatalogFault, match="more than 2 tools"):
        read_subjects([{"name": name, "inputSchema": {}} for name in "abc"])
