"""Lab 8: the layouts of the experiment, the check of its exercise, the fault and its repair.

Everything here goes through T-SQL and the verbs of ``Cluster``, so it runs the same on every kind of cluster. The lab makes a
database of its own, PartitionLab, and leaves the load's database as it finds it but for the files of the layout study.
"""

from __future__ import annotations

import re

from aglab.lab import Verdict

ROWS = 20_000
HOT_FROM = 15_000
READS = re.compile(r"Scan count (\d+), logical reads (\d+)")
NONCLUSTERED = {"IX_CA_ID": "T_CA_ID", "IX_DAY": "T_DAY", "IX_QTY": "T_QTY"}
ALIGNMENT = """USE PartitionLab;
SELECT i.name, ds.data_space_id AS space, t.data_space_id AS table_space
FROM sys.indexes AS i
JOIN sys.data_spaces AS ds ON ds.data_space_id = i.data_space_id
JOIN sys.indexes AS t ON t.object_id = i.object_id AND t.index_id <= 1
WHERE i.object_id = OBJECT_ID(N'dbo.E_TRADE') ORDER BY i.index_id;"""
NEXT_USED = """USE PartitionLab;
SELECT COUNT(*) FROM sys.partition_schemes AS s
JOIN sys.partition_functions AS f ON f.function_id = s.function_id
JOIN sys.destination_data_spaces AS d ON d.partition_scheme_id = s.data_space_id
WHERE s.name = N'ps_trade' AND d.destination_id = f.fanout + 1;"""


def reads(result):
    """(scan count, logical reads) of each line of SET STATISTICS IO in a result's messages."""
    return [tuple(int(one) for one in found.groups()) for found in map(READS.search, result.messages) if found]


def share_of_busiest(writes):
    """Share of the pages that went to the busiest file."""
    return writes["pages"].max() / max(writes["pages"].sum(), 1)


def add_files(lab, count):
    """Give the load's database ``count`` data files in all, each as large as the first."""
    load = f"USE {lab.cluster.database};"  # the lab's steps leave the connection in PartitionLab
    folder, size_mb = lab.sql(
        load
        + """SELECT CONVERT(nvarchar(260), SERVERPROPERTY('InstanceDefaultDataPath')), size / 128
           FROM sys.database_files WHERE file_id = 1;"""
    ).table.iloc[0]
    for number in range(2, count + 1):
        lab.sql(
            f"""{load} IF NOT EXISTS (SELECT * FROM sys.database_files WHERE name = N'OLTP_{number}')
                ALTER DATABASE CURRENT ADD FILE (NAME = OLTP_{number},
                    FILENAME = N'{folder}OLTP_{number}.ndf', SIZE = {int(size_mb)}MB, FILEGROWTH = 1024MB);"""
        )


def run(lab, progress):
    """The file layout study (one file, four files), then the table cut into four."""
    lab.measure("1 file", progress=progress)
    add_files(lab, 4)
    lab.measure("4 files", progress=progress)
    for step in ("01", "03", "05"):
        lab.run_step(step)


def reset(lab):
    """Back to the chapter's start: nobody works, and the lab's database is new."""
    lab.cluster.stop_load()
    lab.run_step("01")


def cut(lab, boundaries, account_index):
    """A new PartitionLab whose E_TRADE is cut at ``boundaries``."""
    lab.run_step("01")
    folder = lab.sql("SELECT CONVERT(nvarchar(260), SERVERPROPERTY('InstanceDefaultDataPath'));").value
    names = [f"trade{number}" for number in range(1, len(boundaries) + 2)]
    for name in names:
        lab.sql(f"ALTER DATABASE PartitionLab ADD FILEGROUP {name};")
        lab.sql(
            f"""ALTER DATABASE PartitionLab ADD FILE (NAME = {name}, FILENAME = N'{folder}PartitionLab_{name}.ndf',
                SIZE = 16MB, FILEGROWTH = 16MB) TO FILEGROUP {name};"""
        )
    values = ", ".join(str(one) for one in boundaries)
    lab.sql(
        f"""USE PartitionLab;
        CREATE PARTITION FUNCTION pf_trade (bigint) AS RANGE LEFT FOR VALUES ({values});
        CREATE PARTITION SCHEME ps_trade AS PARTITION pf_trade TO ({", ".join(names)});
        CREATE UNIQUE CLUSTERED INDEX PK_E_TRADE ON dbo.E_TRADE (T_ID) WITH (DROP_EXISTING = ON) ON ps_trade (T_ID);"""
    )
    for index, column in NONCLUSTERED.items():
        where = "[PRIMARY]" if index == "IX_CA_ID" and account_index == "apart" else "ps_trade (T_ID)"
        lab.sql(f"USE PartitionLab; CREATE INDEX {index} ON dbo.E_TRADE ({column}) WITH (DROP_EXISTING = ON) ON {where};")


