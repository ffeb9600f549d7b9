"""DuckDB as an oracle: random queries over random rows give the same answers there and here."""

from __future__ import annotations

from typing import Any

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .fakes import Client

ROW = st.tuples(st.integers(0, 5), st.one_of(st.none(), st.integers(-3, 3)), st.one_of(st.none(), st.sampled_from("abc")))
TERMS = ("a", "b", "a + b", "a * 2", "b - a", "coalesce(b, 0)", "case when b > 0 then a else b end", "abs(b)", "nullif(a, 2)")
TESTS = (
    "a > 2",
    "b is null",
    "b is not null and a <> 1",
    "a in (1, 2, null)",
    "b between -1 and 2",
    "c = 'a'",
    "not (b < 1)",
    "c like '[ab]%' or b = 0",
    "exists (select 1 from u where u.a = t.a)",
    "a not in (select a from u)",
    "b >= (select min(b) from u)",
)
SHAPES = (
    "select {x}, {y} from t where {p}",
    "select distinct {x} from t where {p}",
    "select a, count(*), count(b), sum(b), min({x}), max({y}) from t where {p} group by a",
    "select a, count(distinct b) from t group by a having count(*) > 1",
    "select t.a, u.b from t join u on t.a = u.a where {p}",
    "select t.a, u.b from t left join u on t.a = u.a and u.b > 0",
    "select t.a, u.a from t full join u on t.b = u.b",
    "select a, row_number() over (partition by a order by b, c, id) from t where {p}",
    "select a, sum(b) over (partition by a), lag(b) over (order by id), rank() over (order by a) from t",
    "select {x} from t union select b from u",
    "select a from t except select a from u",
    "select a from t intersect select a from u where b > 0",
    "with g as (select a, max(b) m from t group by a) select t.id, g.m from t join g on g.a = t.a where {p}",
)


def normal(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(repr(tuple(int(v) if isinstance(v, bool) else v for v in row)) for row in rows)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(ROW, max_size=12),
    st.lists(ROW, max_size=8),
    st.sampled_from(SHAPES),
    st.sampled_from(TERMS),
    st.sampled_from(TERMS),
    st.sampled_from(TESTS),
)
def test_the_same_rows_as_duckdb(t: list[Any], u: list[Any], shape: str, x: str, y: str, p: str) -> None:
    """Joins, grouping, windows, set operations, subqueries and NULL logic."""
    text = shape.format(x=x, y=y, p=p)
    if " u " in f" {shape} " and "join u" in shape:
        text = text.replace("where a ", "where t.a ").replace("where " + p, "where " + "t.id >= 0")
    client, oracle = Client(), duckdb.connect()
    for name, rows in (("t", t), ("u", u)):
        ddl = f"create table {name}(id int, a int, b int, c varchar(5))"
        client.run(ddl)
        oracle.execute(ddl)
        for number, (a, b, c) in enumerate(rows):
            values = ", ".join("null" if v is None else repr(v) for v in (number, a, b, c))
            assert not client.run(f"insert {name} values ({values})").errors
            oracle.execute(f"insert into {name} values ({values})")
    mine = client.run(text)
    assert not mine.errors, mine.messages
    theirs = oracle.execute(text.replace("like '[ab]%'", "similar to '[ab].*'")).fetchall()
    assert normal(mine.rows) == normal(theirs), text
