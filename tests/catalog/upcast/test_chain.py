"""Chains of steps: adjacent ones, up to the first that needs a person."""

from pathlib import Path
from typing import Any

import pytest

from ledger.catalog import load_catalog
from ledger.catalog.upcast.chain import Upcasts
from ledger.catalog.upcast.records import Journey
from tests.catalog.shelf import Shelf
from tests.catalog.upcast.scenes import closed_object

TEXT = {"type": "string"}
ASSERTED = {"tool": "look_at", "assertedBy": "ada@example.org"}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Four versions, of which the last step is a change of meaning, and v5, to which no file leads."""
    shelf = Shelf(tmp_path)
    forms: list[Any] = [closed_object({name: TEXT}) for name in "abc"]
    shelf.tool(schemas=(*forms, closed_object({"c": TEXT, "d": TEXT}), closed_object({"e": TEXT})))
    for start, (old, new) in enumerate((("a", "b"), ("b", "c")), 1):
        ops = [{"op": "rename", "from": f"/{old}", "to": f"/{new}"}]
        document = {**ASSERTED, "from": start, "to": start + 1, "ops": ops}
        shelf.write(f"look_at/v{start}-v{start + 1}.upcast.json", document)
    semantic = {"tool": "look_at", "from": 3, "to": 4, "semantic": "d has to be given.", "carry": ["/c"]}
    shelf.write("look_at/v3-v4.upcast.json", semantic)
    return shelf


def ended(journey: Journey) -> tuple[int, int, str | None]:
    return len(journey.steps), journey.reached, journey.stopped.code if journey.stopped else None


def test_a_record_goes_as_far_as_proofs_lead(shelf: Shelf) -> None:
    """Each step has its certificate, and the end of one is the beginning of the next."""
    upcasts = Upcasts(load_catalog(shelf.root))
    there = upcasts.carry("look_at", 1, 3, {"a": "x"})
    assert (ended(there), there.arrived) == ((2, 3, None), True)
    assert there.steps[-1].arguments == {"c": "x"}
    assert there.steps[0].digest_after == there.steps[1].digest_before
    beyond = upcasts.carry("look_at", 1, 4, {"a": "x"})
    assert (ended(beyond), beyond.arrived) == ((2, 3, "semantic"), False)
    assert beyond.at is not None
    assert beyond.at.carry == ("/c",)


def test_a_record_stops_where_no_file_leads_on(shelf: Shelf) -> None:
    """Backwards, past the target, from a version or a tool that nobody knows: no step, and the record stays."""
    upcasts = Upcasts(load_catalog(shelf.root))
    assert ended(upcasts.carry("look_at", 4, 5, {"c": "x", "d": "y"})) == (0, 4, "no_upcast")
    assert ended(upcasts.carry("look_at", 3, 1, {"c": "x"})) == (0, 3, "no_upcast")
    assert ended(upcasts.carry("look_at", 9, 10, {})) == (0, 9, "no_upcast")
    assert ended(upcasts.carry("other", 1, 2, {})) == (0, 1, "no_upcast")
    assert ended(Upcasts(None).carry("look_at", 1, 2, {"a": "x"})) == (0, 1, "no_upcast")
    assert ended(upcasts.carry("look_at", 2, 2, {"b": "x"})) == (0, 2, None)


def test_a_record_that_does_not_fit_stops_at_its_step(shelf: Shelf) -> None:
    """The journey says at which file."""
    found = Upcasts(load_catalog(shelf.root)).carry("look_at", 1, 3, {"a": 5})
    assert ended(found) == (0, 1, "invalid_before")
    assert found.at is not None
    assert found.at.to_version == 2


def test_versions_on_the_way_are_known(shelf: Shelf) -> None:
    """Those of the catalog, and no other one."""
    upcasts = Upcasts(load_catalog(shelf.root))
    assert upcasts.version("look_at", 2).schema["required"] == ["b"]
    for tool, number in (("look_at", 9), ("other", 1)):
        with pytest.raises(KeyError):
            upcasts.version(tool, number)
    with pytest.raises(KeyError):
        Upcasts(None).version("look_at", 1)


def test_a_step_is_proved_once(shelf: Shelf) -> None:
    """The same step serves every record, with the catalog or without one."""
    catalog = load_catalog(shelf.root)
    definition = catalog.tools["look_at"]
    for upcasts in (Upcasts(catalog), Upcasts(None)):
        assert upcasts.step(definition, 1) is upcasts.step(definition, 1)
        assert upcasts.step(definition, 4) is None
