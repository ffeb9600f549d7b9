"""Reads by partition, cached statements, writes by file: what a DBA looks up when tables are cut and files are added."""

from __future__ import annotations

import re

import pytest

from aglab.tsql import Columns, Interpreter, Message, Rows, Wait
from aglab.twin.cluster import Cluster
from aglab.twin.keeper import Keeper
from aglab.twin.page_writes import runs
from aglab.twin.statedir import StateDir

PROFILE = "dell-r710-ps6100xv-1"
TEN = "(VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9))"
SETUP = f"""CREATE DATABASE TPCE
USE TPCE
ALTER DATABASE TPCE ADD FILEGROUP fg2
ALTER DATABASE TPCE ADD FILEGROUP fg3
ALTER DATABASE TPCE ADD FILE (NAME = f2, FILENAME = N'/v2/f2.ndf', SIZE = 8MB) TO FILEGROUP fg2
ALTER DATABASE TPCE ADD FILE (NAME = f3, FILENAME = N'/v3/f3.ndf', SIZE = 8MB) TO FILEGROUP fg3
CREATE PARTITION FUNCTION pf (bigint) AS RANGE LEFT FOR VALUES (2000)
CREATE PARTITION SCHEME ps AS PARTITION pf TO (fg2, fg3)
CREATE TABLE dbo.E_TRADE (T_ID bigint NOT NULL, T_CA_ID int NOT NULL, T_QTY int NOT NULL, T_SYMB char(60) NOT NULL,
    CONSTRAINT pk PRIMARY KEY CLUSTERED (T_ID)) ON ps(T_ID)
CREATE INDEX aligned ON dbo.E_TRADE (T_CA_ID)
CREATE INDEX apart ON dbo.E_TRADE (T_QTY) ON fg2
INSERT dbo.E_TRADE SELECT n, n % 400, n % 400, 'X' FROM
    (SELECT 1 + a.v + 10 * b.v + 100 * c.v + 1000 * d.v AS n FROM {TEN} AS a(v), {TEN} AS b(v), {TEN} AS c(v),
     (VALUES (0),(1),(2),(3)) AS d(v)) AS numbers
CHECKPOINT"""


