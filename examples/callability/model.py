"""A model that repairs what it is told to repair, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from examples.scripted import Ask, Messages, Turn, answers


@dataclass(slots=True)
class Repairing:
    """
    Makes a wrong call and reads the answer: it tries again only where `next` says so.

    `wanted` is what its user would say if it asked: it takes from there only what the answer blames, so that a vague
    answer leads nowhere. `tries` holds what it sent.
    """

    wrong: Ask
    wanted: tuple[str, Mapping[str, Any]]
    tries: list[Ask] = field(default_factory=list)

    def __call__(self, messages: Messages) -> Turn:
        answer = answers(messages)[-1] if self.tries else None
        if answer is not None and answer["next"] != "repair":
            return "Done." if answer["status"] == "succeeded" else "I stop here, and ask you."
        self.tries.append(self.wrong if answer is None else self._repaired(answer))
        return [self.tries[-1]]

    def _repaired(self, answer: Mapping[str, Any]) -> Ask:
        tool, sent = self.tries[-1]
        wanted_tool, wanted = self.wanted
        if answer["code"] == "unknown_tool":
            return (wanted_tool if wanted_tool in answer["message"] else tool), sent
        if answer.get("gate") == "decode":
            return tool, dict(wanted)  # it was told to send the whole arguments again
        blamed = {violation["pointer"].split("/")[1] for violation in answer.get("violations", ())}
        blamed |= {name for name, value in sent.items() if {repr(value), name} & set(answer["message"].split())}
        kept = {name: value for name, value in sent.items() if name not in blamed}
        return tool, kept | {name: value for name, value in wanted.items() if name in blamed}
