"""The history of the tables, for Alembic (`script_location = "ledger:migrations"`)."""