class Desk:
    """A session on a node, without sockets."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.node = cluster, cluster.nodes["sql1"]
        self.session = self.node.instance.open_session(database="master")
        self.messages: list[Message] = []

    def run(self, text: str):
        """Rows of the last result set; raises on an error."""
        sets, self.messages = [[]], []
        for effect in Interpreter(self.node, self.session).run_batch(text):
            if isinstance(effect, Columns):
                sets.append([])
            elif isinstance(effect, Rows):
                sets[-1] += effect.rows
            elif isinstance(effect, Message):
                assert not effect.is_error, effect
                self.messages.append(effect)
            elif isinstance(effect, Wait):
                assert effect.until_s is not None, effect
                self.cluster.clock.set_time(round(effect.until_s * 1e6))
        return sets[-1]

    def reads(self, query: str) -> tuple[int, int]:
        """Scan count and logical reads that SET STATISTICS IO reports."""
        self.run("SET STATISTICS IO ON")
        self.run(query)
        found = [re.match(r"Table '.*'\. Scan count (\d+), logical reads (\d+)", m.text) for m in self.messages]
        self.run("SET STATISTICS IO OFF")
        assert len(found) == 1 and found[0], self.messages
        return int(found[0].group(1)), int(found[0].group(2))

    def writes(self) -> dict[str, tuple[int, int]]:
        """num_of_writes and num_of_bytes_written by file name."""
        rows = self.run(
            """SELECT f.name, s.num_of_writes, s.num_of_bytes_written FROM sys.database_files AS f
            CROSS APPLY sys.dm_io_virtual_file_stats(DB_ID(), f.file_id) AS s WHERE f.type = 0"""
        )
        return {name: (writes, written) for name, writes, written in rows}


@pytest.fixture
def desk() -> Desk:
    """A partitioned table with 4,000 rows, its pages written."""
    made = Desk(Cluster(PROFILE, bare=True))
    made.run(SETUP)
    return made


def test_a_range_on_the_partitioning_column_reads_its_partition_only(desk: Desk) -> None:
    """Partition elimination halves the pages."""
    scans, everything = desk.reads("SELECT SUM(T_QTY) FROM dbo.E_TRADE WHERE T_SYMB <> 'Y'")
    assert scans == 2
    once, half = desk.reads("SELECT SUM(T_QTY) FROM dbo.E_TRADE WHERE T_SYMB <> 'Y' AND T_ID >= 2001 AND T_ID < 9999")
    assert (once, half * 2) == (1, everything)


def test_an_aligned_index_is_searched_in_every_partition(desk: Desk) -> None:
    """Without the partitioning column a search looks into each partition; an index that is not cut needs one look."""
    assert desk.reads("SELECT T_ID FROM dbo.E_TRADE WHERE T_CA_ID = 7") == (2, 4)
    assert desk.reads("SELECT T_ID FROM dbo.E_TRADE WHERE T_QTY = 7") == (1, 2)
    assert desk.reads("SELECT T_ID FROM dbo.E_TRADE WHERE T_CA_ID = 7 AND T_ID <= 2000") == (1, 2)
    assert desk.reads("SELECT T_SYMB FROM dbo.E_TRADE WHERE T_ID = 7") == (0, 2)


def test_rows_that_an_index_does_not_cover_cost_a_lookup_each(desk: Desk) -> None:
    """Ten rows, two pages each, on top of the searches."""
    assert desk.reads("SELECT T_SYMB FROM dbo.E_TRADE WHERE T_CA_ID = 7")[1] == 4 + 10 * 2


def test_dropped_pages_are_read_again_once(desk: Desk) -> None:
    """Physical reads appear after DBCC DROPCLEANBUFFERS, in the message, in the file's statistics, and not twice."""
    query = "SELECT SUM(T_QTY) FROM dbo.E_TRADE WHERE T_SYMB <> 'Y' AND T_ID <= 2000"
    desk.run("CHECKPOINT; DBCC DROPCLEANBUFFERS; SET STATISTICS IO ON")
    ahead = []
    for _ in range(2):
        desk.run(query)
        ahead.append(int(re.search(r" read-ahead reads (\d+)", desk.messages[0].text).group(1)))
    assert ahead[0] > 20 and ahead[1] == 0
    desk.run("SET STATISTICS IO OFF")
    assert desk.run(
        """SELECT SUM(s.num_of_reads) FROM sys.database_files AS f
        CROSS APPLY sys.dm_io_virtual_file_stats(DB_ID(), f.file_id) AS s WHERE f.name = N'f2'"""
    ) == [(ahead[0],)]


def test_writes_go_to_the_files_of_the_partition(desk: Desk) -> None:
    """Rows of one partition reach its file at the checkpoint and no other; an index that lies elsewhere is written there."""
    before = desk.writes()
    desk.run("UPDATE dbo.E_TRADE SET T_SYMB = 'Z' WHERE T_ID > 2000")
    assert desk.writes() == before
    desk.run("CHECKPOINT")
    after = desk.writes()
    assert after["f3"][1] > before["f3"][1] and after["f2"] == before["f2"]
    desk.run("UPDATE dbo.E_TRADE SET T_QTY = T_QTY + 1 WHERE T_ID > 2000; CHECKPOINT")
    assert desk.writes()["f2"][1] > after["f2"][1]


def test_a_page_changed_twice_is_written_once(desk: Desk) -> None:
    """Coalescing: two updates before a checkpoint cost the writes of one."""
    costs = []
    for times in (1, 2):
        before = desk.writes()["f3"]
        for n in range(times):
            desk.run(f"UPDATE dbo.E_TRADE SET T_SYMB = '{n}{times}' WHERE T_ID > 2000")
        desk.run("CHECKPOINT")
        costs.append(desk.writes()["f3"][1] - before[1])
    assert costs[0] == costs[1] > 0


