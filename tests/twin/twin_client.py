"""Ways to talk to a twin in another process as a user would."""

import contextlib
import os
import shutil
import subprocess
import time

import pytest

PROFILE = "hpe-dl380-gen9-ssd"


class Link:
    """A twin and ways to talk to it as a user would."""

    def __init__(self, twin):
        self.twin = twin
        self.ports = {node.name: node.port for node in twin.nodes}

    def connect(self, node="sql1", database="master", password=None, autocommit=True, timeout=0, user="sa"):
        """A connection of mssql-python (or pyodbc with FreeTDS, with AGLAB_DRIVER=pyodbc)."""
        password = self.twin.password() if password is None else password
        if os.environ.get("AGLAB_DRIVER") == "pyodbc":
            import pyodbc

            text = f"Driver=FreeTDS;Server=127.0.0.1;Port={self.ports[node]};TDS_Version=7.4;"
            text += f"UID={user};PWD={password};Database={database}"
            return pyodbc.connect(text, autocommit=autocommit, timeout=timeout)
        import mssql_python

        mssql_python.pooling(enabled=False)
        text = f"Server=127.0.0.1,{self.ports[node]};UID={user};PWD={password};Database={database};"
        text += "TrustServerCertificate=yes;Encrypt=yes"
        return mssql_python.connect(text, autocommit=autocommit, timeout=timeout)

    def sql(self, text, node="sql1", database="master", parameters=()):
        """Every result set of a batch as lists of dicts."""
        with contextlib.closing(self.connect(node, database)) as connection:
            return run(connection, text, parameters)

    def rows(self, text, node="sql1", database="master", parameters=()):
        """The last result set of a batch."""
        sets = self.sql(text, node, database, parameters)
        return sets[-1] if sets else []

    def value(self, text, node="sql1", database="master", parameters=()):
        """The first cell of the last result set."""
        return next(iter(self.rows(text, node, database, parameters)[0].values()))

    def tsql(self, text, node="sql1", password=None):
        """What FreeTDS's tsql prints for a script."""
        if shutil.which("tsql") is None:
            pytest.skip("FreeTDS's tsql is not installed (apt-get install freetds-bin)")
        password = self.twin.password() if password is None else password
        command = ["tsql", "-H", "127.0.0.1", "-p", str(self.ports[node]), "-U", "sa", "-P", password, "-o", "q"]
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=60, env={**os.environ, "TDSVER": "7.4"}
        )
        return done.stdout + done.stderr


def run(connection, text, parameters=()):
    """Every result set of a batch as lists of dicts."""
    cursor = connection.cursor()
    cursor.execute(text, parameters) if parameters else cursor.execute(text)
    sets = []
    while True:
        if cursor.description:
            names = [column[0] for column in cursor.description]
            sets.append([dict(zip(names, row, strict=True)) for row in cursor.fetchall()])
        if not cursor.nextset():
            return sets


def fails(connection, text):
    """The words of the error that a batch ends with."""
    with pytest.raises(Exception) as caught:
        run(connection, text)
    return str(caught.value)


def until(condition, limit_s=60.0):
    """Wait, bounded, until a condition holds."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
