"""The SQLite adapter: plain SQL on the standard library's driver, one file, several processes."""
