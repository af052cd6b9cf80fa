"""The tools as the ledger recorded them."""

from pathlib import Path

import pytest

from ledger.audit import reading, recorded_tools
from ledger.events import Event, MessageRecorded, ToolStageChanged, encode
from ledger.store.port import Append
from tests.audit.world import opened


def staged(tool: str | None, stage: str, event_id: str) -> Event:
    body = ToolStageChanged(stage=stage, hint="Use the other.")  # type: ignore[arg-type]  # one of the stages
    return Event(
        session_id="_catalog", event_id=event_id, recorded_at="2026-01-01T00:00:00.000000Z", body=body, tool=tool
    )


@pytest.mark.parametrize("page", [1, 500])
def test_versions_and_stages_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    """Each version as it was first seen, the last stage, and a stage of a tool whose versions nobody published."""
    monkeypatch.setattr(reading, "PAGE", page)
    with opened(tmp_path) as ledger:

        @ledger.tool("find", version=2, effect="read")
        def find(words: list[str]) -> list[str]:
            """Find them."""
            return words

        assert find(["a"]) == ["a"]
        other = MessageRecorded(role="user", provider="x", message={})
        strange = Event(session_id="_catalog", event_id="x", recorded_at="2026-01-01T00:00:00.000000Z", body=other)
        events = [staged("find", "hidden", "1"), staged("find", "compat", "2"), staged("gone", "removed", "3"), strange]
        ledger._wiring.store.append(Append(session_id="_catalog", drafts=tuple(map(encode, events))))
        found = recorded_tools(ledger.reader)
    assert sorted(found) == ["find", "gone", "send_email"]
    assert sorted(found["find"].versions) == [1, 2]
    assert found["find"].versions[2].body.description == "Find them."
    assert len(found["find"].versions[2].schema_digest) == 64
    assert found["find"].stage is not None
    assert found["find"].stage.stage == "compat"
    assert (found["send_email"].stage, found["gone"].versions) == (None, {})
