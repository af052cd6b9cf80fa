"""The responses of a Gemini stream put together, and the calls whose arguments Vertex streams in pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

from ledger.providers.plain import plain, view
from ledger.strictjson import Json, JsonObject

_STEP: Final = re.compile(r"\.([^\W\d][\w-]*)|\[(\d{1,6})\]|\['([^'\\]*)'\]|\[\"([^\"\\]*)\"\]")
_VALUES: Final[dict[str, type | tuple[type, ...]]] = {
    "boolValue": bool,
    "nullValue": str,
    "numberValue": (int, float),
    "stringValue": str,
}
_EXACT: Final = 2**53  # above it a double stands for more than one whole number


def joined(parts: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the parts of a stream with runs of plain text made one."""
    found: list[JsonObject] = []
    for part in parts:
        before = found[-1] if found else {}
        if part.keys() == before.keys() and part.keys() in ({"text"}, {"text", "thought"}):
            found[-1] = before | {"text": f"{before['text']}{part['text']}"}
        elif part != {"text": ""}:
            found.append(part)
    return found


def whole_calls(parts: Iterable[JsonObject]) -> list[JsonObject]:
    """
    Return the parts with each call that came in pieces as one (`streamFunctionCallArguments` of Vertex).

    A first piece names the tool, the next ones hold `partialArgs`; one without `willContinue` is the last. A call
    whose pieces leave any doubt about its arguments has none, and keeps `willContinue`: see `is_open`.
    """
    found: list[JsonObject] = []
    pieces: list[JsonObject] = []
    place, streamed = 0, False
    for part in parts:
        body = part.get("functionCall")
        if not isinstance(body, dict):
            found.append(part)
            continue
        if streamed and not body and not pieces:  # an end that is told once more
            continue
        if not (pieces and _continues(body, pieces[0])):
            pieces, place = [], len(found)
            found.append(part)
            if not (body.get("partialArgs") or body.get("willContinue")):
                continue
        streamed = True
        pieces.append(body)
        found[place] = part | found[place] | {"functionCall": _put_together(pieces)}
        if not body.get("willContinue"):
            pieces = []
    return found


def is_open(part: JsonObject) -> bool:
    """Whether a part holds a call whose arguments are not known in whole."""
    body = part.get("functionCall")
    return isinstance(body, dict) and bool(body.get("willContinue"))


def _continues(body: JsonObject, first: JsonObject) -> bool:
    """Whether a call's body goes on with the call that began so; a name without arguments begins another one."""
    if body.get("args") or body.get("id") not in (None, "", first.get("id")):
        return False
    return not body.get("name") or (body["name"] == first.get("name") and bool(body.get("partialArgs")))


def _put_together(pieces: Sequence[JsonObject]) -> JsonObject:
    """Return the call that the pieces make: with its arguments, or as one that is still open."""
    body = {key: pieces[0][key] for key in ("id", "name") if pieces[0].get(key)}
    try:
        return body | {"args": _arguments(pieces)}
    except ValueError:
        return body | {"willContinue": True}


def _arguments(pieces: Sequence[JsonObject]) -> JsonObject:
    """Return the arguments; raises `ValueError` where the pieces do not say without a doubt what stands where."""
    if pieces[0].get("args") or pieces[-1].get("willContinue"):
        raise ValueError("arguments of two kinds, or more to come")
    arguments: JsonObject = {}
    growing: dict[tuple[str | int, ...], bool] = {}
    for piece in pieces:
        given = piece.get("partialArgs") or ()
        for each in given if isinstance(given, list | tuple) else (given,):
            argument = {camel(key): value for key, value in (view(each) or {}).items() if value is not None}
            path = _path(argument.get("jsonPath"))
            _take(arguments, path, _value(argument, again=growing.get(path, False)), again=growing.get(path))
            growing[path] = bool(argument.get("willContinue"))
    if any(growing.values()):
        raise ValueError("a text goes on")
    return arguments


def _path(given: object) -> tuple[str | int, ...]:
    """Return the steps of a JSONPath that leads to one place."""
    text = given if isinstance(given, str) and given.startswith("$") else ""
    steps: list[str | int] = []
    at = 1
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise ValueError(text)
        name, place, *quoted = step.groups()
        steps.append(int(place) if place is not None else next(each for each in (name, *quoted) if each is not None))
        at = step.end()
    if not steps:
        raise ValueError("no path to an argument")
    return tuple(steps)


def _take(arguments: JsonObject, path: Sequence[str | int], value: Json, *, again: bool | None) -> None:
    """Put a value to its place; `again`: whether more of it was to come (None: this is its first piece)."""
    place: Any = arguments
    for step, following in pairwise(path):
        place = _under(place, step, [] if isinstance(following, int) else {})
    before = _under(place, path[-1], value)
    if again is None and before is not value:
        raise ValueError("the place holds something already")
    if again is not None and value != "":
        if not again or not (isinstance(before, str) and isinstance(value, str)):
            raise ValueError("the value was whole")
        place[path[-1]] = before + value


def _under(place: Any, step: str | int, fresh: Json) -> Any:
    """Return what stands in an object or a list under a step, the fresh value where nothing did."""
    if isinstance(step, str) and isinstance(place, dict):
        return place.setdefault(step, fresh)
    if isinstance(step, int) and isinstance(place, list) and step <= len(place):
        if step == len(place):
            place.append(fresh)
        return place[step]
    raise ValueError("no such place")


def _value(argument: JsonObject, *, again: bool) -> Json:
    """Return the one value that a piece holds; a text that grew may end with none."""
    given = [key for key in _VALUES if key in argument]
    if again and not given:
        return ""
    if len(given) != 1 or not isinstance(argument[given[0]], _VALUES[given[0]]):
        raise ValueError("one value is expected")
    value = argument[given[0]]
    if given[0] == "nullValue":
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)  # numbers come as doubles, whole ones too
    return plain(value)


def camel(key: object) -> str:
    """Return a key as the API's JSON spells it."""
    first, *others = str(key).split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others)
