"""The documented transitions of an availability group, one scenario each."""

from __future__ import annotations

from typing import Any

import pytest

from aglab.ag import (
    AvailabilityMode,
    Checker,
    ClusterType,
    DatabaseState,
    FailoverMode,
    Group,
    GroupSpec,
    ReplicaSpec,
    Role,
    SuspendReason,
    SyncState,
    Timing,
    check_access,
    log_reuse_wait,
)
from aglab.ag import effects as fx
from aglab.ag import events as ev

ASYNC = AvailabilityMode.ASYNCHRONOUS


class Lab:
    """A formed group on a clock, judged after every event."""

    def __init__(
        self,
        cluster_type: ClusterType,
        modes: str = "SSS",
        required: int = 0,
        detection_s: float = 10.0,
        managed: bool = True,
        witness: bool = False,
        undo_bytes_s: float = 0.0,
    ) -> None:
        failover = {ClusterType.WSFC: FailoverMode.AUTOMATIC, ClusterType.EXTERNAL: FailoverMode.EXTERNAL}
        replicas = []
        for number, mode in enumerate(modes, start=1):
            one = failover.get(cluster_type, FailoverMode.MANUAL)
            if mode == "A" and cluster_type == ClusterType.WSFC:
                one = FailoverMode.MANUAL
            availability = {"S": AvailabilityMode.SYNCHRONOUS, "A": ASYNC, "C": AvailabilityMode.CONFIGURATION_ONLY}[mode]
            replicas.append(
                ReplicaSpec(f"sql{number}", "", availability, one, seeding_mode="AUTOMATIC", secondary_connections="ALL")
            )
        spec = GroupSpec("ag1", cluster_type, replicas, ["OLTP"], required_synchronized_secondaries_to_commit=required)
        timing = Timing(detection_s, undo_bytes_s)
        self.group = Group.form(spec, timing=timing, managed=managed, witness=witness)
        self.checker = Checker(self.group)
        self.now_s = 0.0
        self.ids = 0

    def do(self, event: ev.Event, after_s: float = 0.0) -> list[fx.Effect]:
        """Apply one event."""
        self.now_s += after_s
        effects = self.group.apply(event, self.now_s)
        self.checker.observe(self.group, event, effects)
        return effects

    def error(self, event: ev.Event) -> fx.Refused:
        """The error that a statement gives."""
        return next(one for one in self.do(event) if isinstance(one, fx.Refused))

    def commit(self, node: str = "sql1", after_s: float = 0.0) -> int:
        """A commit on a node; returns its id."""
        self.ids += 1
        self.do(ev.Commit(node, "OLTP", self.ids), after_s)
        return self.ids

    def acknowledged(self) -> set[int]:
        """Commits the clients know of."""
        return set(self.checker.acknowledged)

    def role(self, node: str) -> Role:
        """A node's role."""
        return self.group.nodes[node].role

    def sync(self, node: str) -> SyncState:
        """A copy's synchronization state."""
        return self.group.nodes[node].databases["OLTP"].sync_state

    def suspended(self, node: str) -> SuspendReason | None:
        """Why a copy is suspended."""
        return self.group.nodes[node].databases["OLTP"].suspended


def only(effects: list[fx.Effect], kind: type[Any]) -> list[Any]:
    """The effects of one kind."""
    return [one for one in effects if isinstance(one, kind)]


# --- commits ---------------------------------------------------------------------------------------------------------


def test_a_synchronous_commit_waits_until_every_synchronized_secondary_has_hardened_it() -> None:
    """Sent and received log is not enough; the slower secondary decides."""
    lab = Lab(ClusterType.WSFC)
    one = lab.commit()
    lab.do(ev.Send("sql2", "OLTP"))
    lab.do(ev.Receive("sql2", "OLTP"))
    assert one not in lab.acknowledged()
    lab.do(ev.Harden("sql2", "OLTP"))
    assert one not in lab.acknowledged()
    effects = lab.do(ev.CatchUp("sql3"), after_s=0.25)
    assert only(effects, fx.CommitAcknowledged) == [
        fx.CommitAcknowledged(1, "sql1", "OLTP", 1049600, 0.25, ("sql2", "sql3")),
    ]