def test_old_pages_are_written_without_a_checkpoint(desk: Desk) -> None:
    """Once older than the recovery target, dirty pages go out by themselves."""
    before = desk.writes()["f3"]
    desk.run("UPDATE dbo.E_TRADE SET T_SYMB = 'Q' WHERE T_ID = 3000")
    assert desk.writes()["f3"] == before
    desk.cluster.clock.set_time(desk.cluster.clock.now_us + 61_000_000)
    assert desk.writes()["f3"] == (before[0] + 1, before[1] + 8192)


def test_rebuilding_one_partition_writes_that_partition(desk: Desk) -> None:
    """ALTER INDEX ... REBUILD PARTITION = 2 writes to the second filegroup only."""
    before = desk.writes()
    desk.run("ALTER INDEX pk ON dbo.E_TRADE REBUILD PARTITION = 2; CHECKPOINT")
    after = desk.writes()
    assert after["f2"] == before["f2"] and after["f3"][1] > before["f3"][1]
    desk.run("ALTER INDEX ALL ON dbo.E_TRADE REBUILD; CHECKPOINT")
    assert desk.writes()["f2"][1] > after["f2"][1]


@pytest.mark.parametrize(
    ("pages", "lengths"),
    [
        ({(1, 1, 1, n) for n in range(40)}, [32, 8]),
        ({(1, 1, 1, n) for n in (0, 1, 2, 9)}, [3, 1]),
        ({(1, 1, part, n) for part in (1, 2) for n in range(10)}, [8, 2, 8, 2]),
        (set(), []),
    ],
    ids=["one partition alone", "a gap", "two share a file", "nothing"],
)
def test_neighbours_go_out_together(pages: set[tuple[int, int, int, int]], lengths: list[int]) -> None:
    """At most 32 pages in one write, and extents of eight where partitions share a file."""
    assert list(runs(pages)) == lengths


def test_two_files_of_a_filegroup_fill_evenly(desk: Desk) -> None:
    """Proportional fill: files of one size get like numbers of pages, a file twice as large twice as many."""
    desk.run(
        """ALTER DATABASE TPCE ADD FILE (NAME = f4, FILENAME = N'/v4/f4.ndf', SIZE = 8MB) TO FILEGROUP fg3
        ALTER DATABASE TPCE ADD FILE (NAME = f5, FILENAME = N'/v5/f5.ndf', SIZE = 16MB) TO FILEGROUP fg3"""
    )
    before = desk.writes()
    desk.run("CREATE TABLE dbo.wide (id bigint NOT NULL, pad char(4000) NOT NULL) ON fg3")
    desk.run("INSERT dbo.wide SELECT TOP (800) T_ID, 'x' FROM dbo.E_TRADE; CHECKPOINT")
    after = desk.writes()
    written = {name: after[name][1] - before[name][1] for name in ("f3", "f4", "f5")}
    assert sum(written.values()) == 400 * 8192
    assert abs(written["f3"] - written["f4"]) <= 2 * 8 * 8192
    assert 1.6 < written["f5"] / (0.5 * (written["f3"] + written["f4"])) < 2.4


def test_a_full_filegroup_grows_as_its_file_says(desk: Desk) -> None:
    """One file grows by its increment; with AUTOGROW_ALL_FILES all of the filegroup do; MAXSIZE stops it."""
    desk.run(
        """ALTER DATABASE TPCE ADD FILEGROUP tight
        ALTER DATABASE TPCE ADD FILE (NAME = a, FILENAME = N'/a', SIZE = 128KB, FILEGROWTH = 64KB),
            (NAME = b, FILENAME = N'/b', SIZE = 128KB, FILEGROWTH = 64KB, MAXSIZE = 192KB) TO FILEGROUP tight
        CREATE TABLE dbo.wide (id int NOT NULL, pad char(4000) NOT NULL) ON tight"""
    )
    sizes = "SELECT size FROM sys.database_files WHERE name IN (N'a', N'b') ORDER BY name"
    desk.run("INSERT dbo.wide SELECT TOP (60) T_ID, 'x' FROM dbo.E_TRADE")
    grown = desk.run(sizes)
    assert grown[0][0] > 16 and grown[1][0] <= 24
    desk.run("ALTER DATABASE TPCE MODIFY FILE (NAME = b, MAXSIZE = UNLIMITED)")
    desk.run("ALTER DATABASE TPCE MODIFY FILEGROUP tight AUTOGROW_ALL_FILES")
    desk.run("INSERT dbo.wide SELECT TOP (60) T_ID, 'x' FROM dbo.E_TRADE")
    both = desk.run(sizes)
    assert both[0][0] > grown[0][0] and both[1][0] > grown[1][0]


