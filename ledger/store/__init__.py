"""Where events are kept: one port, one adapter a database."""
