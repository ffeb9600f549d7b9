"""SQLAlchemy and pandas over each driver that they have: schema, ORM, OUTPUT INSERTED, reflection, isolation levels, frames."""

import datetime
import decimal
import uuid
from urllib.parse import quote_plus

import pytest
from odbc_calls import connection_text

sa = pytest.importorskip("sqlalchemy")
pd = pytest.importorskip("pandas")
from sqlalchemy import orm  # noqa: E402

DRIVERS = ["microsoft", "freetds", "pymssql", "mssqlpython"]
SOME = ["microsoft", "pymssql"]  # what does not depend on how a driver sends parameters


def url_of(driver, link, database):
    """The URL of an engine, or a skip where the driver is not installed."""
    word, port = quote_plus(link.twin.password()), link.ports["sql1"]
    if driver in ("microsoft", "freetds"):
        pytest.importorskip("pyodbc").pooling = False
        return "mssql+pyodbc:///?odbc_connect=" + quote_plus(connection_text(driver, link, database=database))
    if driver == "pymssql":
        pytest.importorskip("pymssql")
        return f"mssql+pymssql://sa:{word}@127.0.0.1:{port}/{database}"
    pytest.importorskip("mssql_python")
    if not hasattr(__import__("sqlalchemy.dialects.mssql", fromlist=["x"]), "mssqlpython"):
        pytest.skip("this SQLAlchemy has no dialect for mssql-python")
    return f"mssql+mssqlpython://sa:{word}@127.0.0.1:{port}/{database}?Encrypt=yes&TrustServerCertificate=yes"


@pytest.fixture
def engine(request, link):
    """An engine on a database of its own, with schema app."""
    link.sql("CREATE DATABASE alchemy")
    link.sql("CREATE SCHEMA app", database="alchemy")
    words = {"fast_executemany": True} if request.param == "microsoft" else {}
    try:
        made = sa.create_engine(url_of(request.param, link, "alchemy"), poolclass=sa.pool.NullPool, **words)
        yield made
    finally:
        link.sql("ALTER DATABASE alchemy SET SINGLE_USER WITH ROLLBACK IMMEDIATE; DROP DATABASE alchemy")


def models():
    """Two mapped classes with an identity, constraints and a foreign key."""

    class Base(orm.DeclarativeBase):
        """The metadata."""

    class Parent(Base):
        """The one side."""

        __tablename__ = "parent"
        __table_args__ = (
            sa.UniqueConstraint("code", name="uq_code"),
            sa.CheckConstraint("size > 0", name="ck_size"),
            {"schema": "app"},
        )
        id = sa.Column(sa.Integer, primary_key=True)
        code = sa.Column(sa.String(20), nullable=False)
        name = sa.Column(sa.Unicode(30), server_default=sa.text("N'none'"))
        size = sa.Column(sa.Integer, default=1, nullable=False)
        price = sa.Column(sa.Numeric(10, 2))
        at = sa.Column(sa.DateTime, server_default=sa.func.getdate())
        children = orm.relationship("Child", back_populates="parent", cascade="all, delete-orphan")

    class Child(Base):
        """The many side."""

        __tablename__ = "child"
        __table_args__ = (sa.Index("ix_child_word", "word"), {"schema": "app"})
        id = sa.Column(sa.Integer, sa.Identity(start=10, increment=5), primary_key=True)
        word = sa.Column(sa.Unicode(50), nullable=False)
        parent_id = sa.Column(sa.ForeignKey("app.parent.id", name="fk_child_parent", ondelete="CASCADE"), nullable=False)
        parent = orm.relationship(Parent, back_populates="children")

    return Base.metadata, Parent, Child


@pytest.mark.parametrize("engine", DRIVERS, indirect=True)
def test_schema_session_and_reflection(engine):
    """create_all, a unit of work with keys from OUTPUT INSERTED, many rows at once, what the inspector reads back, drop_all."""
    metadata, parent, child = models()
    metadata.create_all(engine)
    with orm.Session(engine) as session:
        one = parent(code="a", price=decimal.Decimal("1.25"), children=[child(word="one"), child(word="two ü")])
        session.add(one)
        session.flush()
        assert (one.id, [c.id for c in one.children]) == (1, [10, 15])
        session.commit()
        one = session.scalars(sa.select(parent).options(orm.selectinload(parent.children))).one()
        assert (one.name, one.size, one.price, isinstance(one.at, datetime.datetime)) == (
            "none",
            1,
            decimal.Decimal("1.25"),
            True,
        )
        assert sorted(c.word for c in one.children) == ["one", "two ü"]
        one.children.pop()
        session.commit()
        wanted = sa.insert(parent).returning(parent.id, sort_by_parameter_order=True)
        assert session.scalars(wanted, [{"code": f"c{n}"} for n in range(30)]).all() == list(range(2, 32))
        session.add_all([parent(code=f"d{n}") for n in range(20)])
        session.commit()
        assert session.scalar(sa.select(sa.func.count(parent.id))) == 51
        assert session.scalar(sa.select(sa.func.count()).select_from(child)) == 1
        changed = sa.update(parent).where(parent.code == "c1").values(size=parent.size + 5).returning(parent.size)
        assert session.execute(changed).all() == [(6,)]
        assert session.scalars(sa.select(parent.code).order_by(parent.id).offset(1).limit(2)).all() == ["c0", "c1"]
        session.commit()
    with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
        connection.execute(sa.insert(parent), [{"code": "z"}, {"code": "z"}])
    reflected(sa.inspect(engine))
    again = sa.MetaData()
    again.reflect(engine, schema="app")
    assert sorted(again.tables) == ["app.child", "app.parent"]
    metadata.drop_all(engine)
    assert sa.inspect(engine).get_table_names(schema="app") == []


