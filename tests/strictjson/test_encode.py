"""Encoding results: whatever a tool returns becomes JSON, nothing is lost unsaid, nothing is ever raised."""

import hashlib
import json
import pathlib
import subprocess
import sys
from array import array
from collections import Counter, OrderedDict, UserList, deque, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum, IntEnum, IntFlag, StrEnum
from io import BytesIO
from itertools import count
from types import MappingProxyType
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.strictjson import (
    RESULT,
    Encoded,
    Encoding,
    Limits,
    canonical,
    decode_result,
    encode_result,
    loads,
    resolve,
    rules,
    scan,
)
from tests.strictjson import hostile
from tests.strictjson.described import build, cases, nested, same, typed
from tests.strictjson.test_canonical import TEXT

CASES = cases("results")
HERE = __name__
ROOT = pathlib.Path(__file__).parents[2]


class Colour(Enum):
    RED = ("r", 1)


class Size(IntEnum):
    BIG = 3


class Mode(StrEnum):
    FAST = "fast"


class Flag(IntFlag):
    A = 1
    B = 2


Point = namedtuple("Point", "x y")  # noqa: PYI024 - the untyped form is what is tested


@dataclass
class Order:
    number: int
    due: date
    lines: list[Any] = field(default_factory=list)


@dataclass
class Partial:
    __slots__ = ("given", "never")
    given: int
    never: int


class Ticket(pydantic.BaseModel):
    id: int
    at: datetime


class Tags(pydantic.RootModel[list[str]]):
    pass


class MyFloat(float):
    pass


class Half(tzinfo):
    def utcoffset(self, _: datetime | None) -> timedelta:
        return timedelta(minutes=30)

    def dst(self, _: datetime | None) -> None:
        return None

    def tzname(self, _: datetime | None) -> str:
        return "half"


def check_encoded(encoded: Encoded, most: Limits = RESULT) -> None:
    """What is recorded can be written, is as long as it says, and every encoding points at something."""
    data = canonical(encoded.value)
    assert len(data) == encoded.size
    assert encoded.size <= max(most.max_bytes, 300)
    json.loads(data.decode("utf-8"))
    assert scan.depth(data.decode()) <= most.max_depth
    for encoding in encoded.encodings:
        resolve(encoded.value, encoding.pointer)
        assert Encoding.from_wire(loads(canonical(encoding.to_wire()))) == encoding


@pytest.mark.parametrize("name", CASES)
def test_the_border_suite(name: str) -> None:
    """Every result of the suite is recorded in its documented form, and comes back if it can."""
    case = CASES[name]
    value = build(case["value"])
    encoded = encode_result(value)
    assert same(encoded.value, build(case["data"]))
    assert [[e.pointer, e.kind, e.type] for e in encoded.encodings] == case["encodings"]
    assert encoded.lossy == case["lossy"]
    check_encoded(encoded)
    if case["back"]:
        assert same(decode_result(encoded.value, encoded.encodings), value)


def numbers(*, nan: bool = True) -> Any:
    large = st.integers(-3, 3).map(lambda n: n * 10**4300)
    return st.integers() | large | st.floats(allow_nan=nan) | st.decimals(allow_nan=nan)


DAY = timedelta(hours=23, minutes=59)


def moments() -> Any:
    zones = st.none() | st.timezones() | st.timedeltas(-DAY, DAY).map(timezone)
    return st.datetimes(timezones=zones) | st.dates() | st.times() | st.timedeltas()


