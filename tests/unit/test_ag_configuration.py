"""Configuration statements, their refusals, access, routing, backup preference, and the rows of DMVs and catalogue views."""

from __future__ import annotations

from typing import Any

import pytest

from aglab.ag import (
    MESSAGES,
    AvailabilityMode,
    ClusterType,
    DatabaseState,
    FailoverMode,
    Group,
    GroupSpec,
    Listener,
    ReplicaSpec,
    Role,
    SyncState,
    backup_preferred,
    catalog,
    check_access,
    cluster_dmv,
    dmv,
    lsn_decimal,
    lsn_text,
    read_only_route,
    read_write_route,
    text_of,
    truncation_lsn,
)
from aglab.ag import effects as fx
from aglab.ag import events as ev
from aglab.ag.ledger import COMMITS_KEPT_MAX, Ledger

CONFIGURATION_ONLY = AvailabilityMode.CONFIGURATION_ONLY


def replica(name: str, **options: Any) -> ReplicaSpec:
    """A replica for CLUSTER_TYPE = NONE."""
    return ReplicaSpec(name, **{"seeding_mode": "AUTOMATIC", **options})


def formed(*replicas: ReplicaSpec, cluster_type: ClusterType = ClusterType.NONE, **options: Any) -> Group:
    """A formed group with database OLTP."""
    return Group.form(GroupSpec("ag1", cluster_type, list(replicas) or [replica("sql1"), replica("sql2")], ["OLTP"], **options))


def refused(group: Group, event: ev.Event) -> int:
    """The error number a statement gives."""
    return next(one.number for one in group.apply(event, group.now_s) if isinstance(one, fx.Refused))


def created(spec: GroupSpec, node: str = "sql1") -> int:
    """The error number CREATE AVAILABILITY GROUP gives."""
    group, effects = Group.create(spec, node)
    assert group is None
    return effects[0].number  # type: ignore[union-attr]


# --- CREATE ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "options", "replicas"),
    [
        (35235, {}, [replica("sql1"), replica("sql1")]),
        (35233, {}, [replica(f"sql{n}", availability_mode=AvailabilityMode.ASYNCHRONOUS) for n in range(1, 11)]),
        (35233, {"basic": True}, [replica("sql1"), replica("sql2"), replica("sql3")]),
        (35237, {}, [replica("sql2")]),
        (47101, {}, [replica("sql1", failover_mode=FailoverMode.AUTOMATIC)]),
        (47102, {"cluster_type": ClusterType.EXTERNAL}, [replica("sql1")]),
        (47103, {"cluster_type": ClusterType.WSFC}, [replica("sql1", failover_mode=FailoverMode.EXTERNAL)]),
        (47114, {"cluster_type": ClusterType.WSFC}, [replica("sql1"), replica("sql2", availability_mode=CONFIGURATION_ONLY)]),
        (47121, {}, [replica("sql1", availability_mode=CONFIGURATION_ONLY)]),
        (47107, {}, [replica("sql1"), *(replica(n, availability_mode=CONFIGURATION_ONLY) for n in ("sql2", "sql3"))]),
        (
            35211,
            {"cluster_type": ClusterType.WSFC},
            [replica("sql1", availability_mode=AvailabilityMode.ASYNCHRONOUS, failover_mode=FailoverMode.AUTOMATIC)],
        ),
        (35212, {}, [replica(f"sql{n}") for n in range(1, 7)]),
        (35214, {}, [replica("sql1", session_timeout_s=4)]),
        (35209, {}, [replica("sql1", backup_priority=101)]),
        (19402, {}, [replica("sql1", read_only_routing_list=("sql2", "sql2")), replica("sql2")]),
        (19403, {}, [replica("sql1", read_only_routing_list=("sql9",)), replica("sql2")]),
        (19404, {}, [replica("sql1", read_only_routing_list=("sql2",)), replica("sql2")]),
        (35248, {"required_synchronized_secondaries_to_commit": 2}, [replica("sql1"), replica("sql2")]),
        (35228, {"failure_condition_level": 6}, [replica("sql1")]),
        (35200, {"basic": True, "databases": ["OLTP", "HR"]}, [replica("sql1")]),
    ],
)  # fmt: skip
def test_create_refuses(number: int, options: dict[str, Any], replicas: list[ReplicaSpec]) -> None:
    """Each rule of CREATE AVAILABILITY GROUP gives its error."""
    assert (
        created(GroupSpec("ag1", **{"cluster_type": ClusterType.NONE, "databases": ["OLTP"], **options, "replicas": replicas}))
        == number
    )


