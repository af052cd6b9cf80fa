"""What a reader of pages expects."""

import unittest

from pages import page

ITEMS = [1, 2, 3, 4, 5, 6, 7]


class PageTest(unittest.TestCase):
    """Seven items, three on a page."""

    def test_first_page_begins_with_the_first_item(self) -> None:
        """Pages count from 1."""
        self.assertEqual(page(ITEMS, 1, 3), [1, 2, 3])

    def test_last_page_may_be_short(self) -> None:
        """Nothing is made up to fill it."""
        self.assertEqual(page(ITEMS, 3, 3), [7])


if __name__ == "__main__":
    unittest.main()
