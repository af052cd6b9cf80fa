"""Which columns of a table have room."""

import pytest

from ledger.cli.seating import Plan, Seat, Size, fitted, seated


def seat(room: int, *, least: int = 0, leave: int = 0, apart: int = 0, short: int = 0, valued: bool = True) -> Seat:
    size = Size(room, least or room, least or room)
    return Seat(size, Size(short, short, short) if short else size, leave, apart, valued)


@pytest.mark.parametrize(
    ("room", "plan"),
    [
        (None, Plan((0, 1, 2, 3))),
        (42, Plan((0, 1, 2, 3))),
        (41, Plan((0, 1, 2))),
        (37, Plan((0, 1, 2))),
        (36, Plan((0, 1, 2), short=True)),
        (33, Plan((0, 1, 2), short=True)),
        (32, Plan((0, 2), short=True)),
        (24, Plan((0, 2), short=True)),
        (23, Plan((1, 2, 3), (0,))),
        (21, Plan((1, 2), (0,))),
        (15, Plan((1, 2), (0,), short=True)),
        (11, Plan((2,), (0,), short=True)),
        (1, Plan((2,), (0,), short=True)),
    ],
)
def test_as_little_as_possible_goes(room: int | None, plan: Plan) -> None:
    """Empty columns go, short forms come, then columns leave; where one more had to, an id is set apart for them."""
    seats = [seat(18, apart=2), seat(7, leave=1), seat(8, short=4), seat(3, leave=9, valued=False)]
    assert seated(seats, room) == plan


def test_what_left_comes_back_where_a_later_one_made_room() -> None:
    """Columns leave by their number, and the first of them may be narrower than the last."""
    seats = [seat(10), seat(4, leave=1), seat(5, leave=2), seat(20, leave=3)]
    assert seated(seats, 34) == Plan((0, 3), short=True)
    assert seated(seats, 23) == Plan((0, 1, 2), short=True)
    assert seated(seats, 22) == Plan((0, 2), short=True)


def test_room_is_taken_from_the_widest() -> None:
    """Nothing gets less than its least, and what a column wants is taken from it last."""
    sizes = [Size(10, 10, 10), Size(30, 8, 8), Size(20, 8, 15)]
    assert fitted(sizes, None) == [10, 30, 20]
    assert fitted(sizes, 50) == [10, 18, 18]
    assert fitted(sizes, 37) == [10, 8, 15]
    assert fitted(sizes, 5) == [10, 8, 8]
