"""The reconnecting client through outages of a running group: a crash that a forced failover ends, and a planned failover."""

from __future__ import annotations

from aglab.lab import cluster

AS_MANAGER = "EXEC sp_set_session_context N'external_cluster', N'yes'; ALTER AVAILABILITY GROUP ag1 "  # CLUSTER_TYPE = EXTERNAL


def test_a_crash_is_an_outage_until_somebody_takes_the_role():
    """The client finds the new primary by itself; the outage lasts as long as nobody is; synchronous rows are all there."""
    with cluster("twin") as twin, twin.commit_client(every_s=0.5) as client:
        force = AS_MANAGER + "FORCE_FAILOVER_ALLOW_DATA_LOSS;"
        commits = client.run(40, do={5: lambda: twin.fault("crash", node="sql1"), 15: lambda: twin.sql(force, node="sql2")})
        assert commits["node"].iloc[0] == "sql1" and commits["node"].iloc[-1] == "sql2"
        [outage] = client.outages().itertuples()
        assert (outage.node_before, outage.node_after) == ("sql1", "sql2")
        assert 5 < outage.seconds < 30 and outage.said
        assert client.lost("sql2") == []
        assert "sql1" in client.refusals and "sql3" in client.refusals


def test_a_planned_failover_is_short_and_nothing_is_lost():
    """The client goes over in the middle; the old primary refuses its rows; ids and times go on."""
    with cluster("twin") as twin, twin.commit_client(every_s=0.2) as client:
        commits = client.run(20, do={5: lambda: twin.sql(AS_MANAGER + "FAILOVER;", node="sql2")})
        assert set(commits["node"]) == {"sql1", "sql2"}
        assert client.lost("sql2") == []
        assert commits["id"].is_unique and commits["answered_at"].is_monotonic_increasing
