"""Recorded certificates: each one stands, and whoever changes something of it is seen."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ledger.catalog.steps import Upcast
from ledger.catalog.upcast.certificate import Step
from ledger.catalog.upcast.confirming import Doubt, doubts
from ledger.catalog.upcast.records import Carried
from ledger.catalog.upcast_files import read_upcast
from ledger.events import CallUpcast
from ledger.session.carrying import upcast_body
from tests.catalog.upcast.scenes import closed_object, step, upcast, version

SUITE = json.loads((Path(__file__).parents[2] / "suite/upcasts.json").read_text(encoding="utf-8"))["cases"]
TEXT = {"type": "string"}
OPS = [{"op": "rename", "from": "/a", "to": "/b"}, {"op": "wrap_array", "path": "/b"}]


@pytest.fixture
def body() -> CallUpcast:
    """What is recorded of one carried call."""
    wrapped = {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 1}
    found = step(OPS, closed_object({"a": TEXT}), closed_object({"b": wrapped})).carry({"a": "x"})
    assert isinstance(found, Carried)
    return upcast_body(found)


def test_every_carried_record_of_the_suite_is_certified() -> None:
    """Whatever is carried has a certificate that stands."""
    certified = 0
    for case in SUITE:
        if case["proof"]["status"] == "proved":
            file = read_upcast(case["file"], "f", "t", (1, 2))
            the_step = Step(file, version(1, case["old"]), version(2, case["new"]))
            for record in case.get("records", ()):
                found = the_step.carry(record["record"])
                if isinstance(found, Carried):
                    assert doubts(upcast_body(found), file, record["record"]) == ()
                    certified += 1
    assert certified > 60


def test_a_certificate_that_nobody_touched_stands(body: CallUpcast) -> None:
    """Against the same file and the same arguments."""
    assert doubts(body, upcast(OPS), {"a": "x"}) == ()


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"upcast_digest": "0" * 64}, ("file",)),
        ({"digest_before": "0" * 64}, ("before",)),
        ({"digest_after": "0" * 64}, ("after",)),
        ({"arguments": {"b": ["y"]}}, ("after", "image", "origin")),
        ({"arguments": {"b": "x"}}, ("after", "image", "origin")),
    ],
    ids=("file", "before", "after", "another value", "another form"),
)
def test_a_change_of_the_record_is_seen(body: CallUpcast, change: dict[str, object], seen: tuple[Doubt, ...]) -> None:
    """Each digest, and the arguments themselves."""
    assert doubts(replace(body, **change), upcast(OPS), {"a": "x"}) == seen  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize(
    ("file", "before", "seen"),
    [
        (upcast(OPS, assertedBy="eve@example.org"), {"a": "x"}, ("file",)),
        (upcast(OPS[:1]), {"a": "x"}, ("file", "image", "origin")),
        (upcast(OPS), {"a": "y"}, ("before", "image", "origin")),
        (upcast(OPS), {"a": "x", "b": 1}, ("before", "image", "origin")),
    ],
    ids=("somebody else", "other operations", "other arguments", "arguments without an image"),
)
def test_a_change_of_the_file_or_the_intent_is_seen(
    body: CallUpcast, file: Upcast, before: dict[str, object], seen: tuple[Doubt, ...]
) -> None:
    """The file that is there now, and the arguments that were carried."""
    assert doubts(body, file, before) == seen
