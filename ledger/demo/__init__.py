"""A small coding agent that needs no network: its tools, a scripted model, and a project with one bug."""