def test_an_asynchronous_primary_waits_for_nobody() -> None:
    """With the primary in asynchronous commit every secondary is asynchronous, whatever it is set to."""
    lab = Lab(ClusterType.NONE, "ASS")
    assert lab.commit() in lab.acknowledged()
    lab.do(ev.CatchUp())
    assert lab.sync("sql2") == SyncState.SYNCHRONIZING
    assert lab.group.database_health(lab.group.nodes["sql2"], "OLTP") == 1


def test_after_the_session_timeout_the_primary_acknowledges_alone() -> None:
    """A silent secondary holds commits back for SESSION_TIMEOUT, then it is NOT SYNCHRONIZING and the primary runs exposed."""
    lab = Lab(ClusterType.NONE, "SS")
    lab.do(ev.Cut("sql1", "sql2"))
    one = lab.commit(after_s=1.0)
    lab.do(ev.Tick(), after_s=8.9)
    assert one not in lab.acknowledged()
    effects = lab.do(ev.Tick(), after_s=0.1)
    assert only(effects, fx.Disconnected) == [fx.Disconnected("sql1", "sql2", timed_out=True)]
    assert one in lab.acknowledged()
    assert lab.sync("sql2") == SyncState.NOT_SYNCHRONIZING
    assert lab.group.exposed(lab.group.nodes["sql1"], "OLTP")
    lines = [line.text for line in only(effects, fx.LogLine) if line.number == 35206 and line.node == "sql1"]
    assert lines[0].startswith(
        "A connection timeout has occurred on a previously established connection to availability replica 'sql2'"
    )


def test_a_crashed_secondary_is_not_waited_for() -> None:
    """An instance that ends closes its connection, so no time-out is needed."""
    lab = Lab(ClusterType.NONE, "SS")
    one = lab.commit()
    lab.do(ev.Crash("sql2"))
    assert one in lab.acknowledged()


def test_a_returning_secondary_is_synchronizing_until_it_has_caught_up() -> None:
    """The primary does not wait for it meanwhile."""
    lab = Lab(ClusterType.NONE, "SS")
    lab.do(ev.Crash("sql2"))
    lab.commit()
    lab.do(ev.Start("sql2"))
    assert lab.sync("sql2") == SyncState.SYNCHRONIZING
    assert lab.commit() in lab.acknowledged()
    lab.do(ev.CatchUp())
    assert lab.sync("sql2") == SyncState.SYNCHRONIZED
    assert lab.commit() not in lab.acknowledged()


def test_too_few_synchronized_secondaries_close_the_database_with_988() -> None:
    """REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1 without a synchronized secondary: no access, waiting commits fail."""
    lab = Lab(ClusterType.NONE, "SS", required=1)
    one = lab.commit()
    effects = lab.do(ev.Crash("sql2"))
    failed = only(effects, fx.CommitFailed)
    assert [(failure.id, failure.number, failure.in_doubt) for failure in failed] == [(one, 988, True)]
    refused = lab.error(ev.Commit("sql1", "OLTP", 99))
    assert (refused.number, refused.severity, refused.state) == (988, 14, 1)
    assert "lacks a quorum of nodes for high availability" in refused.text
    access = check_access(lab.group, "sql1", "OLTP")
    assert access is not None
    assert access.number == 988
    lab.do(ev.SetOption("sql1", {"required_synchronized_secondaries_to_commit": 0}))
    assert lab.commit() in lab.acknowledged()


# --- planned failover --------------------------------------------------------------------------------------------------


def test_planned_failover_swaps_the_roles_and_loses_nothing() -> None:
    """FAILOVER on a synchronized secondary of a Windows cluster."""
    lab = Lab(ClusterType.WSFC)
    one = lab.commit()
    lab.do(ev.CatchUp())
    effects = lab.do(ev.Failover("sql2"))
    assert only(effects, fx.FailedOver)[0].kind == "planned"
    assert (lab.role("sql1"), lab.role("sql2"), lab.role("sql3")) == (Role.SECONDARY, Role.PRIMARY, Role.SECONDARY)
    assert one in {commit.id for commit in lab.group.ledgers["OLTP"].commits}
    lab.do(ev.CatchUp())
    assert lab.sync("sql1") == lab.sync("sql3") == SyncState.SYNCHRONIZED
    assert lab.suspended("sql1") is None


