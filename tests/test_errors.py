"""Every exception that the ledger raises to its host."""

import copy
import pickle
import re

import pytest

import ledger.errors
from ledger import errors
from ledger.errors import LedgerError

SAMPLES: tuple[LedgerError, ...] = (
    LedgerError("broken", code="odd", hint="Mend it."),
    errors.JsonRejected("duplicate_key", "twice", line=2, column=3, offset=9),
    errors.JsonRejected("not_json", "no", pointer="/a"),
    errors.CatalogFault("bad", path="t.json", pointer="/a", hint="Mend it."),
    errors.ToolMisfit("no", hint="Mend it."),
    errors.UsageError("no"),
    errors.DivergentTurn(3, expected="a text", got="2 calls"),
    errors.StartDiffers("no"),
    errors.NotKnown("no"),
    errors.NoDatabase("no"),
    errors.UnknownSession("s1"),
    errors.UnknownCall("no"),
    errors.SessionClosed("s1", "aborted"),
    errors.SessionOwned("s1", owner="host:7", until="2026-11-29T20:20:20.000000Z"),
    errors.LeaseLost("s1", token=2, current=3),
    errors.ReadOnlySession("no"),
    errors.IllegalTransition("call.started", "failed", "c1", "it ended"),
    errors.VerdictRefused("no"),
    errors.RetirementRefused("no", code="open_calls", hint="Wait."),
    errors.KeyConflict("k", call_id="c1", other="c2"),
    errors.RateLimited("k", max=1, room=0, retry_after=1.0),
    errors.StoreError("no"),
    errors.WrongSequence("s1", expected=4, actual=6),
    errors.IdempotencyConflict("e1"),
    errors.StoreUnavailable("no"),
    errors.StoreBusy("no"),
    errors.StoreReplaced("no"),
    errors.IntegrityFailure("no"),
    errors.SchemaOutdated("no"),
)
CLASSES = {cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, LedgerError)}


def test_every_class_has_a_sample() -> None:
    """The samples of these tests are of every class that the module has."""
    assert {type(error) for error in SAMPLES} == CLASSES


def test_the_tree_in_the_docstring_is_the_real_one() -> None:
    """The picture at the top of the module names each class once, below the parent that it has."""
    above: list[tuple[int, str]] = []
    drawn: dict[str, str] = {}
    for indent, name in re.findall(r"(?m)^([ │├└─]+)([A-Z]\w+)", ledger.errors.__doc__ or ""):
        above = [(depth, parent) for depth, parent in above if depth < len(indent)]
        drawn[name] = above[-1][1] if above else ""
        above.append((len(indent), name))
    real = {cls.__name__: cls.__base__.__name__ for cls in CLASSES if cls.__base__ is not Exception and cls.__base__}
    assert drawn == real | {"LedgerError": ""}


def test_codes_are_stable_and_of_one_class() -> None:
    """Each class has a code in lower case that no other class has."""
    codes = [cls.default_code for cls in CLASSES - {errors.JsonRejected}]
    assert len(set(codes)) == len(codes)
    assert [code for code in codes if not re.fullmatch("[a-z]+(_[a-z]+)*", code)] == []


@pytest.mark.parametrize(
    ("message", "hint", "text"),
    [
        ("broken", None, "broken"),
        ("broken", "Mend it.", "broken. Mend it."),
        ("Broken!", "Mend it.", "Broken! Mend it."),
    ],
)
def test_the_text_says_what_is_wrong_and_what_to_do(message: str, hint: str | None, text: str) -> None:
    """An error reads as message and hint, the first ended before the second begins."""
    error = LedgerError(message, hint=hint)
    assert (str(error), error.message, error.hint, error.code) == (text, message, hint, "ledger_error")


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: f"{type(error).__name__}-{error.code}")
def test_an_error_survives_pickle_and_copy(error: LedgerError) -> None:
    """Class, text and every field come back, so that an error crosses a process pool."""
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is type(error)
        assert (str(twin), twin.args, vars(twin)) == (str(error), error.args, vars(error))


@pytest.mark.parametrize(
    ("path", "pointer", "text"),
    [
        ("", "", "bad"),
        ("t.json", "", "t.json: bad"),
        ("t.json", "/a", "t.json#/a: bad"),
    ],
)
def test_a_catalog_fault_names_its_place(path: str, pointer: str, text: str) -> None:
    """The place of a fault stands before its words, as far as it is known."""
    fault = errors.CatalogFault("bad", path=path, pointer=pointer)
    assert (str(fault), fault.fault, fault.path, fault.pointer) == (text, "bad", path, pointer)


@pytest.mark.parametrize(
    ("call_id", "why", "text"),
    [
        (None, None, "call.started cannot follow failed"),
        ("c1", None, "call.started cannot follow failed (call c1)"),
        ("c1", "it ended", "call.started cannot follow failed (call c1): it ended"),
    ],
)
def test_a_refused_event_says_what_it_would_have_followed(call_id: str | None, why: str | None, text: str) -> None:
    """Event and state are named, the call and the reason where there are any."""
    assert str(errors.IllegalTransition("call.started", "failed", call_id, why)) == text


def test_errors_carry_their_fields() -> None:
    """What a program needs to go on is in fields, not only in the words."""
    turn = errors.DivergentTurn(3, expected="a text", got="2 calls")
    assert (turn.turn, turn.expected, turn.got, turn.code) == (3, "a text", "2 calls", "divergent_turn")
    owner, until = "vm:81e5:pid-[1]:7:99:ab", "2026-11-29T20:20:20.000000Z"
    owned = errors.SessionOwned("s1", owner=owner, until=until)
    assert (owned.session_id, owned.owner, owned.until) == ("s1", owner, until)
    assert owned.message == "session s1 is owned by process 7 on host vm until 2026-11-29 20:20:20 UTC"
    assert errors.SessionOwned("s1", owner="me", until="it is done").message.endswith("by me until it is done")
    lost = errors.LeaseLost("s1", token=2, current=3)
    assert (lost.token, lost.current) == (2, 3)
    wrong = errors.WrongSequence("s1", expected=4, actual=6)
    assert (wrong.expected, wrong.actual) == (4, 6)
    rejected = errors.JsonRejected("c", "m", line=1, column=2, offset=3, pointer="/a")
    assert (rejected.line, rejected.column, rejected.offset, rejected.pointer) == (1, 2, 3, "/a")
    assert errors.SessionClosed("s1", "aborted").reason == "aborted"


def test_a_key_conflict_names_both_calls() -> None:
    """The call that holds the key and the one that asks for it are named."""
    assert "by call c1, and now asked for again by c2" in str(errors.KeyConflict("k", call_id="c1", other="c2"))
    assert "asked for again. Use a new key" in str(errors.KeyConflict("k", call_id="c1"))