def test_create_leaves_secondaries_to_join() -> None:
    """Before JOIN they have no role; JOIN, GRANT and seeding make them secondaries."""
    group, _ = Group.create(GroupSpec("ag1", ClusterType.NONE, [replica("sql1"), replica("sql2")], ["OLTP"]), "sql1")
    assert group is not None
    assert group.nodes["sql2"].role == Role.NONE
    assert refused(group, ev.Join("sql2", "EXTERNAL")) == 47100
    assert refused(group, ev.Failover("sql2")) == 41100
    group.apply(ev.Join("sql2", "NONE"), 1.0)
    assert group.nodes["sql2"].databases["OLTP"].seeding == "FAILED"  # not granted yet
    group.apply(ev.GrantCreateDatabase("sql2"), 2.0)
    assert next(dmv.dm_hadr_automatic_seeding(group, "sql1"))["current_state"] == "SEEDING"
    group.apply(ev.SeedDone("sql2", "OLTP"), 3.0)
    group.apply(ev.CatchUp(), 3.0)
    assert group.nodes["sql2"].databases["OLTP"].sync_state == SyncState.SYNCHRONIZED
    assert refused(group, ev.Join("sql2", "NONE")) == 41106


def test_join_without_the_primary_times_out() -> None:
    """Msg 47106 (NONE, EXTERNAL) or 35250 (WSFC)."""
    for cluster_type, number in ((ClusterType.NONE, 47106), (ClusterType.WSFC, 35250)):
        group, _ = Group.create(GroupSpec("ag1", cluster_type, [replica("sql1"), replica("sql2")], ["OLTP"]), "sql1")
        assert group is not None
        group.apply(ev.Cut("sql1", "sql2"), 1.0)
        assert refused(group, ev.Join("sql2", cluster_type.value)) == number


# --- ALTER -----------------------------------------------------------------------------------------------------------


def test_most_statements_run_on_the_primary_only() -> None:
    """Msg 41140 on a secondary."""
    group = formed()
    for event in (
        ev.SetOption("sql2", {"db_failover": True}),
        ev.AddDatabase("sql2", "HR"),
        ev.RemoveDatabase("sql2", "OLTP"),
        ev.AddReplica("sql2", replica("sql3")),
        ev.RemoveReplica("sql2", "sql1"),
        ev.ModifyReplica("sql2", "sql1", {}),
        ev.SetListener("sql2", Listener("ag1")),
    ):
        assert refused(group, event) == 41140


def test_options_are_checked_and_kept() -> None:
    """SET (option) and MODIFY REPLICA."""
    group = formed(replica("sql1"), replica("sql2"))
    assert refused(group, ev.SetOption("sql1", {"required_synchronized_secondaries_to_commit": 2})) == 35248
    assert refused(group, ev.SetOption("sql1", {"failure_condition_level": 0})) == 35228
    assert refused(group, ev.SetOption("sql1", {"health_check_timeout_ms": 14999})) == 35229
    group.apply(ev.SetOption("sql1", {"required_synchronized_secondaries_to_commit": 1}), 0.0)
    asynchronous = {"availability_mode": AvailabilityMode.ASYNCHRONOUS}
    assert refused(group, ev.ModifyReplica("sql1", "sql2", asynchronous)) == 19530
    assert refused(group, ev.ModifyReplica("sql1", "sql9", {})) == 35210
    assert refused(group, ev.ModifyReplica("sql1", "sql2", {"availability_mode": CONFIGURATION_ONLY})) == 47113
    group.apply(ev.SetOption("sql1", {"required_synchronized_secondaries_to_commit": 0}), 0.0)
    group.apply(ev.ModifyReplica("sql1", "sql2", asynchronous), 0.0)
    assert group.nodes["sql2"].databases["OLTP"].sync_state == SyncState.SYNCHRONIZING