def test_the_errorlogs_tell_a_planned_failover() -> None:
    """Both instances log their state changes in SQL Server's words."""
    lab = Lab(ClusterType.WSFC)
    lines = only(lab.do(ev.Failover("sql2")), fx.LogLine)
    old = [line.text for line in lines if line.node == "sql1" and line.number == 19406]
    new = [line.text for line in lines if line.node == "sql2" and line.number == 19406]
    start = "The state of the local availability replica in availability group 'ag1' has changed from "
    assert [text[len(start) :].split("'.")[0] for text in old] == [
        "'PRIMARY_NORMAL' to 'RESOLVING_NORMAL",
        "'RESOLVING_NORMAL' to 'SECONDARY_NORMAL",
    ]
    assert [text[len(start) :].split("'.")[0] for text in new] == [
        "'SECONDARY_NORMAL' to 'RESOLVING_PENDING_FAILOVER",
        "'RESOLVING_PENDING_FAILOVER' to 'RESOLVING_NORMAL",
        "'RESOLVING_NORMAL' to 'PRIMARY_PENDING",
        "'PRIMARY_PENDING' to 'PRIMARY_NORMAL",
    ]
    assert any(line.number == 1480 and '"OLTP" is changing roles from "PRIMARY" to "RESOLVING"' in line.text for line in lines)


def test_planned_failover_to_an_unsynchronized_secondary_is_refused() -> None:
    """Msg 41142 names the two ways out."""
    lab = Lab(ClusterType.WSFC, "SAS")
    assert lab.error(ev.Failover("sql2")).number == 41142
    lab.do(ev.Suspend("sql3", "OLTP"))
    assert lab.error(ev.Failover("sql3")).number == 41142
    assert lab.error(ev.Failover("sql1")).number == 41122


def test_external_groups_fail_over_only_for_the_cluster_manager() -> None:
    """Without the session context external_cluster both failovers give Msg 47104."""
    lab = Lab(ClusterType.EXTERNAL)
    assert lab.error(ev.Failover("sql2")).number == 47104
    assert lab.error(ev.ForceFailover("sql2")).number == 47104
    lab.do(ev.Failover("sql2", external_cluster=True))
    assert (lab.role("sql1"), lab.role("sql2")) == (Role.SECONDARY, Role.PRIMARY)


def test_a_failover_waits_for_redo_before_the_database_opens() -> None:
    """The new primary is RECOVERING (Msg 922) until it has rolled forward what it had hardened."""
    lab = Lab(ClusterType.WSFC)
    lab.commit()
    for step in (ev.Send, ev.Receive, ev.Harden):
        for node in ("sql2", "sql3"):
            lab.do(step(node, "OLTP"))
    lab.do(ev.Failover("sql2"))
    assert lab.error(ev.Commit("sql2", "OLTP", 99)).number == 922
    lab.do(ev.Redo("sql2", "OLTP"))
    lab.ids = 99
    lab.commit("sql2")
    assert lab.group.nodes["sql2"].databases["OLTP"].database_state == DatabaseState.ONLINE


# --- CLUSTER_TYPE = NONE -----------------------------------------------------------------------------------------------


