"""Table variables in procedures: each call has its own, also where the statement was compiled by another call."""

from __future__ import annotations

from aglab.twin import freeze

from .fakes import Client

TAKE = """create procedure take @id int as
declare @gone table (id int not null, note varchar(10))
delete from t output deleted.id, deleted.note into @gone where id = @id
insert into @gone values (@id + 100, 'added')
update @gone set note = note + '!' where id = @id
delete from @gone where id = @id + 100 and note <> 'added'
select id, note from @gone order by id"""


def client() -> Client:
    """A session with a table of three rows and the procedure."""
    made = Client()
    made.run("create table t (id int not null primary key, note varchar(10)); insert into t values (1, 'a'), (2, 'b'), (3, 'c')")
    made.run(TAKE)
    return made


def test_every_call_has_its_own_table_variable() -> None:
    """OUTPUT INTO, INSERT, UPDATE and DELETE all write to the table of the call that runs, not of the one that compiled."""
    one = client()
    for number, note in ((1, "a!"), (2, "b!"), (3, "c!")):
        assert one.run(f"exec take {number}").rows == [(number, note), (number + 100, "added")]
    assert one.run("select count(*) from t").value == 0


def test_plans_of_table_variables_are_kept() -> None:
    """A procedure that is called often is compiled once."""
    one = client()
    one.run("exec take 1")
    body = one.host.instance.database("OLTP").find("dbo", "take").definition.body
    before = [set(statement.plan or ()) for statement in body]
    one.run("exec take 2")
    assert [set(statement.plan or ()) for statement in body] == before and any(before)


def test_a_procedure_is_kept_without_its_plans() -> None:
    """One that has run goes into the state file as it was written, and runs again from there."""
    one = client()
    one.run("exec take 1")
    databases = freeze.load(freeze.dump(one.host.instance.databases))
    module = databases["oltp"].find("dbo", "take")
    assert module.text == TAKE and all(statement.plan is None for statement in module.definition.body)
    one.host.instance.databases["oltp"].put(module)
    assert one.run("exec take 2").rows == [(2, "b!"), (102, "added")]


def test_a_roll_back_leaves_table_variables_alone() -> None:
    """ROLLBACK takes back the table's rows and keeps the variable's; a failed statement takes back its own in both."""
    one = client()
    text = """declare @kept table (id int not null primary key)
        begin transaction
        delete from t where id = 1
        insert into @kept values (1), (2)
        save transaction here
        insert into @kept values (3)
        rollback transaction here
        rollback transaction
        insert into @kept select id from (values (4), (4)) as twice (id)
        select id from @kept order by id"""
    result = one.run(text)
    assert result.errors == [2627] and result.rows == [(1,), (2,), (3,)]
    assert one.run("select count(*) from t").value == 3


def test_a_local_cursor_ends_with_its_procedure() -> None:
    """A procedure that left its cursor open can be called again; a global one is still there."""
    one = client()
    walk = "declare c cursor local fast_forward for select id from t open c fetch next from c into @id"
    one.run(f"create procedure walk @id int as {walk}")
    assert one.run("exec walk 1").errors == [] and one.run("exec walk 1").errors == []
    one.run("create procedure leave_it as declare g cursor global fast_forward for select id from t open g")
    one.run("exec leave_it")
    assert one.run("exec leave_it").errors == [16915, 16905]
