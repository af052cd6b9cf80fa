"""
Draws docs/demo.svg, the README's picture, from what `ledger demo` prints.

    ledger demo | python scripts/picture.py docs/demo.svg
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

COLUMNS = 100
SHOWN = {"A coding agent": 4, "2.": 11, "3.": 9, "5.": 9, "7.": 9, "10.": 11}
"""The chapters that are drawn, by how their headings begin, with how many of their lines."""
LINE, LEFT, TOP = 18, 18, 46
COLOURS = {"heading": "#8be9fd", "command": "#50fa7b", "doubt": "#ffb86c", "plain": "#e6e6e6"}
HEADING = re.compile(r"(\d+\. |A coding agent)")


def chapters(text: str) -> list[list[str]]:
    """Return the story's chapters, each with its heading first, blank lines pressed together."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if HEADING.match(line):
            found.append([])
        if found and (line.strip() or (found[-1] and found[-1][-1].strip())):
            found[-1].append(line.rstrip())
    return found


def drawn(text: str) -> list[str]:
    """Return the lines to draw: the chosen chapters, cut to width and length, without this machine's paths."""
    lines: list[str] = []
    for chapter in chapters(text):
        for heading, longest in SHOWN.items():
            if chapter[0].startswith(heading):
                lines += [*chapter[:longest], ""]
    lines = [line for n, line in enumerate(lines) if line or lines[n - 1]]
    lines = [re.sub(r"happens in \S+", "happens in one folder.", line) for line in lines]
    plain = (re.sub(r" --db sqlite:\S+", "", line) for line in lines)
    plain = (re.sub(r"(?:/[\w.-]+)+/(?=(?:work|edits\.log|trace)\b)", "", line) for line in plain)
    return [line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…" for line in plain]


def kind(line: str) -> str:
    """Return what a line is, for its colour."""
    if HEADING.match(line):
        return "heading"
    if line.lstrip().startswith("$ "):
        return "command"
    return "doubt" if re.search(r"SIGKILL|needs-review|outcome-unknown|may have happened", line) else "plain"


def svg(lines: list[str]) -> str:
    """Return the picture: a terminal window with these lines."""
    width, height = LEFT * 2 + int(COLUMNS * 7.83), TOP + LINE * len(lines) + 14
    rows = "\n".join(
        f'<text x="{LEFT}" y="{TOP + LINE * n}" fill="{COLOURS[kind(line)]}" xml:space="preserve">{escape(line)}</text>'
        for n, line in enumerate(lines)
    )
    dots = "".join(
        f'<circle cx="{LEFT + 20 * n}" cy="18" r="6" fill="{fill}"/>'
        for n, fill in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="ledger demo"'
        f' font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#1e1f29"/>\n{dots}\n{rows}\n</svg>\n'
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(svg(drawn(sys.stdin.read())), encoding="utf-8")