def test_the_documented_planned_failover_without_a_cluster_loses_nothing() -> None:
    """Required secondaries 1, OFFLINE, FORCE_FAILOVER_ALLOW_DATA_LOSS, SET (ROLE = SECONDARY), HADR RESUME."""
    lab = Lab(ClusterType.NONE)
    commits = [lab.commit() for _ in range(3)]
    lab.do(ev.CatchUp())
    lab.do(ev.SetOption("sql1", {"required_synchronized_secondaries_to_commit": 1}))
    assert lab.sync("sql2") == SyncState.SYNCHRONIZED
    lab.do(ev.Offline("sql1"))
    lab.do(ev.Offline("sql3"))
    access = check_access(lab.group, "sql1", "OLTP")
    assert access is not None
    assert access.number == 983
    lab.do(ev.ForceFailover("sql2"))
    assert lab.role("sql2") == Role.PRIMARY
    lab.do(ev.SetRoleSecondary("sql1"))
    lab.do(ev.SetRoleSecondary("sql3"))
    assert lab.suspended("sql1") == lab.suspended("sql3") == SuspendReason.PARTNER
    lab.do(ev.Resume("sql1", "OLTP"))
    lab.do(ev.Resume("sql3", "OLTP"))
    lab.do(ev.CatchUp())
    assert lab.sync("sql1") == lab.sync("sql3") == SyncState.SYNCHRONIZED
    assert not lab.checker.lost_by_force
    assert set(commits) <= lab.acknowledged()
    after = lab.commit("sql2")
    lab.do(ev.CatchUp())
    assert after in lab.acknowledged()


def test_the_older_text_of_that_procedure_gives_41104() -> None:
    """SET (ROLE = SECONDARY) on the running primary fails since SQL Server 2019."""
    lab = Lab(ClusterType.NONE)
    refused = lab.error(ev.SetRoleSecondary("sql1"))
    assert (refused.number, refused.severity, refused.state) == (41104, 16, 5)
    assert refused.text.startswith(
        "Failover of the availability group 'ag1' to the local replica failed because the availability group"
    )


def test_a_plain_failover_without_a_cluster_is_refused() -> None:
    """Msg 47122: only force failover is supported."""
    refused = Lab(ClusterType.NONE).error(ev.Failover("sql2"))
    assert refused.number == 47122
    assert "CLUSTER_TYPE = NONE. Only force failover is supported" in refused.text


def test_forcing_failover_while_the_old_primary_runs_leaves_two_primaries() -> None:
    """Nobody arbitrates: both serve clients until the old one is taken OFFLINE; its own commits are then undone."""
    lab = Lab(ClusterType.NONE, "SS")
    lab.do(ev.ForceFailover("sql2"))
    assert lab.role("sql1") == lab.role("sql2") == Role.PRIMARY
    there, here = lab.commit("sql2"), lab.commit("sql1")
    assert {there, here} <= lab.acknowledged()
    lab.do(ev.Offline("sql1"))
    lab.do(ev.SetRoleSecondary("sql1"))
    rewound = only(lab.do(ev.Resume("sql1", "OLTP")), fx.Rewound)
    assert rewound[0].lost == (here,)


def test_an_old_primary_that_restarts_takes_the_primary_role_again() -> None:
    """The documented reason to remove it: OFFLINE, DROP, and add it anew."""
    lab = Lab(ClusterType.NONE, "SS")
    lab.do(ev.Crash("sql1"))
    lab.do(ev.ForceFailover("sql2"))
    lab.do(ev.RemoveReplica("sql2", "sql1"))
    lab.do(ev.Start("sql1"))
    assert lab.role("sql1") == lab.role("sql2") == Role.PRIMARY
    lab.do(ev.Offline("sql1"))
    lab.do(ev.AddReplica("sql2", ReplicaSpec("sql1", seeding_mode="AUTOMATIC")))
    assert lab.error(ev.Join("sql1", "NONE")).number == 41106
    lab.do(ev.Drop("sql1"))
    lab.do(ev.Join("sql1", "NONE"))
    lab.do(ev.GrantCreateDatabase("sql1"))
    lab.do(ev.CatchUp())
    assert lab.sync("sql1") == SyncState.SYNCHRONIZED


# --- forced failover and its aftermath ------------------------------------------------------------------------------


