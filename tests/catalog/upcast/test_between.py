"""What is known of the files between two versions."""

from pathlib import Path
from typing import Any

import pytest

from ledger.catalog import load_catalog
from ledger.catalog.upcast.between import Bridge, between
from tests.catalog.shelf import Shelf
from tests.catalog.upcast.scenes import closed_object

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("start", "end", "bridge"),
    [
        (1, 2, Bridge(status="proved", grade="iso")),
        (1, 3, Bridge(status="proved", grade="iso")),
        (1, 4, Bridge(status="refuted")),
        (3, 4, Bridge(status="refuted")),
        (4, 5, Bridge(semantic="Other.")),
        (1, 6, Bridge(missing=5)),
        (1, 7, Bridge()),
        (2, 2, Bridge()),
        (3, 1, Bridge()),
    ],
)
def test_the_worst_step_counts(tmp_path: Path, start: int, end: int, bridge: Bridge) -> None:
    """Proved over all steps, refuted where one is; where they do not lead there it is said why."""
    shelf = Shelf(tmp_path)
    forms: list[Any] = [closed_object({name: TEXT}) for name in ("a", "b", "c", "d", "e", "f")]
    shelf.tool(schemas=tuple(forms))
    for number, (old, new) in enumerate((("a", "b"), ("b", "c"), ("c", "wrong")), 1):
        ops = [{"op": "rename", "from": f"/{old}", "to": f"/{new}"}]
        document = {"tool": "look_at", "from": number, "to": number + 1, "assertedBy": "ada", "ops": ops}
        shelf.write(f"look_at/v{number}-v{number + 1}.upcast.json", document)
    shelf.write("look_at/v4-v5.upcast.json", {"tool": "look_at", "from": 4, "to": 5, "semantic": "Other."})
    assert between(load_catalog(shelf.root).tools["look_at"], start, end) == bridge


def test_the_weakest_grade_and_the_first_reason_are_told(tmp_path: Path) -> None:
    """One step that only embeds makes the whole way no more; of two changes of meaning the first one stops a call."""
    shelf = Shelf(tmp_path)
    forms = [closed_object({"a": {**TEXT, "maxLength": 9}}), *(closed_object({name: TEXT}) for name in "abcd")]
    shelf.tool(schemas=tuple(forms))
    steps: list[dict[str, Any]] = [
        {"assertedBy": "ada", "ops": [], "widens": ["/a"]},
        {"assertedBy": "ada", "ops": [{"op": "rename", "from": "/a", "to": "/b"}]},
        {"semantic": "First."},
        {"semantic": "Second."},
    ]
    for number, step in enumerate(steps, 1):
        document = {"tool": "look_at", "from": number, "to": number + 1, **step}
        shelf.write(f"look_at/v{number}-v{number + 1}.upcast.json", document)
    tool = load_catalog(shelf.root).tools["look_at"]
    assert between(tool, 1, 3) == Bridge(status="proved", grade="embed")
    assert between(tool, 3, 5) == Bridge(semantic="First.")