def test_a_copy_that_turns_synchronous_has_to_catch_up_first() -> None:
    """Being caught up while asynchronous does not count for the log written since."""
    group = formed(replica("sql1"), replica("sql2", availability_mode=AvailabilityMode.ASYNCHRONOUS))
    group.apply(ev.Commit("sql1", "OLTP", 1), 0.0)
    group.apply(ev.ModifyReplica("sql1", "sql2", {"availability_mode": AvailabilityMode.SYNCHRONOUS}), 0.0)
    assert group.nodes["sql2"].databases["OLTP"].sync_state == SyncState.SYNCHRONIZING
    group.apply(ev.CatchUp(), 0.0)
    assert group.nodes["sql2"].databases["OLTP"].sync_state == SyncState.SYNCHRONIZED


def test_replicas_come_and_go() -> None:
    """ADD and REMOVE REPLICA with their refusals; a removed secondary is without role until DROP runs there."""
    group = formed()
    assert refused(group, ev.AddReplica("sql1", replica("sql2"))) == 35282
    assert refused(group, ev.RemoveReplica("sql1", "sql9")) == 35283
    assert refused(group, ev.RemoveReplica("sql1", "sql1")) == 35284
    group.apply(ev.RemoveReplica("sql1", "sql2"), 1.0)
    state = group.nodes["sql2"]
    assert (state.role, state.databases["OLTP"].database_state) == (Role.RESOLVING, DatabaseState.RESTORING)
    group.apply(ev.AddReplica("sql1", replica("sql2")), 2.0)
    assert refused(group, ev.Join("sql2", "NONE")) == 41106
    group.apply(ev.Drop("sql2"), 3.0)
    group.apply(ev.Join("sql2", "NONE"), 4.0)
    group.apply(ev.CatchUp(), 4.0)
    assert state.databases["OLTP"].sync_state == SyncState.SYNCHRONIZED
    basic = formed(replica("sql1"), replica("sql2"), basic=True)
    assert refused(basic, ev.AddReplica("sql1", replica("sql3"))) == 35223
    assert refused(basic, ev.AddDatabase("sql1", "HR")) == 35200


def test_databases_come_and_go() -> None:
    """ADD DATABASE seeds, REMOVE DATABASE leaves the secondary's copy RESTORING, HADR OFF and JOIN work on the secondary."""
    group = formed()
    assert refused(group, ev.AddDatabase("sql1", "OLTP")) == 35280
    assert refused(group, ev.RemoveDatabase("sql1", "HR")) == 35281
    group.apply(ev.AddDatabase("sql1", "HR", 1 << 20), 1.0)
    assert group.nodes["sql2"].databases["HR"].seeding == "SEEDING"
    assert next(dmv.dm_hadr_availability_group_states(group, "sql1"))["synchronization_health_desc"] == "PARTIALLY_HEALTHY"
    group.apply(ev.SeedDone("sql2", "HR"), 2.0)
    group.apply(ev.CatchUp(), 2.0)
    assert refused(group, ev.JoinDatabase("sql2", "HR")) == 41145
    assert refused(group, ev.JoinDatabase("sql2", "NOSUCH")) == 41132
    assert refused(group, ev.JoinDatabase("sql1", "HR")) == 35240
    assert refused(group, ev.UnjoinDatabase("sql1", "HR")) == 35240
    group.apply(ev.UnjoinDatabase("sql2", "HR"), 3.0)
    assert refused(group, ev.UnjoinDatabase("sql2", "HR")) == 35242
    assert refused(group, ev.Suspend("sql2", "HR")) == 35239
    assert refused(group, ev.JoinDatabase("sql2", "HR", 10**9)) == 1412
    group.apply(ev.WriteLog("sql1", "HR", 5000), 3.0)
    group.apply(ev.LogBackup("sql1", "HR"), 3.0)
    assert refused(group, ev.JoinDatabase("sql2", "HR", 0)) == 1408
    group.apply(ev.JoinDatabase("sql2", "HR"), 4.0)
    assert group.nodes["sql2"].databases["HR"].joined
    group.apply(ev.Commit("sql1", "HR", 1), 5.0)
    effects = group.apply(ev.RemoveDatabase("sql1", "HR"), 5.0)
    assert [one.id for one in effects if isinstance(one, fx.CommitFailed)] == [1]
    assert group.nodes["sql2"].databases["HR"].database_state == DatabaseState.RESTORING
    group.apply(ev.Crash("sql1"), 6.0)
    group.spec.databases.append("HR")
    assert refused(group, ev.JoinDatabase("sql2", "HR")) == 35250


