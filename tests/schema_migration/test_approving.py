"""What keeps a call that a person is asked about from running by their word."""

import pytest

from ledger import Ask
from ledger.calls import Call
from ledger.catalog import Registry, load_catalog
from ledger.schema_migration.approving import Foreseen, foreseen
from tests.recovery.deploys import Deploy


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Deploy, Call]:
    """A call of version 1 that waits for approval."""
    deploy = Deploy(tmp_path_factory.mktemp("approving"))
    deploy.policy = lambda call, principal: Ask(who=["ada"])
    call = deploy.first()
    deploy.close()
    return deploy, call


def under(deploy: Deploy, current: int, call: Call, *, without: str = "") -> Foreseen | None:
    """Return what this release's catalog says, without one of its files."""
    deploy.write(current)
    if without:
        (deploy.folder / "catalog/charge" / without).unlink()
    return foreseen(Registry(load_catalog(deploy.folder / "catalog")), call)


def test_nothing_stands_in_the_way_of_the_current_version(waiting: tuple[Deploy, Call]) -> None:
    """Nor is anything foreseen of a call that is not asked about, or of a tool that the catalog does not have."""
    deploy, call = waiting
    assert under(deploy, 1, call) is None
    assert under(deploy, 3, call.changed(state="authorized")) is None
    assert under(deploy, 3, call.changed(tool="other")) is None


def test_a_change_of_meaning_asks_for_a_new_call(waiting: tuple[Deploy, Call]) -> None:
    """The draft is made from what the proved steps before it lead to."""
    found = under(waiting[0], 3, waiting[1])
    assert found is not None
    assert found.words.endswith(
        "Where that version runs, it is put to a person once more, who is asked: Which currency?"
    )
    assert found.draft is not None
    assert found.draft.to_fill_in == {"amount": 5, "currency": None}


def test_another_form_is_another_approval(waiting: tuple[Deploy, Call]) -> None:
    """No file says that the answer holds for it: it is carried there and asked about once more."""
    found = under(waiting[0], 2, waiting[1])
    assert found is not None
    assert (
        "and no file says that an approval of this form holds for that one. Where that version runs, it" in found.words
    )
    assert (found.draft, found.words[-10:]) == (None, "once more.")


def test_without_a_file_between_the_versions(waiting: tuple[Deploy, Call]) -> None:
    """The words are those of the judgement."""
    found = under(waiting[0], 2, waiting[1], without="v1-v2.upcast.json")
    assert found is not None
    assert (
        "version 2 of charge is current in the catalog here, and no upcast file leads from v1 towards v2. Where"
        in found.words
    )


def test_a_verdict_to_run_lapses_as_an_approval_does(waiting: tuple[Deploy, Call]) -> None:
    """A call in review that never ran can be carried first; over a change of meaning it needs a new call."""
    deploy, call = waiting
    flagged = call.changed(state="needs-review", reason="not-started", approval=None)
    form, meaning = under(deploy, 2, flagged), under(deploy, 3, flagged)
    assert form is not None
    assert meaning is not None
    assert form.words.startswith("A verdict with --run will not run it as it is: version 2 of charge is current")
    assert (form.draft, form.carried_first) == (None, True)
    assert meaning.draft is not None
    assert (meaning.draft.to_fill_in, meaning.carried_first) == ({"amount": 5, "currency": None}, False)


def test_what_may_have_run_is_carried_behind_the_verdict_only(waiting: tuple[Deploy, Call]) -> None:
    """Nothing of it changes its form as long as nobody knows what became of it."""
    doubt = waiting[1].changed(state="needs-review", reason="outcome-unknown", attempt=1)
    found = under(waiting[0], 2, doubt)
    assert found is not None
    assert not found.carried_first
    assert under(waiting[0], 1, doubt) is None
