"""A message of any provider's transcript, taken apart: the model's answer, results, and what else the host says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ledger.errors import UsageError
from ledger.providers import anthropic_parse, converse, gemini_parse, openai_parse, responses_parse
from ledger.providers.plain import plain, rest, text_from, text_or_none, view
from ledger.providers.port import Reply
from ledger.strictjson import Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """
    A result as a transcript holds it, for the call with this id.

    `content` is its text, or the provider's parts or object; `name` the tool's, where results carry it.
    """

    content: Json
    id: str | None = None
    name: str | None = None
    error: bool = False

    @property
    def text(self) -> str:
        """The content as a text: parts joined, anything else as JSON."""
        return text_from(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """A message taken apart: `reply` if it is the model's, else its results and the `rest` of it, if any is left."""

    role: str
    reply: Reply | None = None
    results: tuple[Given, ...] = ()
    rest: JsonObject | None = None

    @property
    def text(self) -> str:
        """The text of the rest."""
        left = self.rest or {}
        return text_from(left.get("content", left.get("parts")))

    @property
    def words(self) -> str:
        """All of it as a text: what the model says, or the results and the rest."""
        if self.reply is not None:
            return self.reply.text or ""
        return "\n".join(filter(None, (*(given.text for given in self.results), self.text)))


def take_apart(provider: str, role: str, message: object) -> Apart:
    """Return the parts of a provider's message (an object, an SDK's object, or whatever else a host recorded)."""
    whole = view(message)
    if whole is None:
        return Apart(role=role, rest={"role": role, "content": text_from(message)})
    return _TAKERS.get(provider, _other)(role, whole)


def _other(role: str, whole: JsonObject) -> Apart:
    return Apart(role=role, rest=whole)


def _answer(role: str, whole: JsonObject, parse: Callable[[object], Reply]) -> Apart:
    try:
        return Apart(role=role, reply=parse(whole))
    except UsageError:  # another provider's content under this one's name
        return Apart(role=role, rest=whole)


def _openai(role: str, whole: JsonObject) -> Apart:
    if role == "assistant":
        return _answer(role, {"role": role} | whole, openai_parse.parse)
    if role != "tool":
        return Apart(role=role, rest=whole)
    given_id = text_or_none(whole.get("tool_call_id")) or None
    error = whole.get("x_error") is True
    given = Given(content=one_text(plain(whole.get("content"))), id=given_id, error=error)
    return Apart(role=role, results=(given,))


def _anthropic(role: str, whole: JsonObject) -> Apart:
    if role == "assistant":
        return _answer(role, {"role": role} | whole, anthropic_parse.parse)
    content = whole.get("content")
    if not isinstance(content, list | tuple):
        return Apart(role=role, rest=whole)
    blocks = [plain(view(block) or block) for block in content]
    ends = [block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_result"]
    left = [block for block in blocks if block not in ends]
    results = tuple(
        Given(
            content=one_text(block.get("content")),
            id=text_or_none(block.get("tool_use_id")) or None,
            error=block.get("is_error") is True,
        )
        for block in ends
    )
    return Apart(role=role, results=results, rest=whole | {"content": left} if left or not ends else None)


def _bedrock(role: str, whole: JsonObject) -> Apart:
    if role == "assistant":
        return _answer(role, {"role": role} | whole, converse.parse)
    apart = _anthropic(role, whole | {"content": converse.to_blocks(whole.get("content"))})
    left = apart.rest and {"role": role, "content": converse.from_blocks(apart.rest["content"])}
    return Apart(role=role, results=apart.results, rest=left)


def _gemini(role: str, whole: JsonObject) -> Apart:
    if role in ("model", "assistant"):
        return _answer(role, {"role": "model"} | whole, gemini_parse.parse)
    parts = gemini_parse.parts_of(whole)
    ends = [found for part in parts if (found := view(part.get("functionResponse"))) is not None]
    left = [part for part in parts if "functionResponse" not in part]
    results = tuple(_response(each) for each in ends)
    if not left and ends:
        return Apart(role=role, results=results)
    return Apart(role=role, results=results, rest={"role": role, "parts": left})


def _response(given: Mapping[str, Any]) -> Given:
    """Read a function's response; `output` or `error` alone hold what Gemini would wrap for the model."""
    response = plain(given.get("response"))
    only = next(iter(response)) if isinstance(response, dict) and len(response) == 1 else None
    known = only in ("output", "error")
    return Given(
        content=response[only] if known and isinstance(response[only], str) else response,
        id=text_or_none(given.get("id")) or None,
        name=text_or_none(given.get("name")),
        error=only == "error",
    )


def _responses(role: str, whole: JsonObject) -> Apart:
    if responses_parse.is_result(whole):
        plainly = whole["type"] == "function_call_output"
        content = one_text(plain(whole.get("output"))) if plainly else rest(whole, {"call_id"})
        return Apart(role=role, results=(Given(content=content, id=text_or_none(whole.get("call_id")) or None),))
    if responses_parse.is_output(whole):
        return _answer(role, {"output": [whole]}, responses_parse.parse)
    return Apart(role=role, rest=whole)


def one_text(content: Json) -> Json:
    """Return the text of content that is one plain text part; anything else as it is, nothing as ''."""
    if content is None:
        return ""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        part = content[0]
        if part.keys() <= {"type", "text"} and isinstance(part.get("text"), str):
            return part["text"]
    return content


_TAKERS: Final[dict[str, Callable[[str, JsonObject], Apart]]] = {
    "openai": _openai,
    "mistral": _openai,
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "gemini": _gemini,
    "responses": _responses,
}