def test_forced_failover_loses_exactly_what_was_not_hardened_there() -> None:
    """The old primary returns suspended; resuming it undoes the lost commits and reports them."""
    lab = Lab(ClusterType.WSFC, "SAA")
    kept = lab.commit()
    lab.do(ev.CatchUp())
    lost = [lab.commit() for _ in range(3)]
    lab.do(ev.Crash("sql1"))
    assert lab.error(ev.Failover("sql2")).number == 41142
    effects = lab.do(ev.ForceFailover("sql2"))
    assert only(effects, fx.FailedOver)[0].kind == "forced"
    assert lab.suspended("sql3") == SuspendReason.PARTNER
    assert lab.checker.lost_by_force == set(lost)
    lab.do(ev.Start("sql1"))
    lab.do(ev.Tick(), after_s=10.0)
    assert (lab.role("sql1"), lab.suspended("sql1")) == (Role.SECONDARY, SuspendReason.PARTNER)
    rewound = only(lab.do(ev.Resume("sql1", "OLTP")), fx.Rewound)
    assert rewound[0].lost == tuple(lost)
    assert kept not in rewound[0].lost


def test_forcing_a_synchronized_replica_of_a_healthy_cluster_is_a_planned_failover() -> None:
    """Documented: it behaves as a manual failover, nothing is suspended."""
    lab = Lab(ClusterType.WSFC)
    effects = lab.do(ev.ForceFailover("sql2"))
    assert only(effects, fx.FailedOver)[0].kind == "planned"
    assert lab.suspended("sql3") is None


def test_undo_goes_through_reverting_and_initializing() -> None:
    """Redone log needs pages from the primary, then log up to the undo LSN; meanwhile the copy cannot be read."""
    lab = Lab(ClusterType.WSFC, "SA", undo_bytes_s=1024.0, witness=True)
    lab.commit()
    lab.do(ev.Crash("sql1"))
    lab.do(ev.Tick(), after_s=10.0)
    lab.do(ev.ForceFailover("sql2"))
    lab.commit("sql2")
    lab.do(ev.Start("sql1"))
    lab.do(ev.Tick(), after_s=10.0)
    lab.do(ev.Resume("sql1", "OLTP"))
    assert lab.sync("sql1") == SyncState.REVERTING
    access = check_access(lab.group, "sql1", "OLTP")
    assert access is not None
    assert access.number == 922
    lab.do(ev.Tick(), after_s=1.0)
    assert lab.sync("sql1") == SyncState.INITIALIZING
    lab.do(ev.CatchUp())
    assert lab.sync("sql1") == SyncState.SYNCHRONIZING


def test_forcing_failover_to_a_reverting_copy_leaves_the_database_suspect() -> None:
    """Documented: a copy in the middle of its undo cannot be started as primary."""
    lab = Lab(ClusterType.NONE, "AA", undo_bytes_s=1.0)
    lab.commit()
    lab.do(ev.ForceFailover("sql2"))
    lab.do(ev.Offline("sql1"))
    lab.do(ev.SetRoleSecondary("sql1"))
    lab.do(ev.Resume("sql1", "OLTP"))
    assert lab.sync("sql1") == SyncState.REVERTING
    lab.do(ev.Crash("sql2"))
    effects = lab.do(ev.ForceFailover("sql1"))
    assert {35253, 35269} <= {line.number for line in only(effects, fx.LogLine)}
    assert lab.group.nodes["sql1"].databases["OLTP"].database_state == DatabaseState.SUSPECT
    assert lab.error(ev.Commit("sql1", "OLTP", 99)).number == 945


def test_more_than_two_recovery_forks_cannot_be_followed() -> None:
    """After several forced failovers without log backups a copy stays suspended with error 1408, state 103."""
    lab = Lab(ClusterType.NONE, "AAA")
    lab.commit()
    lab.do(ev.Crash("sql1"))
    for node in ("sql2", "sql3", "sql2"):
        other = "sql3" if node == "sql2" else "sql2"
        lab.do(ev.ForceFailover(node))
        if lab.role(other) == Role.PRIMARY:
            lab.do(ev.Offline(other))
            lab.do(ev.SetRoleSecondary(other))
        lab.do(ev.Resume(other, "OLTP"))
        lab.commit(node)
        lab.do(ev.CatchUp())
        lab.do(ev.Tick(), after_s=1.0)
    lab.do(ev.Offline("sql1"))
    lab.group.nodes["sql1"].offline = True
    lab.do(ev.Start("sql1"))
    lab.do(ev.SetRoleSecondary("sql1"))
    effects = lab.do(ev.Resume("sql1", "OLTP"))
    assert lab.suspended("sql1") == SuspendReason.REVALIDATION
    assert any(line.number == 1408 for line in only(effects, fx.LogLine))


