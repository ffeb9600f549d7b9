"""Constraints and the rows that are there already."""

from __future__ import annotations

from typing import Any

import pytest

from .fakes import Client, FakeHost
from .test_partitions import refused, rows

TABLES = """CREATE TABLE dbo.p (id int NOT NULL PRIMARY KEY); INSERT dbo.p VALUES (1), (2)
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int NULL, b varchar(20))
INSERT dbo.t VALUES (1, 1, 'x'), (2, -5, 'y'), (3, NULL, 'z')"""
STATE = "SELECT name, is_disabled, is_not_trusted FROM sys.{} ORDER BY name"


@pytest.fixture
def client() -> Client:
    made = Client(FakeHost("OLTP"))
    rows_of(made, TABLES)
    return made


def rows_of(client: Client, text: str) -> Any:
    result = client.run(text)
    assert not [m for m in result.messages if m.is_error], result.messages
    return result.sets[-1] if result.sets else []


def test_a_new_constraint_is_tested_against_the_rows(client: Client) -> None:
    """547 names ALTER TABLE, and nothing of the constraint stays; NULL breaks no CHECK and no FOREIGN KEY."""
    number, text = refused(client, "ALTER TABLE dbo.t ADD CONSTRAINT ck CHECK (a > 0)")
    assert (number, text) == (
        547,
        'The ALTER TABLE statement conflicted with the CHECK constraint "ck". The conflict occurred in database "OLTP", '
        'table "dbo.t".',
    )
    number, text = refused(client, "ALTER TABLE dbo.t ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES dbo.p (id)")
    assert number == 547
    assert 'FOREIGN KEY constraint "fk". The conflict occurred in database "OLTP", table "dbo.p", column \'id\'.' in text
    assert rows(client, "SELECT COUNT(*) FROM sys.objects WHERE type IN ('C', 'F')") == [(0,)]
    rows_of(client, "UPDATE dbo.t SET a = 2 WHERE a < 0")
    rows_of(client, "ALTER TABLE dbo.t ADD CONSTRAINT ck CHECK (a > 0), CONSTRAINT fk FOREIGN KEY (a) REFERENCES dbo.p (id)")
    assert rows(client, STATE.format("check_constraints")) == [("ck", False, False)]
    assert rows(client, STATE.format("foreign_keys")) == [("fk", False, False)]


def test_nocheck_leaves_a_constraint_that_is_not_trusted(client: Client) -> None:
    """Old rows stay, new ones are tested; WITH CHECK CHECK tests all and makes it trusted again."""
    rows_of(client, "ALTER TABLE dbo.t WITH NOCHECK ADD CONSTRAINT ck CHECK (a > 0)")
    rows_of(client, "ALTER TABLE dbo.t WITH NOCHECK ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES dbo.p (id)")
    assert rows(client, STATE.format("check_constraints")) == [("ck", False, True)]
    assert rows(client, STATE.format("foreign_keys")) == [("fk", False, True)]
    assert refused(client, "INSERT dbo.t VALUES (4, -1, 'q')")[0] == 547
    assert refused(client, "ALTER TABLE dbo.t WITH CHECK CHECK CONSTRAINT ALL")[0] == 547
    assert rows(client, "DBCC CHECKCONSTRAINTS ('dbo.t') WITH NO_INFOMSGS") == [
        ("[dbo].[t]", "[ck]", "[id] = '2' AND [a] = '-5' AND [b] = 'y'"),
        ("[dbo].[t]", "[fk]", "[a] = '-5'"),
    ]
    rows_of(client, "DELETE dbo.t WHERE a < 0; ALTER TABLE dbo.t WITH CHECK CHECK CONSTRAINT ck, fk")
    assert rows(client, STATE.format("check_constraints")) == [("ck", False, False)]
    assert rows(client, STATE.format("foreign_keys")) == [("fk", False, False)]
    assert client.run("DBCC CHECKCONSTRAINTS").sets == []


def test_a_disabled_constraint_tests_nothing(client: Client) -> None:
    """NOCHECK CONSTRAINT lets any row in, children too; enabling it alone does not look back; a rollback brings it back."""
    rows_of(client, "DELETE dbo.t WHERE a < 0")
    rows_of(client, "ALTER TABLE dbo.t ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES dbo.p (id), CONSTRAINT ck CHECK (a > 0)")
    rows_of(client, "BEGIN TRAN; ALTER TABLE dbo.t NOCHECK CONSTRAINT ALL; ROLLBACK")
    assert refused(client, "INSERT dbo.t VALUES (4, -1, 'q')")[0] == 547
    rows_of(client, "ALTER TABLE dbo.t NOCHECK CONSTRAINT ALL; INSERT dbo.t VALUES (4, -1, 'q'); DELETE dbo.p")
    assert rows(client, STATE.format("foreign_keys")) == [("fk", True, True)]
    rows_of(client, "ALTER TABLE dbo.t CHECK CONSTRAINT ALL")
    assert rows(client, STATE.format("foreign_keys")) == [("fk", False, True)]
    number, text = refused(client, "ALTER TABLE dbo.t NOCHECK CONSTRAINT nosuch")
    assert (number, text) == (4917, "Constraint 'nosuch' does not exist.")
    assert refused(client, "DBCC CHECKCONSTRAINTS ('nosuch')")[0] == 2501


def test_new_columns_have_values_in_old_rows(client: Client) -> None:
    """NOT NULL takes the default, NULL only WITH VALUES, a computed column its expression; a CHECK among them sees them."""
    rows_of(
        client,
        "ALTER TABLE dbo.t ADD d int NOT NULL DEFAULT 7, e AS (a + d) PERSISTED, f int NULL DEFAULT 3 WITH VALUES, "
        "g int DEFAULT 4",
    )
    assert rows(client, "SELECT d, e, f, g FROM dbo.t ORDER BY id") == [(7, 8, 3, None), (7, 2, 3, None), (7, None, 3, None)]
    assert refused(client, "ALTER TABLE dbo.t ADD h int NOT NULL DEFAULT 0 CHECK (h > 0)")[0] == 547
    assert refused(client, "SELECT h FROM dbo.t")[0] == 207


def test_repair_wants_single_user(client: Client) -> None:
    """7919 while others may come in; alone, a repair runs and finds nothing."""
    assert refused(client, "DBCC CHECKTABLE ('dbo.t', REPAIR_REBUILD)")[0] == 7919
    client.host.instance.database("OLTP").options["user_access"] = 1
    assert any(m.number == 2593 for m in client.run("DBCC CHECKTABLE ('dbo.t', REPAIR_REBUILD)").messages)