def test_the_listener_is_one_and_valid() -> None:
    """ADD LISTENER, and the refusals of a second one, a bad name and a bad port."""
    group = formed()
    assert refused(group, ev.SetListener("sql1", Listener(""))) == 19485
    assert refused(group, ev.SetListener("sql1", Listener("ag1", 70000))) == 19482
    group.apply(ev.SetListener("sql1", Listener("ag1-lst", 1433, (("10.0.0.9", "255.255.255.0"),))), 0.0)
    assert refused(group, ev.SetListener("sql1", Listener("other"))) == 19477
    assert next(catalog.availability_group_listeners(group, "sql1"))["dns_name"] == "ag1-lst"
    address = next(catalog.availability_group_listener_ip_addresses(group, "sql1"))
    assert (address["ip_address"], address["state_desc"]) == ("10.0.0.9", "ONLINE")
    assert not list(catalog.availability_group_listener_ip_addresses(formed(), "sql1"))


def test_dropping_a_windows_group_removes_it_everywhere() -> None:
    """Also from a replica that was down: it leaves when it comes back."""
    group = formed(replica("sql1"), replica("sql2"), replica("sql3"), cluster_type=ClusterType.WSFC)
    group.apply(ev.Crash("sql3"), 1.0)
    group.apply(ev.Drop("sql1"), 2.0)
    assert group.nodes["sql1"].databases["OLTP"].database_state == DatabaseState.ONLINE
    assert group.nodes["sql2"].databases["OLTP"].database_state == DatabaseState.RESTORING
    group.apply(ev.Start("sql3"), 3.0)
    assert not group.nodes["sql3"].member
    assert refused(group, ev.Join("sql3", "WSFC")) == 41100


# --- access, routing, backups ----------------------------------------------------------------------------------------


def test_who_may_read_a_secondary() -> None:
    """ALLOW_CONNECTIONS NO gives 976, READ_ONLY gives 978 without intent, writing gives 3906, suspended gives 976."""
    for allowed, intent, number in (
        ("NO", True, 976),
        ("READ_ONLY", False, 978),
        ("READ_ONLY", True, None),
        ("ALL", False, None),
    ):
        group = formed(replica("sql1"), replica("sql2", secondary_connections=allowed))
        error = check_access(group, "sql2", "OLTP", read_only_intent=intent)
        assert (error.number if error else None) == number
    write = check_access(group, "sql2", "OLTP", for_write=True)
    assert write is not None
    assert (write.number, write.severity) == (3906, 16)
    group.apply(ev.Suspend("sql2", "OLTP"), 1.0)
    suspended = check_access(group, "sql2", "OLTP")
    assert suspended is not None
    assert suspended.number == 976
    assert check_access(group, "sql1", "OTHER") is None
    assert check_access(group, "sql1", "OLTP", for_write=True) is None
    write_only = formed(replica("sql1", primary_connections="READ_WRITE"), replica("sql2"))
    intent_error = check_access(write_only, "sql1", "OLTP", read_only_intent=True)
    assert intent_error is not None
    assert intent_error.number == 979
    group.apply(ev.RemoveReplica("sql1", "sql2"), 2.0)
    group.apply(ev.DatabaseFault("sql1", "OLTP", DatabaseState.OFFLINE), 2.0)
    closed = check_access(group, "sql1", "OLTP")
    assert closed is not None
    assert closed.number == 942


def routed() -> Group:
    """Three replicas, the primary routing read intent to a balanced pair."""
    urls = {f"sql{n}": f"TCP://sql{n}:1433" for n in (1, 2, 3)}
    routing = {"sql1": (("sql2", "sql3"), "sql1")}
    return formed(
        *(
            replica(
                name,
                secondary_connections="ALL",
                read_only_routing_url=url,
                read_only_routing_list=routing.get(name, ()),
                read_write_routing_url=url,
            )
            for name, url in urls.items()
        )
    )


def test_read_only_routing_takes_turns_and_skips_what_is_not_readable() -> None:
    """Round robin inside a set, in order between sets, None where no target is open."""
    group = routed()
    targets = [read_only_route(group, "sql1", "OLTP") for _ in range(3)]
    assert targets == ["TCP://sql2:1433", "TCP://sql3:1433", "TCP://sql2:1433"]
    group.apply(ev.Suspend("sql2", "OLTP"), 1.0)
    assert {read_only_route(group, "sql1", "OLTP") for _ in range(3)} == {"TCP://sql3:1433"}
    group.apply(ev.Crash("sql3"), 1.0)
    assert read_only_route(group, "sql1", "OLTP") is None
    assert read_only_route(group, "sql2", "OLTP") is None
    rows = list(catalog.availability_read_only_routing_lists(group, "sql1"))
    assert [row["routing_priority"] for row in rows] == [1, 1, 2]