HOT = """SELECT TOP 20 SUBSTRING(qt.text, (qs.statement_start_offset/2)+1, ((CASE qs.statement_end_offset WHEN -1 THEN
DATALENGTH(qt.text) ELSE qs.statement_end_offset END - qs.statement_start_offset)/2)+1), qs.execution_count,
qs.total_logical_reads, qs.last_logical_reads, qs.min_logical_reads, qs.max_logical_reads, qs.total_elapsed_time,
qs.last_elapsed_time, qs.min_elapsed_time, qs.max_elapsed_time, qs.last_execution_time, qp.query_plan{comma}
FROM sys.dm_exec_query_stats qs CROSS APPLY sys.dm_exec_sql_text(qs.sql_handle) qt
CROSS APPLY sys.dm_exec_query_plan(qs.plan_handle) qp WHERE qt.encrypted=0 ORDER BY qs.total_logical_reads DESC"""


def test_the_heaviest_statement_is_found(desk: Desk) -> None:
    """The paper's query names the statement with the most logical reads, in a batch and in a procedure; its plan the table."""
    desk.run("DBCC FREEPROCCACHE")
    desk.run(
        "CREATE PROCEDURE dbo.busy AS\nSELECT COUNT(*) FROM dbo.E_TRADE WHERE T_ID < 10\n"
        "SELECT SUM(T_QTY) FROM dbo.E_TRADE WHERE T_SYMB <> 'Y'"
    )
    for _ in range(5):
        desk.run("EXEC dbo.busy")
    top = desk.run(HOT.format(comma=""))
    assert top[0][0] == "SELECT SUM(T_QTY) FROM dbo.E_TRADE WHERE T_SYMB <> 'Y'"
    assert top[0][1:6] == (5, 5 * top[0][3], top[0][4], top[0][5], top[0][3])
    assert 'Table="[E_TRADE]"' in top[0][11] and 'PartitionCount="2"' in top[0][11]


def test_the_paper_s_query_as_printed_is_refused(desk: Desk) -> None:
    """A comma before FROM: Msg 156."""
    found = [e for e in Interpreter(desk.node, desk.session).run_batch(HOT.format(comma=",")) if isinstance(e, Message)]
    assert [(m.number, m.text) for m in found] == [(156, "Incorrect syntax near the keyword 'FROM'.")]


def test_partitions_and_files_survive_a_crash(tmp_path) -> None:
    """Functions, schemes, files, placements and rows come back from the journal of a twin that was killed."""
    cluster = Cluster(PROFILE, bare=True)
    Keeper(cluster, StateDir(tmp_path / "s")).open()
    Desk(cluster).run(SETUP.replace("CREATE DATABASE TPCE\n", "").replace("TPCE", "OLTP"))
    again = Cluster(PROFILE, bare=True)
    Keeper(again, StateDir(tmp_path / "s")).open()
    desk = Desk(again)
    found = desk.run(
        """SELECT i.name, p.partition_number, p.rows, g.name FROM OLTP.sys.partitions AS p
        JOIN OLTP.sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = p.index_id
        JOIN OLTP.sys.destination_data_spaces AS d ON d.partition_scheme_id = i.data_space_id
            AND d.destination_id = p.partition_number
        JOIN OLTP.sys.filegroups AS g ON g.data_space_id = d.data_space_id ORDER BY i.index_id, p.partition_number"""
    )
    assert found == [("pk", 1, 2000, "fg2"), ("pk", 2, 2000, "fg3"), ("aligned", 1, 2000, "fg2"), ("aligned", 2, 2000, "fg3")]
    assert desk.run("SELECT name FROM OLTP.sys.database_files WHERE type = 0 ORDER BY file_id")[1:] == [("f2",), ("f3",)]
