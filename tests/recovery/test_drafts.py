"""What carries a call runs it only as it was published: never a draft, never a file that was edited behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.schema_migration.plan import Scope
from ledger.session.existing import open_existing
from ledger.session.migrating import migrate
from tests.cli.running import ledger
from tests.recovery.deploys import RENAME, Deploy
from tests.session.agents import types

OTHER = {"assertedBy": "eve@example.org"}


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[Deploy]:
    made = Deploy(tmp_path)
    yield made
    made.close()


def allowed(deploy: Deploy) -> str:
    """Leave a call of version 1 that a person allowed, and write version 2, whose file keeps approvals."""
    deploy.policy = lambda call, principal: Ask()
    call_id = deploy.first().call_id
    deploy.opened[-1].approve(call_id, by="ada")
    deploy.policy = None
    deploy.write(2, keepsApproval=True)
    return call_id


def proposed(deploy: Deploy) -> str:
    """Leave an intent of version 1 that no gate has seen, and write version 2."""
    deploy.write(1)
    call_id = deploy.open(1).session("s").propose("charge", {"amt": 5}).call_id
    deploy.write(2)
    return call_id


def current(deploy: Deploy, number: int) -> None:
    file = deploy.folder / "catalog" / "charge" / "tool.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"current": number}))


def sign(deploy: Deploy, **words: Any) -> None:
    """Write the upcast with other words."""
    (deploy.folder / "catalog" / "charge" / "v1-v2.upcast.json").write_text(json.dumps(RENAME | words))


def lock(deploy: Deploy) -> None:
    assert ledger("tool", "lock", "--catalog", str(deploy.folder / "catalog")).exit_code == 0


def carried(deploy: Deploy) -> int:
    """Carry as `migrate-schemas --apply` does; return how many calls were."""
    catalog = deploy.folder / "catalog"
    with open_existing(f"sqlite:///{deploy.folder}/ledger.db", catalog=catalog) as desk:
        return sum(each.carried for each in migrate(desk, Scope()))


def resumed(deploy: Deploy) -> Ledger:
    program = deploy.open(2)
    program.session("s").messages()
    return program


@pytest.mark.parametrize("locked", [True, False])
def test_nothing_is_carried_to_a_draft(deploy: Deploy, monkeypatch: pytest.MonkeyPatch, locked: bool) -> None:
    """A plan shows what would be; `--apply` refuses, with a lock or without one, and the approved call stays."""
    call_id = allowed(deploy)
    current(deploy, 1)
    if locked:
        lock(deploy)
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    to = ("migrate-schemas", "--tool", "charge", "--to", "2")
    assert "1 call can be carried" in ledger(*to).stdout
    refused = ledger(*to, "--apply")
    assert (refused.exit_code, "version 2 of charge is a draft" in refused.stderr) == (2, True)
    assert deploy.opened[-1].find(call_id).schema_version == 1


def test_a_program_that_runs_a_draft_leaves_the_calls_of_the_published_version(deploy: Deploy) -> None:
    """It neither carries nor flags them; once the draft is published they are carried, and run."""
    call_id = allowed(deploy)
    current(deploy, 1)
    before = types(deploy.opened[-1], "s")
    program = resumed(deploy)
    assert (types(program, "s"), deploy.effects) == (before, [])
    current(deploy, 2)
    assert (resumed(deploy).find(call_id).state, deploy.effects) == ("succeeded", [(2, 5)])


def test_a_version_that_was_published_is_no_draft_where_an_older_one_is_current_again(deploy: Deploy) -> None:
    """Its file stands in the lock, and nobody edits it any more."""
    call_id = allowed(deploy)
    lock(deploy)
    current(deploy, 1)
    assert (resumed(deploy).find(call_id).state, deploy.effects) == ("succeeded", [(2, 5)])


def test_an_approved_call_never_runs_over_another_file_than_the_one_that_carried_it(deploy: Deploy) -> None:
    """It is asked about anew, in the form that would run; the person's word on that form lets it run."""
    call_id = allowed(deploy)
    assert carried(deploy) == 1
    sign(deploy, keepsApproval=True, **OTHER)
    program = resumed(deploy)
    found = program.find(call_id)
    assert (found.state, found.reason, deploy.effects) == ("needs-review", "approval-mismatch", [])
    assert "not published here as it was then" in str(found.flag)
    program.resolve(call_id, "did-not-happen", run=True, by="ada")
    program.session("s").messages()
    assert (program.find(call_id).state, deploy.effects) == ("succeeded", [(2, 5)])


def test_an_approval_of_the_carried_form_stands(deploy: Deploy) -> None:
    """Who allows a call after it was carried has seen what runs, whatever became of the file."""
    deploy.policy = lambda call, principal: Ask()
    call_id = deploy.first().call_id
    deploy.policy = None
    deploy.write(2, keepsApproval=True)
    assert carried(deploy) == 1
    sign(deploy, keepsApproval=True, **OTHER)
    deploy.opened[-1].approve(call_id, by="ada")
    assert (resumed(deploy).find(call_id).state, deploy.effects) == ("succeeded", [(2, 5)])


@pytest.mark.parametrize("same", [True, False])
def test_a_read_that_nobody_saw_goes_to_a_person_too(deploy: Deploy, same: bool) -> None:
    """Carried, and its file edited before it ran; with its file as it was it runs."""
    deploy.effect = "read"
    call_id = proposed(deploy)
    assert carried(deploy) == 1
    if not same:
        sign(deploy, **OTHER)
    found = resumed(deploy).find(call_id)
    expected = ("succeeded", None, [(2, 5)]) if same else ("needs-review", "schema-changed", [])
    assert (found.state, found.reason, deploy.effects) == expected


@pytest.mark.parametrize(
    ("edit", "carries", "why"),
    [
        (None, 1, ""),
        ("before", 0, "does not have v1-v2.upcast.json"),
        ("after", 0, "has another form of v1-v2.upcast.json"),
        ("broken", 0, "cannot be read"),
    ],
)
def test_where_there_is_a_lock_its_files_carry(deploy: Deploy, edit: str | None, carries: int, why: str) -> None:
    """Not one that it does not have, nor one that was edited since; a lock that cannot be read publishes nothing."""
    call_id = allowed(deploy)
    file = deploy.folder / "catalog" / "charge" / "v1-v2.upcast.json"
    published = file.read_text()
    if edit == "before":
        file.unlink()
    lock(deploy)
    if edit == "after":
        sign(deploy, keepsApproval=True, **OTHER)
    else:
        file.write_text(published)
    if edit == "broken":
        (deploy.folder / "catalog" / "catalog.lock.json").write_text("{")
    assert carried(deploy) == carries
    found = resumed(deploy).find(call_id)
    assert (len(deploy.effects), why in str(found.flag)) == (carries, True)


def test_a_file_that_is_gone_from_the_lock_keeps_what_it_carried_from_starting(deploy: Deploy) -> None:
    """Published it was when it carried the call, and now nothing keeps it as it is."""
    call_id = allowed(deploy)
    lock(deploy)
    assert carried(deploy) == 1
    file = deploy.folder / "catalog" / "catalog.lock.json"
    document = json.loads(file.read_text())
    document["tools"]["charge"].pop("upcasts")
    file.write_text(json.dumps(document))
    assert (resumed(deploy).find(call_id).reason, deploy.effects) == ("approval-mismatch", [])