def check(lab, answer, progress):
    """Cut the table as the answer says, let the workload write and search, and judge the goals of lab.toml's [exercise]."""
    goals = lab.about["exercise"]
    boundaries, account_index = answer.get("boundaries"), answer.get("account_index")
    whole = isinstance(boundaries, list) and boundaries and all(type(one) is int for one in boundaries)
    if not whole or boundaries != sorted(set(boundaries)) or len(boundaries) > 15:
        wrong = f"boundaries={boundaries!r} must be a list of 1 to 15 rising whole numbers"
        return Verdict(False, wrong, "Give the upper ends of the ranges, for example [4000, 9000].")
    if account_index not in ("aligned", "apart"):
        return Verdict(False, f"account_index={account_index!r} must be 'aligned' or 'apart'", "Say where IX_CA_ID lies.")
    cut(lab, boundaries, account_index)
    rows = lab.run_step("04").tables[0]["rows"]
    busiest = share_of_busiest(lab.run_step("05").table)
    lookup = reads(lab.sql("USE PartitionLab; SET STATISTICS IO ON; SELECT T_ID FROM dbo.E_TRADE WHERE T_CA_ID = 77;"))
    return judge(list(rows), busiest, lookup[-1][1], account_index, goals)


def judge(rows, busiest, search, account_index, goals):
    """The verdict on one layout."""
    seen = f"{len(rows)} partitions of {min(rows)} to {max(rows)} rows, busiest file {busiest:.0%}, a search reads {search} pages"
    if rows.count(0) > goals["empty_partitions"]:
        hint = f"A partition holds no row: the keys end at {ROWS}. Room to grow belongs at the end, but it takes no writes today."
    elif account_index == "apart":
        hint = (
            "The search is quick, but with an index that is not cut like its table a partition cannot be switched out (Msg 7733)."
        )
    elif busiest > goals["busiest_share"]:
        hint = f"Rows are even, work is not: all updates fall above {HOT_FROM}. Put boundaries where the work is."
    elif search > goals["search_reads"]:
        hint = "A search by account looks into every partition. Fewer partitions are enough to spread the writes."
    else:
        return Verdict(True, seen)
    return Verdict(False, seen, hint)


def break_it(lab):
    """The monthly switch fails: somebody put an index onto the primary filegroup, and no filegroup waits for the next SPLIT."""
    cut(lab, [5000, 10000, 15000], "aligned")
    lab.sql("USE PartitionLab; CREATE INDEX IX_QTY ON dbo.E_TRADE (T_QTY) WITH (DROP_EXISTING = ON) ON [PRIMARY];")


def repaired(lab):
    """Healthy: every index is cut like the table, none is gone, and the scheme has a filegroup for the next SPLIT."""
    found = lab.sql(ALIGNMENT).table
    missing = sorted({"PK_E_TRADE", *NONCLUSTERED} - set(found["name"]))
    apart = sorted(found["name"][found["space"] != found["table_space"]])
    waiting = int(lab.sql(NEXT_USED).value)
    seen = f"not aligned: {', '.join(apart) or 'none'}; missing: {', '.join(missing) or 'none'}; next used filegroups: {waiting}"
    if missing:
        return Verdict(False, seen, "Queries need that index. Build it again, on the scheme of its table.")
    if apart:
        return Verdict(False, seen, "SWITCH needs every index on the table's scheme: rebuild it there with DROP_EXISTING.")
    if not waiting:
        return Verdict(False, seen, "The next SPLIT would fail with Msg 7710: name a filegroup with NEXT USED.")
    return Verdict(True, seen)
