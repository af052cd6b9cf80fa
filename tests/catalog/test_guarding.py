"""The guarded schema of a version: the one that it was read with, as long as that is the same."""

from dataclasses import replace

from ledger.catalog.documents import version_of
from ledger.catalog.guard import guard_input
from ledger.catalog.guarding import guarded_of
from tests.catalog.upcast.scenes import version

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
WORDS = {"description": "It."}


def test_a_version_that_was_read_is_not_guarded_again() -> None:
    """It has what the guard gave; that is no part of what the version says, and of what is shown of it."""
    by_hand = version(1, guard_input(SCHEMA).schema)
    read = version_of(guard_input(SCHEMA), words=WORDS, tool="t", version=1, contract=by_hand.contract)
    assert guarded_of(read) is read.guarded
    assert replace(by_hand, **{each: getattr(read, each) for each in ("shape_digest", "description_digest")}) == read
    assert "guarded" not in repr(read)


def test_what_is_not_the_schema_that_was_guarded_is_guarded_anew() -> None:
    """Another schema in its place, another dialect of one that names none, and a version that nobody read."""
    by_hand = version(1, SCHEMA)
    read = version_of(guard_input(SCHEMA), words=WORDS, tool="t", version=1, contract=by_hand.contract)
    other = {"type": "object", "properties": {"b": {"type": "string"}}}
    assert guarded_of(replace(read, schema=other)).schema == other
    assert guarded_of(read, "draft-07").dialect == "draft-07"
    assert guarded_of(by_hand).schema == SCHEMA
    old = version_of(guard_input(SCHEMA, dialect="draft-07"), words=WORDS, tool="t", version=1, contract=read.contract)
    assert guarded_of(old) is old.guarded
