"""
The agent's ledger with its tools, for the worker: `ledger resume --all --app examples.mini_agent.app:LEDGER`.

MINI_AGENT names the folder in which the agent was (default: mini-agent).
"""

import os
from pathlib import Path

from ledger.demo.agent import WatchedTools, open_ledger
from ledger.demo.place import Place

PLACE = Place(Path(os.environ.get("MINI_AGENT", "mini-agent")))
TOOLS = WatchedTools(PLACE.found(), edited=PLACE.edited)
LEDGER = open_ledger(PLACE.url, TOOLS, reconcile=True)  # edit_file can look for itself what a crash left
