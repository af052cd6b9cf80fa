"""How many of what, in words."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return `1 call` or `1,204 calls`; `many` is given where it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
