"""What the tests of the catalog's life share."""

from pathlib import Path

import pytest

from tests.catalog.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A catalog folder with no tool in it, and a lock that has none."""
    shelf = Shelf(tmp_path)
    shelf.publish()
    return shelf