# --- quorum and automatic failover --------------------------------------------------------------------------------------


def test_a_windows_cluster_fails_over_by_itself_after_detection() -> None:
    """AUTOMATIC on both replicas, synchronized: the secondary becomes primary, the old one returns as secondary."""
    lab = Lab(ClusterType.WSFC)
    one = lab.commit()
    lab.do(ev.CatchUp())
    lab.do(ev.Crash("sql1"))
    lab.do(ev.Tick(), after_s=9.9)
    assert lab.group.primary() is None
    effects = lab.do(ev.Tick(), after_s=0.1)
    assert only(effects, fx.FailedOver) == [fx.FailedOver("automatic", "sql1", "sql2", {"OLTP": 1049600}, True)]
    lab.do(ev.Start("sql1"), after_s=5.0)
    lab.do(ev.Tick(), after_s=10.0)
    assert (lab.role("sql1"), lab.suspended("sql1")) == (Role.SECONDARY, None)
    assert one in lab.acknowledged()


def test_no_automatic_failover_to_an_unsynchronized_replica() -> None:
    """The group waits for its old primary."""
    lab = Lab(ClusterType.WSFC)
    lab.do(ev.Suspend("sql2", "OLTP"))
    lab.do(ev.Suspend("sql3", "OLTP"))
    lab.commit()
    lab.do(ev.Crash("sql1"))
    lab.do(ev.Tick(), after_s=20.0)
    assert lab.group.primary() is None
    lab.do(ev.Start("sql1"))
    lab.do(ev.Tick(), after_s=10.0)
    assert lab.role("sql1") == Role.PRIMARY


def test_a_primary_without_quorum_goes_to_resolving_and_cannot_acknowledge_meanwhile() -> None:
    """It cannot mark its partners as not synchronized, so it waits until the cluster takes its role."""
    lab = Lab(ClusterType.WSFC, detection_s=20.0)
    lab.do(ev.Cut("sql1", "sql2"))
    lab.do(ev.Cut("sql1", "sql3"))
    one = lab.commit()
    lab.do(ev.Tick(), after_s=15.0)
    assert one not in lab.acknowledged()
    effects = lab.do(ev.Tick(), after_s=5.0)
    assert [failure.id for failure in only(effects, fx.CommitFailed)] == [one]
    assert lab.role("sql1") == Role.RESOLVING
    assert lab.role("sql2") == Role.PRIMARY
    assert lab.error(ev.ForceFailover("sql1")).number == 41131


def test_forced_quorum_needs_a_forced_failover() -> None:
    """A planned failover is refused with Msg 41125; forcing brings the group online."""
    lab = Lab(ClusterType.WSFC)
    lab.do(ev.Crash("sql1"))
    lab.do(ev.Crash("sql2"))
    lab.do(ev.Tick(), after_s=10.0)
    assert lab.role("sql3") == Role.RESOLVING
    assert lab.error(ev.Failover("sql3")).number == 41131
    effects = lab.do(ev.ForceQuorum("sql3"))
    assert only(effects, fx.SplitBrainRisk)
    assert lab.error(ev.Failover("sql3")).number == 41125
    lab.do(ev.ForceFailover("sql3"))
    assert lab.role("sql3") == Role.PRIMARY


def test_a_witness_does_not_bring_up_a_node_that_missed_changes() -> None:
    """Two nodes and a file share: the one that was away when the record changed stays RESOLVING."""
    lab = Lab(ClusterType.WSFC, "SS", witness=True)
    lab.do(ev.Crash("sql2"))
    lab.do(ev.Tick(), after_s=10.0)
    lab.commit()
    lab.do(ev.Crash("sql1"))
    lab.do(ev.Start("sql2"))
    lab.do(ev.Tick(), after_s=20.0)
    assert lab.role("sql2") == Role.RESOLVING
    assert lab.error(ev.Failover("sql2")).number == 41131


