"""The PostgreSQL adapter: plain SQL on psycopg 3, many processes and machines on one server."""
