"""Classes whose own code does what it should not."""

from collections.abc import Iterator, Mapping
from typing import Any


class Raises:
    """Every look at it raises."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class Liar:
    """Claims to be text, and that it can be dumped."""

    def __repr__(self) -> str:
        return "a liar"

    def __getattribute__(self, name: str) -> Any:
        return str if name == "__class__" else object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        return self


class LongRepr:
    def __repr__(self) -> str:
        return "x" * 1_000_000


class OddRepr:
    """Its repr is a subclass of text, holding what a terminal would obey."""

    def __repr__(self) -> str:
        return OddText("\x1b]52;\udce9")


class OddText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("no text")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def encode(self, *_: Any, **__: Any) -> bytes:
        raise RuntimeError("no bytes")


class OddNumber(int):
    def __repr__(self) -> str:
        return "NaN"

    def __int__(self) -> int:
        raise RuntimeError("no number")


class OddDict(dict[Any, Any]):
    def items(self) -> Any:
        raise RuntimeError("no items")

    def __iter__(self) -> Any:
        raise RuntimeError("no keys")


class OddList(list[Any]):
    def __iter__(self) -> Any:
        raise RuntimeError("no items")

    def __len__(self) -> int:
        raise RuntimeError("no length")


class OddSet(set[Any]):
    def __iter__(self) -> Any:
        raise RuntimeError("no elements")


class Endless(Mapping[Any, Any]):
    """A mapping that never ends."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, key: Any) -> Any:
        return key

    def __iter__(self) -> Iterator[int]:
        number = 0
        while True:
            yield number
            number += 1


class DumpsItself:
    """Its dump is one more of its kind."""

    def model_dump(self) -> Any:
        return DumpsItself()


class DumpRaises:
    def model_dump(self) -> Any:
        raise ValueError("no dump")

    def __repr__(self) -> str:
        return "DumpRaises()"


class Meta(type):
    """A metaclass that answers no question about its class."""

    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(name)

    def __hash__(cls) -> int:
        raise RuntimeError("no hash")

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("no comparison")


class Faceless(metaclass=Meta):
    pass


class Recursive:
    def __repr__(self) -> str:
        return repr(self)


def instances() -> list[Any]:
    """Return one of each that can at least be compared."""
    return [
        Raises(),
        Liar(),
        LongRepr(),
        OddRepr(),
        OddText("odd"),
        OddNumber(7),
        OddDict(a=1),
        OddList([1]),
        OddSet({1}),
        DumpsItself(),
        DumpRaises(),
        Recursive(),
        Raises,
    ]