def test_pacemaker_promotes_only_when_a_secondary_was_required() -> None:
    """REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 0 with three synchronous replicas: no automatic failover."""
    for required, role in ((0, Role.SECONDARY), (1, Role.PRIMARY)):
        lab = Lab(ClusterType.EXTERNAL, required=required)
        lab.do(ev.Crash("sql1"))
        lab.do(ev.Tick(), after_s=10.0)
        assert lab.role("sql2") == role


def test_a_configuration_only_replica_gives_the_majority_for_automatic_failover() -> None:
    """Two synchronous replicas and one configuration-only replica fail over with required secondaries 0."""
    lab = Lab(ClusterType.EXTERNAL, "SSC")
    lab.do(ev.Crash("sql1"))
    lab.do(ev.Tick(), after_s=10.0)
    assert lab.role("sql2") == Role.PRIMARY
    assert lab.error(ev.Failover("sql3", external_cluster=True)).number == 47109
    assert "OLTP" not in lab.group.nodes["sql3"].databases


def test_a_primary_without_secondary_and_configuration_replica_serves_nobody() -> None:
    """Documented: synchronous secondary and configuration-only replica out: not available for user transactions."""
    lab = Lab(ClusterType.EXTERNAL, "SSC", managed=False)
    lab.do(ev.Crash("sql2"))
    lab.do(ev.Tick(), after_s=10.0)
    assert lab.commit() in lab.acknowledged()
    lab.do(ev.Crash("sql3"))
    lab.do(ev.Tick(), after_s=10.0)
    assert lab.error(ev.Commit("sql1", "OLTP", 99)).number == 988


def test_without_a_manager_an_old_external_primary_keeps_its_role_but_is_closed() -> None:
    """OFFLINE and SET (ROLE = SECONDARY) bring it back as a secondary."""
    lab = Lab(ClusterType.EXTERNAL, managed=False)
    lab.do(ev.Failover("sql2", external_cluster=True))
    assert lab.role("sql1") == Role.PRIMARY
    assert lab.error(ev.Commit("sql1", "OLTP", 99)).number == 988
    assert lab.error(ev.SetRoleSecondary("sql1")).number == 41104
    lab.do(ev.Offline("sql1"))
    lab.do(ev.SetRoleSecondary("sql1"))
    assert lab.role("sql1") == Role.SECONDARY


def test_failure_condition_level_and_db_failover_decide_about_faults() -> None:
    """Level 4 is ignored at the default 3; a suspect database fails over only with DB_FAILOVER = ON."""
    lab = Lab(ClusterType.WSFC)
    lab.do(ev.HealthFault("sql1", 4))
    assert lab.role("sql1") == Role.PRIMARY
    lab.do(ev.DatabaseFault("sql1", "OLTP"))
    assert lab.role("sql1") == Role.PRIMARY
    lab.do(ev.DatabaseFault("sql1", "OLTP", DatabaseState.ONLINE))
    lab.do(ev.SetOption("sql1", {"db_failover": True}))
    lab.do(ev.DatabaseFault("sql1", "OLTP"))
    assert lab.role("sql2") == Role.PRIMARY
    lab.do(ev.HealthFault("sql2", 2))
    lab.do(ev.Tick(), after_s=29.0)
    assert lab.role("sql2") == Role.PRIMARY
    lab.do(ev.Tick(), after_s=1.0)
    assert lab.role("sql3") == Role.PRIMARY


# --- suspend and resume, log truncation ---------------------------------------------------------------------------------


def test_a_locally_suspended_secondary_is_resumed_locally() -> None:
    """RESUME on the primary does nothing for it; the primary goes on without it."""
    lab = Lab(ClusterType.NONE)
    lab.do(ev.Suspend("sql2", "OLTP"))
    assert lab.suspended("sql2") == SuspendReason.USER
    one = lab.commit()
    lab.do(ev.CatchUp())
    assert one in lab.acknowledged()
    lab.do(ev.Resume("sql1", "OLTP"))
    assert lab.sync("sql2") == SyncState.NOT_SYNCHRONIZING
    lab.do(ev.Resume("sql2", "OLTP"))
    lab.do(ev.CatchUp())
    assert lab.sync("sql2") == SyncState.SYNCHRONIZED