def reflected(inspector):
    """Tables, columns, keys and indexes as they were declared."""
    assert "app" in inspector.get_schema_names() and inspector.default_schema_name == "dbo"
    assert inspector.get_table_names(schema="app") == ["child", "parent"]
    columns = {column["name"]: column for column in inspector.get_columns("child", schema="app")}
    assert (columns["id"]["identity"]["start"], columns["id"]["identity"]["increment"]) == (10, 5)
    assert columns["word"]["type"].length == 50 and not columns["word"]["nullable"]
    defaults = {column["name"]: column["default"] for column in inspector.get_columns("parent", schema="app")}
    assert defaults["name"] == "(N'none')" and "getdate" in defaults["at"].lower()
    assert inspector.get_pk_constraint("parent", schema="app")["constrained_columns"] == ["id"]
    (key,) = inspector.get_foreign_keys("child", schema="app")
    assert (key["name"], key["constrained_columns"], key["referred_schema"], key["referred_table"], key["referred_columns"]) == (
        "fk_child_parent",
        ["parent_id"],
        "app",
        "parent",
        ["id"],
    )
    assert key["options"] == {"ondelete": "CASCADE"}
    assert [(i["name"], i["unique"]) for i in inspector.get_indexes("parent", schema="app")] == [("uq_code", True)]
    assert [i["column_names"] for i in inspector.get_indexes("child", schema="app")] == [["word"]]


@pytest.mark.parametrize("engine", SOME, indirect=True)
def test_types_isolation_and_migrations(engine):
    """Types both ways, each isolation level as the server names it, and the statements of a migration."""
    table = sa.Table(
        "kinds",
        sa.MetaData(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("j", sa.JSON),
        sa.Column("u", sa.Uuid),
        sa.Column("e", sa.Enum("a", "b", name="e")),
        sa.Column("t", sa.Time),
        sa.Column("d", sa.Date),
        sa.Column("f", sa.Double),
        sa.Column("twice", sa.Integer, sa.Computed("id * 2")),
    )
    table.create(engine)
    values = {
        "j": {"k": [1, 2]},
        "u": uuid.UUID(int=5),
        "e": "a",
        "t": datetime.time(1, 2, 3),
        "d": datetime.date(2026, 1, 2),
        "f": 2.5,
    }
    with engine.begin() as connection:
        connection.execute(table.insert(), values)
        assert connection.execute(sa.select(table)).one() == (1, *values.values(), 2)
    for level in ("READ UNCOMMITTED", "REPEATABLE READ", "SERIALIZABLE", "READ COMMITTED"):
        with engine.connect().execution_options(isolation_level=level) as connection:
            assert connection.get_isolation_level() == level
    with engine.begin() as connection:
        for text in (
            "ALTER TABLE kinds ADD extra INTEGER NULL",
            "ALTER TABLE kinds ALTER COLUMN extra BIGINT NULL",
            "EXEC sp_rename 'kinds.extra', more, 'COLUMN'",
            "ALTER TABLE kinds DROP COLUMN more",
            "CREATE VIEW app.seen AS SELECT id FROM dbo.kinds",
        ):
            connection.execute(sa.text(text))
    inspector = sa.inspect(engine)
    assert inspector.get_view_names(schema="app") == ["seen"]
    assert inspector.has_table("kinds") and not inspector.has_table("nowhere")


@pytest.mark.parametrize("engine", SOME, indirect=True)
def test_frames(engine):
    """DataFrame.to_sql row by row and in one statement, read_sql by text and by table."""
    days = pd.date_range("2026-01-01", periods=60)
    frame = pd.DataFrame({"i": range(60), "t": [f"w{n}" for n in range(60)], "f": [n / 4 for n in range(60)], "d": days})
    frame["n"] = ["x" if n % 7 == 0 else None for n in range(60)]
    frame.to_sql("frame", engine, index=False)
    frame.to_sql("frame", engine, schema="app", index=False, method="multi", chunksize=20)
    frame.to_sql("frame", engine, index=True, index_label="place", if_exists="replace")
    got = pd.read_sql("SELECT COUNT(*) AS n, SUM(f) AS s, MAX(d) AS d FROM frame", engine)
    assert got.iloc[0].tolist() == [60, 442.5, days[-1]]
    assert pd.read_sql("SELECT n FROM frame", engine)["n"].notna().sum() == 9
    with engine.connect() as connection:
        assert len(pd.read_sql(sa.text("SELECT * FROM app.frame WHERE i < :x"), connection, params={"x": 10})) == 10
        assert pd.read_sql_table("frame", connection, schema="app")["t"].tolist() == frame["t"].tolist()