SCALARS = st.none() | st.booleans() | numbers(nan=False) | TEXT | st.binary() | moments() | st.uuids()
HASHABLE = st.recursive(
    SCALARS,
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3) | st.tuples(),
    max_leaves=6,
)
VALUES = st.recursive(
    HASHABLE | numbers() | st.binary().map(bytearray),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.sets(HASHABLE, max_size=4)
        | st.dictionaries(TEXT, inner, max_size=4)
        | st.dictionaries(HASHABLE, inner, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_builtins_come_back(value: Any) -> None:
    """Whatever is made of builtins, moments, decimals and UUIDs comes back equal, types included, after storage."""
    encoded = encode_result(value)
    check_encoded(encoded)
    assert not encoded.lossy
    stored = loads(canonical(encoded.value))
    marks = [Encoding.from_wire(mark) for mark in loads(canonical([e.to_wire() for e in encoded.encodings]))]
    assert same(decode_result(stored, marks), value)


@given(VALUES)
def test_the_form_is_deterministic(value: Any) -> None:
    """Equal values have equal records, whatever the order in which their sets and objects were filled."""

    def refilled(part: Any) -> Any:
        if type(part) in {set, frozenset}:
            return type(part)(sorted(map(refilled, part), key=typed, reverse=True))
        if type(part) in {list, tuple}:
            return type(part)(map(refilled, part))
        return part

    first, second = encode_result(value), encode_result(refilled(value))
    assert canonical(first.value) == canonical(second.value)
    assert first.encodings == second.encodings


def test_a_plain_result_is_a_copy() -> None:
    """The tool may go on changing what it returned: the record does not follow."""
    state = {"items": [{"id": 1}]}
    encoded = encode_result(state)
    state["items"][0]["id"] = 2
    assert encoded == Encoded({"items": [{"id": 1}]}, (), 20)


@pytest.mark.parametrize(
    ("value", "data", "marks"),
    [
        (Colour.RED, ["r", 1], [("", "enum", f"{HERE}.Colour.RED"), ("", "tuple", "tuple")]),
        (Size.BIG, 3, [("", "enum", f"{HERE}.Size.BIG")]),
        (Flag.A | Flag.B, 3, [("", "enum", f"{HERE}.Flag.A|B")]),
        ([MyFloat("nan")], ["NaN"], [("/0", "number", f"{HERE}.MyFloat"), ("/0", "float", "float")]),
        (hostile.OddText("odd"), "odd", [("", "text", "tests.strictjson.hostile.OddText")]),
        (hostile.OddNumber(7), 7, [("", "number", "tests.strictjson.hostile.OddNumber")]),
        ({Mode.FAST: 1, "b": 2}, {"fast": 1, "b": 2}, [("", "keys", f"str, {HERE}.Mode")]),
        (Point(1, (2,)), {"x": 1, "y": [2]}, [("", "namedtuple", f"{HERE}.Point"), ("/y", "tuple", "tuple")]),
        (
            Order(1, date(2026, 1, 2), [b"a"]),
            {"number": 1, "due": "2026-01-02", "lines": ["YQ=="]},
            [("", "dataclass", f"{HERE}.Order"), ("/due", "date", "datetime.date"), ("/lines/0", "bytes", "bytes")],
        ),
        (
            Ticket(id=1, at=datetime(2026, 1, 2)),  # noqa: DTZ001 - a naive one
            {"id": 1, "at": "2026-01-02T00:00:00"},
            [("", "model", f"{HERE}.Ticket"), ("/at", "datetime", "datetime.datetime")],
        ),
        (Tags(["a"]), ["a"], [("", "model", f"{HERE}.Tags")]),
        (OrderedDict(a=1), {"a": 1}, [("", "mapping", "collections.OrderedDict")]),
        (Counter("a"), {"a": 1}, [("", "mapping", "collections.Counter")]),
        (MappingProxyType({"a": 1}), {"a": 1}, [("", "mapping", "mappingproxy")]),
        (hostile.OddDict(a=1), {"a": 1}, [("", "mapping", "tests.strictjson.hostile.OddDict")]),
        (hostile.OddList([1]), [1], [("", "sequence", "tests.strictjson.hostile.OddList")]),
        (deque([1]), [1], [("", "sequence", "collections.deque")]),
        (UserList([1]), [1], [("", "sequence", "collections.UserList")]),
        (range(3), [0, 1, 2], [("", "sequence", "range")]),
        ({"a": 1}.values(), [1], [("", "sequence", "dict_values")]),
        ({"b": 1, "a": 1}.keys(), ["a", "b"], [("", "set", "dict_keys")]),
        (array("h", [1, 2]), [1, 2], [("", "array", "array.array")]),
        (memoryview(b"abcd")[::2], "YWM=", [("", "bytes", "memoryview")]),
        (pathlib.PurePosixPath("/tmp/é"), "/tmp/é", [("", "path", "pathlib.PurePosixPath")]),
        ((n for n in (1, (2,))), [1, [2]], [("", "iterator", "generator"), ("/1", "tuple", "tuple")]),
    ],
    ids=lambda value: type.__repr__(type(value)),
)
def test_data_of_known_shapes_is_kept(value: object, data: Any, marks: list[Any]) -> None:
    """Enums, subclasses, records, models, look-alikes and iterators are recorded as their data, the class named."""
    encoded = encode_result(value)
    assert same(encoded.value, data)
    assert [(e.pointer, e.kind, e.type) for e in encoded.encodings] == marks
    assert not encoded.lossy
    check_encoded(encoded)


def test_a_dataclass_without_a_value_for_a_field_leaves_it_out() -> None:
    """A slot that was never filled is not invented."""
    partial = Partial.__new__(Partial)
    partial.given = 1
    assert encode_result(partial).value == {"given": 1}


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/St_Johns", "UTC"])
@pytest.mark.parametrize("fold", [0, 1])
def test_a_named_zone_and_the_repeated_hour_come_back(zone: str, fold: int) -> None:
    """A moment in a named zone keeps the zone, and which of the two equal hours it was."""
    moment = datetime(2025, 10, 26, 2, 30, tzinfo=ZoneInfo(zone), fold=fold)
    encoded = encode_result([moment, time(1, 2, tzinfo=ZoneInfo(zone))])
    assert f"[{zone}]" in encoded.value[0]
    back = decode_result(encoded.value, encoded.encodings)
    assert back[0].tzinfo.key == zone
    assert back[0].utcoffset() == moment.utcoffset()
    assert back[1] == time(1, 2, tzinfo=ZoneInfo(zone))


def test_an_unknown_zone_leaves_the_offset() -> None:
    """A moment whose zone this machine does not know, or knows otherwise, comes back with its offset."""
    marks = [Encoding("/0", "datetime", "datetime.datetime"), Encoding("/1", "datetime", "datetime.datetime")]
    data = ["2026-01-01T00:00:00+01:00[Moon/Base]", "2026-01-01T00:00:00+05:00[Europe/Berlin]"]
    for value, hours in zip(decode_result(data, marks), (1, 5), strict=True):
        assert value.utcoffset() == timedelta(hours=hours)
    assert decode_result("01:02:00[Moon/Base]", [Encoding("", "time", "datetime.time")]) == time(1, 2)


def test_a_moment_in_a_zone_of_ones_own_keeps_its_offset() -> None:
    """A tzinfo class without a name is kept as the offset it gave."""
    moment = datetime(2026, 1, 1, tzinfo=Half())
    encoded = encode_result(moment)
    assert encoded.value == "2026-01-01T00:00:00+00:30"
    assert decode_result(encoded.value, encoded.encodings) == moment


def test_paths_come_back_as_pure_paths() -> None:
    """A path comes back in its own flavour, without touching the disk."""
    values = [pathlib.Path("a"), pathlib.PureWindowsPath("C:\\a"), pathlib.PurePosixPath("caf\udce9")]
    encoded = encode_result(values)
    assert decode_result(encoded.value, encoded.encodings) == values


def test_nothing_is_raised_for_any_hostile_class() -> None:
    """Classes that raise, lie or never end are recorded by their repr, or by their name if that raises too."""
    for value in [*hostile.instances(), hostile.Faceless, hostile.Faceless()]:
        for wrapped in (value, [value], {"a": (value,)}, {"k": {1: value}}, iter([value])):
            check_encoded(encode_result(wrapped))
    names = [encode_result(value).value for value in (hostile.Raises(), hostile.Liar(), hostile.DumpRaises())]
    assert names == ["<tests.strictjson.hostile.Raises, its repr raised RuntimeError>", "a liar", "DumpRaises()"]
    assert encode_result(hostile.Faceless()).encodings[0].type == "a class that hides its name (RuntimeError)"


def test_a_fallen_back_object_names_what_it_raised() -> None:
    """An object whose own dump raises keeps its repr, and the mark names the exception."""
    (mark,) = encode_result({"a": hostile.DumpRaises()}).encodings
    assert mark == Encoding("/a", "repr", "tests.strictjson.hostile.DumpRaises (ValueError)")
    assert mark.lossy


def test_an_unknown_object_is_a_short_repr() -> None:
    """An object of an unknown class is recorded by the beginning of its repr, marked lossy."""
    encoded = encode_result([hostile.LongRepr(), complex(1, 2)])
    assert encoded.value == ["x" * 2_000, "(1+2j)"]
    assert [e.kind for e in encoded.encodings] == ["repr", "repr"]
    assert encoded.lossy
    assert decode_result(encoded.value, encoded.encodings) == encoded.value


def test_a_file_is_not_read() -> None:
    """An open file is an iterator, but reading it may block for ever: only its repr is kept."""
    (mark,) = encode_result(BytesIO(b"a\nb")).encodings
    assert mark.kind == "repr"


def test_marks_of_a_part_that_failed_are_taken_back() -> None:
    """What was noted of a value that then raised does not stay behind."""

    class Halfway(hostile.Endless):
        def __iter__(self) -> Iterator[Any]:
            yield 1
            raise RuntimeError("no more")

    encoded = encode_result([Halfway(), b""])
    assert [(e.pointer, e.kind) for e in encoded.encodings] == [("/0", "repr"), ("/1", "bytes")]


def test_an_iterator_that_raises_keeps_what_it_gave() -> None:
    """Items before the exception stay, and the mark names the exception."""

    def failing() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    class Failing(UserList[int]):
        def __iter__(self) -> Iterator[int]:
            return failing()

    assert encode_result(Failing()).value == [1]
    encoded = encode_result({"a": failing()})
    assert encoded.value == {"a": [1]}
    assert [(e.kind, e.type) for e in encoded.encodings] == [("iterator", "generator"), ("incomplete", "OSError")]
    assert encoded.lossy


def test_an_endless_iterator_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """An iterator is read up to a number of items, and the mark says that there were more."""
    monkeypatch.setattr(rules, "DRAWN_ITEMS", 3)
    encoded = encode_result(count())
    assert encoded.value == [0, 1, 2]
    assert encoded.encodings[1] == Encoding("", "incomplete", "more than 3 items")


def test_interrupts_pass() -> None:
    """KeyboardInterrupt is not the result's business: it passes."""

    class Interrupts:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_result(Interrupts())


def test_a_key_twice_in_somebodys_mapping_stays_twice() -> None:
    """Keys that are equal as text are kept as pairs, whatever a mapping's own code yields."""

    class Twice(OrderedDict[Any, Any]):
        pass

    class Proxy(UserDictLike):
        def items(self) -> Any:
            return [("a", 1), ("a", 2)]

    assert encode_result(Twice(a=1)).value == {"a": 1}
    assert encode_result(Proxy()).value == [["a", 1], ["a", 2]]


class UserDictLike(hostile.Endless):
    pass


def test_an_endless_mapping_is_truncated() -> None:
    """A mapping that never ends is read up to the limit of items, and the size is marked as a lower bound."""
    encoded = encode_result(hostile.Endless(), Limits(2_000, max_items=1_000))
    check_encoded(encoded, Limits(2_000))
    assert encoded.value["truncated"] is True
    assert encoded.value["exact"] is False
    assert encoded.value["sha256"] is None
    assert encoded.value["bytes"] > 2_000


def test_a_part_that_is_held_many_times_is_truncated_in_bounded_time() -> None:
    """A result of 10^30 items in a few dozen objects is cut, plain or not."""
    for leaf in (1, b"a"):
        value: list[Any] = [leaf]
        for _ in range(30):
            value = [value] * 10
        encoded = encode_result(value, Limits(10_000))
        check_encoded(encoded, Limits(10_000))
        assert encoded.value["exact"] is False


LARGE: dict[str, Any] = {
    "text": "é\n" * 5_000,
    "halves": "\ud83d" * 5_000,
    "texts": ["é\n" * 50] * 100,
    "chunks": [b"abc" * 50] * 100,
    "bytes": b"abc" * 5_000,
    "moments": [datetime(2026, 1, 1)] * 500,  # noqa: DTZ001 - a naive one
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("most", [0, 10, 300, 1_000, 8_000])
def test_a_large_result_is_truncated_with_its_size_and_digest(name: str, most: int) -> None:
    """What is larger than allowed is recorded as its beginning, with size and digest of the whole, or a lower bound."""
    whole = encode_result(LARGE[name]).value
    data = canonical(whole)
    encoded = encode_result(LARGE[name], Limits(most))
    check_encoded(encoded, Limits(most))
    record = encoded.value
    assert [(e.pointer, e.kind) for e in encoded.encodings] == [("", "truncated")]
    assert record["form"] == ("text" if isinstance(whole, str) else "json")
    assert (whole if isinstance(whole, str) else data.decode()).startswith(record["head"])
    if record["exact"]:
        assert (record["bytes"], record["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    else:
        assert most < record["bytes"] <= len(data)


def test_the_beginning_of_a_large_result_fills_the_limit() -> None:
    """The head is as long as fits, quotes and escapes counted; size and digest are exact up to four times the limit."""
    most = Limits(20_000)
    encoded = encode_result(["\n" * 50] * 500, most)
    assert encoded.value["exact"] is True
    assert 19_000 < encoded.size <= 20_000


def test_marks_count_towards_the_limit() -> None:
    """A small value with very many encodings is as large as they are."""
    value = [b""] * 100
    assert encode_result(value, Limits(8_000)).value == [""] * 100
    assert encode_result(value, Limits(2_000)).value["truncated"] is True


@pytest.mark.parametrize("part", [[], {}, [0], {"": 0}, [[]], 0, "", [{"": []}, 1]], ids=str)
@pytest.mark.parametrize("odd", [0, 1])
def test_a_result_that_fits_is_never_truncated(part: Any, odd: int) -> None:
    """However small its parts are, a result of just as many bytes as allowed is whole, one byte more is truncated."""
    value = [part] * 500 + [b""] * odd
    whole = encode_result(value)
    marks = sum(33 + len(e.pointer) + len(e.kind) + len(e.type) for e in whole.encodings)
    assert encode_result(value, Limits(whole.size + marks)) == whole
    assert encode_result(value, Limits(whole.size + marks - 1)).lossy


def test_a_deep_result_keeps_its_depth_as_text() -> None:
    """Plain JSON below the limit of depth is kept as text and comes back; what is not plain there is named."""
    deep = {"a": nested(100, {"x": "\udce9"}), "b": nested(100, b"a")}
    encoded = encode_result(deep)
    check_encoded(encoded)
    assert [e.kind for e in encoded.encodings] == ["json", "too-deep"]
    back = decode_result(encoded.value, encoded.encodings)
    assert same(back["a"], deep["a"])


@pytest.mark.parametrize("outside", [0, 1])
def test_pairs_take_two_levels(outside: int) -> None:
    """Objects whose keys are no text nest twice as deep as they look, and stay within the limit."""
    value: Any = {1: "inside"}
    for _ in range(50):
        value = {1: value}
    encoded = encode_result(nested(outside, value) if outside else value)
    check_encoded(encoded)
    assert encoded.encodings[-1].kind == "too-deep"


def test_a_result_is_recorded_however_little_stack_is_left() -> None:
    """Where a function of one's own can still be called, encode_result does not raise either."""

    def probe(depth: int) -> None:
        if depth:
            probe(depth - 1)

    def dive() -> list[Encoded]:
        try:
            found = dive()
        except RecursionError:
            found = []
        try:
            probe(1)
        except RecursionError:
            return found
        if len(found) < 60:
            found.append(encode_result({"a": (1, hostile.Raises())}))
        return found

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(600)
    try:
        found = dive()
    finally:
        sys.setrecursionlimit(before)
    assert found[0].value is None
    assert found[0].lossy
    assert found[-1].value == {"a": [1, "<tests.strictjson.hostile.Raises, its repr raised RuntimeError>"]}


HOSTILE = st.integers(0, len(hostile.instances()) - 1).map(lambda index: hostile.instances()[index])


@given(st.lists(HOSTILE | VALUES, max_size=6), st.integers(0, 2_000))
def test_nothing_is_ever_raised(value: list[Any], most: int) -> None:
    """Any mixture of values and hostile objects is recorded within the limit."""
    check_encoded(encode_result(value, Limits(most)), Limits(most))


@pytest.mark.parametrize(
    "wire",
    [
        {},
        {"pointer": "", "kind": "nope", "type": ""},
        {"pointer": 1, "kind": "set", "type": ""},
        {"pointer": "", "kind": "set"},
    ],
)
def test_an_unknown_encoding_is_refused(wire: dict[str, Any]) -> None:
    """What is no encoding, or of an unknown kind, raises ValueError."""
    with pytest.raises(ValueError, match="known kind"):
        Encoding.from_wire(wire)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("%%", Encoding("", "bytes", "bytes")),
        (1, Encoding("", "bytes", "bytes")),
        ("x", Encoding("", "float", "float")),
        ("P1D", Encoding("", "timedelta", "")),
        ("P" + "9" * 50 + "DT0.000000S", Encoding("", "timedelta", "")),
        ("x", Encoding("", "decimal", "")),
        ([[[], 1]], Encoding("", "pairs", "")),
        ([[]], Encoding("", "set", "")),
        (["a"], Encoding("/1", "tuple", "")),
        (["a"], Encoding("no pointer", "tuple", "")),
        (5, Encoding("", "uuid", "")),
        ({"a": 1}, Encoding("/a/b", "tuple", "")),
    ],
)
def test_encodings_that_do_not_fit_are_passed_over(data: Any, encoding: Encoding) -> None:
    """A damaged list of encodings gives the data as it is."""
    assert decode_result(data, [encoding]) == data


def test_leaves_are_what_they_were() -> None:
    """Decimals keep their exponent, UUIDs and times their type."""
    values = [Decimal("1E+3"), Decimal("sNaN"), UUID(int=5), time(1, 2, 3), bytearray(b"a")]
    encoded = encode_result(values)
    assert list(map(repr, decode_result(encoded.value, encoded.encodings))) == list(map(repr, values))


def test_a_plain_result_loads_nothing_heavy() -> None:
    """The modules that only odd results need are not imported for a plain one."""
    source = (
        "import sys, ledger.strictjson as border\n"
        "border.encode_result({'a': [1]})\n"
        "print({'decimal', 'uuid', 'pathlib', 'ledger.strictjson.rules'} & sys.modules.keys())"
    )
    run = subprocess.run([sys.executable, "-S", "-c", source], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (run.stdout.strip(), run.returncode) == ("set()", 0), run.stderr