def test_suspending_on_the_primary_stops_every_secondary() -> None:
    """The primary runs exposed until it is resumed there."""
    lab = Lab(ClusterType.NONE)
    lab.do(ev.Suspend("sql1", "OLTP"))
    assert lab.sync("sql2") == lab.sync("sql3") == SyncState.NOT_SYNCHRONIZING
    assert lab.commit() in lab.acknowledged()
    lab.do(ev.Resume("sql1", "OLTP"))
    lab.do(ev.CatchUp())
    assert lab.sync("sql2") == SyncState.SYNCHRONIZED


def test_a_secondary_that_is_behind_holds_the_log_of_the_primary() -> None:
    """log_reuse_wait_desc says AVAILABILITY_REPLICA after the log backup, until redo has passed it."""
    lab = Lab(ClusterType.NONE, "SA")
    lab.commit()
    assert log_reuse_wait(lab.group, "sql1", "OLTP") == "LOG_BACKUP"
    lab.do(ev.LogBackup("sql1", "OLTP"))
    assert log_reuse_wait(lab.group, "sql1", "OLTP") == "AVAILABILITY_REPLICA"
    lab.do(ev.CatchUp())
    assert log_reuse_wait(lab.group, "sql1", "OLTP") == "NOTHING"
    assert log_reuse_wait(lab.group, "sql2", "OLTP") == "NOTHING"


def test_received_log_is_lost_when_an_instance_ends() -> None:
    """Only hardened log counts after a restart."""
    lab = Lab(ClusterType.NONE, "SS")
    lab.commit()
    lab.do(ev.Send("sql2", "OLTP"))
    lab.do(ev.Receive("sql2", "OLTP"))
    lab.do(ev.Crash("sql2"))
    copy = lab.group.nodes["sql2"].databases["OLTP"]
    assert copy.received == copy.hardened == 1048576


def test_redo_faults_suspend_the_secondary() -> None:
    """MovementFault: SUSPEND_FROM_REDO, logged as 35264."""
    lab = Lab(ClusterType.NONE, "SS")
    effects = lab.do(ev.MovementFault("sql2", "OLTP"))
    assert lab.suspended("sql2") == SuspendReason.REDO
    assert any(line.number == 35264 for line in only(effects, fx.LogLine))


def test_offline_of_an_unsynchronized_windows_group_is_refused() -> None:
    """Msg 19416; synchronized, the whole group goes to RESOLVING and only forcing brings it back."""
    lab = Lab(ClusterType.WSFC)
    lab.do(ev.Suspend("sql2", "OLTP"))
    assert lab.error(ev.Offline("sql1")).number == 19416
    assert lab.error(ev.Offline("sql2")).number == 41140
    lab.do(ev.Resume("sql2", "OLTP"))
    lab.do(ev.CatchUp())
    lab.do(ev.Offline("sql1"))
    lab.do(ev.Tick(), after_s=20.0)
    assert {lab.role(node) for node in ("sql1", "sql2", "sql3")} == {Role.RESOLVING}
    assert lab.error(ev.SetRoleSecondary("sql1")).number == 41190
    lab.do(ev.ForceFailover("sql1"))
    assert lab.role("sql1") == Role.PRIMARY


def test_time_does_not_go_back_and_nodes_must_be_known() -> None:
    """Wrong use of apply is a usage error, not a SQL error."""
    from aglab.core.errors import UsageError

    lab = Lab(ClusterType.NONE, "SS")
    lab.do(ev.Tick(), after_s=5.0)
    with pytest.raises(UsageError, match=r"now_s=1.0 must be >= 5.0"):
        lab.group.apply(ev.Tick(), 1.0)
    with pytest.raises(UsageError, match="node 'sql9' is not known"):
        lab.group.apply(ev.Crash("sql9"), 6.0)
    with pytest.raises(UsageError, match="log_bytes=0 must be > 0"):
        lab.group.apply(ev.Commit("sql1", "OLTP", 1, 0), 6.0)
    with pytest.raises(UsageError, match="is refused"):
        Group.form(GroupSpec(replicas=[ReplicaSpec("sql1"), ReplicaSpec("sql1")]))
