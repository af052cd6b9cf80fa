"""What the tests of the catalog's life share."""

from pathlib import Path

import pytest

from tests.catalog.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A catalog folder with nothing in it."""
    return Shelf(tmp_path)