def test_read_write_routing_leads_from_a_secondary_to_the_primary() -> None:
    """Where no listener is there (2019 and later)."""
    group = routed()
    assert read_write_route(group, "sql2") == "TCP://sql1:1433"
    assert read_write_route(group, "sql1") is None


def test_the_preferred_backup_replica_follows_preference_and_priority() -> None:
    """sys.fn_hadr_backup_is_preferred_replica for the four preferences."""
    group = formed(replica("sql1"), replica("sql2", backup_priority=10), replica("sql3", backup_priority=90))
    names = ("sql1", "sql2", "sql3")
    assert [backup_preferred(group, name, "OLTP") for name in names] == [False, False, True]
    group.apply(ev.Crash("sql3"), 1.0)
    assert [backup_preferred(group, name, "OLTP") for name in names[:2]] == [False, True]
    group.apply(ev.Crash("sql2"), 1.0)
    assert backup_preferred(group, "sql1", "OLTP")
    for preference, expected in (("PRIMARY", True), ("SECONDARY_ONLY", False), ("NONE", True)):
        group.apply(ev.SetOption("sql1", {"automated_backup_preference": preference}), 1.0)
        assert backup_preferred(group, "sql1", "OLTP") is expected
    assert backup_preferred(group, "sql1", "OTHER")


# --- rows ------------------------------------------------------------------------------------------------------------

DATABASE_REPLICA_STATES = """database_id group_id replica_id group_database_id is_local is_primary_replica synchronization_state
synchronization_state_desc is_commit_participant synchronization_health synchronization_health_desc database_state
database_state_desc is_suspended suspend_reason suspend_reason_desc recovery_lsn truncation_lsn last_sent_lsn last_sent_time
last_received_lsn last_received_time last_hardened_lsn last_hardened_time last_redone_lsn last_redone_time log_send_queue_size
log_send_rate redo_queue_size redo_rate filestream_send_rate end_of_log_lsn last_commit_lsn last_commit_time
low_water_mark_for_ghosts secondary_lag_seconds quorum_commit_lsn quorum_commit_time""".split()


def test_the_primary_shows_every_replica_and_a_secondary_itself() -> None:
    """dm_hadr_availability_replica_states and dm_hadr_database_replica_states."""
    group = formed(replica("sql1"), replica("sql2"), replica("sql3"))
    group.apply(ev.Commit("sql1", "OLTP", 1, 10240), 1.0)
    group.apply(ev.Send("sql2", "OLTP"), 2.0)
    rows = {row["replica_id"]: row for row in dmv.dm_hadr_database_replica_states(group, "sql1", database_ids={"OLTP": 5})}
    assert len(rows) == 3
    assert all(set(row) <= set(DATABASE_REPLICA_STATES) for row in rows.values())
    second, third = rows[group.replica_id("sql2")], rows[group.replica_id("sql3")]
    assert (second["log_send_queue_size"], third["log_send_queue_size"]) == (0, 10)
    assert second["synchronization_state_desc"] == "SYNCHRONIZED"
    assert second["database_state_desc"] is None
    own = rows[group.replica_id("sql1")]
    assert own["is_primary_replica"]
    assert own["last_commit_lsn"] > second["last_commit_lsn"] if second["last_commit_lsn"] else own["last_commit_lsn"]
    assert [row["role_desc"] for row in dmv.dm_hadr_availability_replica_states(group, "sql2")] == ["SECONDARY"]
    assert len(list(dmv.dm_hadr_availability_replica_states(group, "sql1"))) == 3


def test_a_disconnected_replica_shows_its_last_error() -> None:
    """connected_state 0, 35206, NOT_HEALTHY; lag grows."""
    group = formed()
    group.apply(ev.Cut("sql1", "sql2"), 1.0)
    group.apply(ev.Commit("sql1", "OLTP", 1), 1.0)
    group.apply(ev.Tick(), 11.0)
    row = next(row for row in dmv.dm_hadr_availability_replica_states(group, "sql1") if not row["is_local"])
    assert (row["connected_state_desc"], row["last_connect_error_number"]) == ("DISCONNECTED", 35206)
    assert row["synchronization_health_desc"] == "NOT_HEALTHY"
    lag = next(row for row in dmv.dm_hadr_database_replica_states(group, "sql1") if not row["is_local"])
    assert lag["secondary_lag_seconds"] == 10
    assert next(dmv.dm_hadr_availability_group_states(group, "sql1"))["synchronization_health"] == 1
    ready = {row["replica_id"]: row["is_failover_ready"] for row in dmv.dm_hadr_database_replica_cluster_states(group, "sql1")}
    assert ready == {group.replica_id("sql1"): True, group.replica_id("sql2"): False}


