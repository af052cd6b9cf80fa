"""Types that the tests of hints use; at the top level, where `get_type_hints` finds them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Annotated, Any, NewType, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Field, field_validator

ODD = object()


class Unit(Enum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Odd(Enum):
    PAIR = (1, 2)


@dataclass
class Place:
    city: str
    zip: str | None = None
    tags: list[str] = field(default_factory=list)
    computed: str = field(default="x", init=False)


@dataclass
class Checked:
    n: int

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError


@dataclass(init=False)
class ByHand:
    n: int

    def __init__(self, n: int) -> None:
        self.n = n


@dataclass
class Tree:
    value: int
    children: "list[Tree]" = field(default_factory=list)


@dataclass
class Holder:
    thing: Any = field(default_factory=object)
    odd: Any = ODD


class Options(TypedDict):
    deep: bool
    depth: NotRequired[Annotated[int, "how deep"]]


Chain = TypedDict("Chain", {"next": "NotRequired[Chain]"})  # noqa: UP013 - it refers to itself

UserId = NewType("UserId", int)


class Mail(BaseModel):
    to: list[str] = Field(min_length=1)
    subject: str = "none"

    @field_validator("subject")
    @classmethod
    def short(cls, value: str) -> str:
        if len(value) > 10:
            raise ValueError("too long a subject")
        return value


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Node(BaseModel):
    value: int
    next: "Node | None" = None


class Either(BaseModel):
    it: int | list[int]


class Undescribed(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    handle: Callable[[], int]  # nothing in JSON


def same_name(kind: str) -> type:
    """Make another type with a name that is taken."""
    if kind == "node":

        class Node(BaseModel):
            other: int
            next: "Node | None" = None

        return Node
    return dataclass(type("Tree", (), {"__annotations__": {"n": "list[Tree]"}, "__module__": __name__}))