def test_cluster_views_have_rows_on_a_windows_cluster_only() -> None:
    """dm_hadr_cluster, members, nodes and the name map."""
    wsfc = formed(replica("sql1"), replica("sql2"), replica("sql3"), cluster_type=ClusterType.WSFC)
    assert next(cluster_dmv.dm_hadr_cluster(wsfc, "sql1"))["quorum_state_desc"] == "NORMAL_QUORUM"
    assert len(list(cluster_dmv.dm_hadr_cluster_members(wsfc, "sql1"))) == 3
    assert len(list(dmv.dm_hadr_availability_replica_cluster_nodes(wsfc, "sql1"))) == 3
    wsfc.apply(ev.Crash("sql2"), 1.0)
    wsfc.apply(ev.Crash("sql3"), 1.0)
    wsfc.apply(ev.Tick(), 20.0)
    row = next(dmv.dm_hadr_availability_replica_states(wsfc, "sql1"))
    assert (row["role_desc"], row["operational_state_desc"]) == ("RESOLVING", "FAILED_NO_QUORUM")
    assert next(dmv.dm_hadr_availability_group_states(wsfc, "sql1"))["primary_replica"] == ""
    assert not list(cluster_dmv.dm_hadr_cluster_members(wsfc, "sql1"))
    none = formed()
    assert next(cluster_dmv.dm_hadr_cluster(none, "sql1"))["cluster_name"] == ""
    assert not list(cluster_dmv.dm_hadr_cluster_members(none, "sql1"))
    assert next(cluster_dmv.dm_hadr_name_id_map(none, "sql1"))["ag_resource_id"] is None
    assert len(list(dmv.dm_hadr_availability_replica_cluster_states(none, "sql2"))) == 2


def test_catalogue_views_carry_the_options() -> None:
    """sys.availability_groups, sys.availability_replicas, sys.availability_databases_cluster."""
    group = formed()
    row = next(catalog.availability_groups(group, "sql1"))
    assert (row["cluster_type_desc"], row["sequence_number"] >> 32) == ("none", 1)
    assert [one["failover_mode_desc"] for one in catalog.availability_replicas(group, "sql2")] == ["MANUAL", "MANUAL"]
    assert next(catalog.availability_databases_cluster(group, "sql1"))["database_name"] == "OLTP"
    other = Group.create(GroupSpec("ag1", ClusterType.NONE, [replica("sql1"), replica("sql2")], ["OLTP"]), "sql1")[0]
    assert other is not None
    for view in (catalog.availability_groups, catalog.availability_replicas, dmv.dm_hadr_database_replica_states):
        assert not list(view(other, "sql2"))


def test_positions_print_as_log_sequence_numbers() -> None:
    """numeric(25,0) for the DMVs, (vlf:block:slot) for the errorlog; truncation never passes a log backup."""
    assert lsn_decimal(256 * 1024 * 1024) > lsn_decimal(255 * 1024 * 1024)
    assert lsn_text(0) == "(38:16:1)"
    group = formed()
    assert truncation_lsn(group, "sql1", "OLTP") == truncation_lsn(group, "sql2", "OLTP") == 1048576


def test_commit_records_are_limited() -> None:
    """The ledger forgets the oldest half when it holds too many."""
    ledger = Ledger()
    for number in range(COMMITS_KEPT_MAX + 1):
        ledger.log_commit(number, 0, number + 1, 0.0)
    assert len(ledger.commits) == COMMITS_KEPT_MAX // 2 + 1
    assert ledger.last_commit(0, 5) is None


def test_every_message_takes_its_substitutions() -> None:
    """No text has a gap in its numbering."""
    for number, (severity, state, _) in MESSAGES.items():
        assert text_of(number, *"abcdefgh")
        assert 0 <= severity <= 25
        assert 0 <= state <= 255
