"""Lab 10: the group built by its steps, the check of its exercise, the fault and its repair.

Everything here goes through T-SQL and the verbs of ``Cluster``, so it runs the same on every kind of cluster.
"""

from __future__ import annotations

import re

from aglab.core.errors import AglabError
from aglab.lab import Verdict

PRIMARY = "sql1"
SECONDARIES = ("sql2", "sql3")
NODES = (PRIMARY, *SECONDARIES)
EXISTS = "SELECT COUNT(*) FROM sys.availability_groups WHERE name = N'ag1'"
HERE = "SELECT COUNT(*) FROM sys.databases WHERE name = N'OLTP'"
IN_STEP = """SELECT COUNT(*) FROM sys.dm_hadr_database_replica_states AS d
    JOIN sys.availability_databases_cluster AS c ON c.group_database_id = d.group_database_id
    WHERE c.database_name = N'OLTP' AND d.synchronization_state_desc = N'SYNCHRONIZED'"""
STATES = """
SELECT r.replica_server_name, s.connected_state_desc, ISNULL(d.synchronization_state_desc, N'NO COPY') AS state
FROM sys.availability_replicas AS r
JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id
LEFT JOIN sys.dm_hadr_database_replica_states AS d ON d.replica_id = r.replica_id
ORDER BY r.replica_server_name;
"""
ALLOWED = ("NO", "READ_ONLY", "ALL")


def wait_for(lab, query, wanted, node=PRIMARY):
    """Let the servers wait until a count is there; whether it came."""
    looks, seconds = lab.about["wait"]["looks"], lab.about["wait"]["seconds"]
    script = f"""DECLARE @looks int = 0;
WHILE @looks < {looks} AND ({query}) <> {wanted}
BEGIN
    SET @looks = @looks + 1;
    WAITFOR DELAY '00:00:{seconds:02}';
END;
{query};"""
    return lab.sql(script, node).value == wanted


def build(lab):
    """Steps 02 to 07, as far as they have not been done."""
    for step in ("02", "03"):
        for node in NODES:
            lab.run_step(step, node)
    if not lab.sql(EXISTS, PRIMARY).value:
        lab.run_step("04", PRIMARY)
    for node in SECONDARIES:
        if not lab.sql(EXISTS, node).value:
            lab.run_step("05", node)
    if not lab.sql("SELECT COUNT(*) FROM sys.availability_databases_cluster WHERE database_name = N'OLTP'", PRIMARY).value:
        lab.run_step("06", PRIMARY)
        lab.run_step("07", PRIMARY)
    if not wait_for(lab, IN_STEP, len(NODES)):
        raise AglabError("the copies of OLTP did not become SYNCHRONIZED", "lab.run_step('09') and '11' show why")


def run(lab, progress):
    """Build the group, then load it."""
    build(lab)
    lab.measure("three replicas", progress=progress)


def reset(lab):
    """Three servers and no group. Keys, certificates and endpoints stay: they belong to the servers."""
    lab.cluster.stop_load()
    for node in NODES:
        if lab.sql(EXISTS, node).value:
            lab.sql("DROP AVAILABILITY GROUP ag1;", node)
    for node in SECONDARIES:
        if lab.sql(HERE, node).value:
            lab.sql("DROP DATABASE OLTP;", node)


# -- the exercise -----------------------------------------------------------------------------------------------------
def routing_urls(lab):
    """Each replica says where readers reach it: the address that clients of this cluster use."""
    for node in NODES:
        place = lab.cluster.node(node)
        role = f"SECONDARY_ROLE (READ_ONLY_ROUTING_URL = N'TCP://{place.server}:{place.port}')"
        lab.sql(f"ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'{node}' WITH ({role});", PRIMARY)


def listener(lab):
    """Step 10, where it has not been done."""
    if not lab.sql("SELECT COUNT(*) FROM sys.availability_group_listeners", PRIMARY).value:
        lab.run_step("10", PRIMARY)


def visit(lab, node=PRIMARY, read_only=True):
    """Log in to OLTP at a node; the server that answers, or the words of the refusal."""
    try:
        with lab.cluster.connect(node, "OLTP", read_only=read_only) as connection:
            return connection.run("SELECT @@SERVERNAME").value
    except AglabError as error:
        return f"refused: {error}"


def check(lab, answer, progress):
    """Give the routing list and the connections of secondaries to the group, then log in as readers and as others do."""
    routing, allow = answer.get("routing_list"), str(answer.get("allow_connections") or "").upper()
    if routing is None or not allow:
        return Verdict(False, "routing_list or allow_connections is still None", "Give both as the text that stands in T-SQL.")
    if allow not in ALLOWED:
        return Verdict(False, f"ALLOW_CONNECTIONS = {allow}", "A secondary knows NO, READ_ONLY and ALL.")
    if not re.fullmatch(r"[\s(),N'a-z0-9]+", str(routing)):
        return Verdict(False, f"READ_ONLY_ROUTING_LIST = {routing}", "Write replicas as in T-SQL: (N'sql2', ...).")
    build(lab)
    listener(lab)
    routing_urls(lab)
    for node in NODES:
        roles = f"SECONDARY_ROLE (ALLOW_CONNECTIONS = {allow})"
        lab.sql(f"ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'{node}' WITH ({roles});", PRIMARY)
    try:
        lab.sql(
            f"ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'{PRIMARY}' "
            f"WITH (PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = {routing}));",
            PRIMARY,
        )
    except AglabError as error:
        return Verdict(False, str(error), "SQL Server did not take the list. Count the parentheses, and quote each name.")
    readers = [visit(lab) for _ in range(6)]
    lab.sql("ALTER DATABASE OLTP SET HADR SUSPEND;", "sql2")
    lab.sql("ALTER DATABASE OLTP SET HADR SUSPEND;", "sql3")
    alone = visit(lab)
    for node in SECONDARIES:
        lab.sql("ALTER DATABASE OLTP SET HADR RESUME;", node)
    wait_for(lab, IN_STEP, len(NODES))
    return judge(readers, alone, visit(lab, "sql2", read_only=False))


def judge(readers, alone, plain):
    """The verdict on six logins with read intent, one while no secondary can be read, and one without intent at sql2."""
    seen = f"readers reached {', '.join(sorted(set(readers)))}; a login without intent at sql2: {plain[:40]}"
    if set(readers) == {PRIMARY}:
        hint = "No reader left the primary. A replica in the list must accept readers, and the list must name it first."
    elif PRIMARY in readers:
        hint = "Readers reached the primary although both secondaries can be read. It belongs at the end of the list, or nowhere."
    elif len(set(readers)) == 1:
        hint = (
            "One replica answers every reader: a list is tried from its start. Replicas in parentheses of their own take turns."
        )
    elif not plain.startswith("refused"):
        hint = "Readers take turns, but sql2 also lets in whoever forgets to say so. Which ALLOW_CONNECTIONS asks for the intent?"
    elif alone != PRIMARY:
        hint = "Readers find nobody while the secondaries are suspended; the primary should answer them then."
    else:
        return Verdict(True, seen)
    return Verdict(False, seen, hint)


# -- the fault ----------------------------------------------------------------------------------------------------------
def break_it(lab):
    """Somebody tidied up permissions on sql1; its endpoint was restarted since. Two minutes pass."""
    build(lab)
    lab.sql("REVOKE CONNECT ON ENDPOINT::hadr_endpoint FROM sql3_login;", PRIMARY)
    lab.sql("ALTER ENDPOINT hadr_endpoint STATE = STOPPED;", PRIMARY)
    lab.sql("ALTER ENDPOINT hadr_endpoint STATE = STARTED;", PRIMARY)
    lab.cluster.wait(120)


def repaired(lab):
    """Healthy: every replica is connected and every copy is in step."""
    lab.cluster.wait(30)
    return judge_states(lab.sql(STATES, PRIMARY).table)


def judge_states(states):
    """The verdict on what the primary says of its replicas."""
    said = [f"{row.replica_server_name} is {row.connected_state_desc} and {row.state}" for row in states.itertuples()]
    seen = "; ".join(said)
    away = [row.replica_server_name for row in states.itertuples() if row.connected_state_desc != "CONNECTED"]
    behind = [row.replica_server_name for row in states.itertuples() if row.state != "SYNCHRONIZED"]
    if away:
        hint = f"{', '.join(away)} cannot connect. Step 11 on both ends says what they show, and what they refuse."
        return Verdict(False, seen, hint)
    if behind:
        return Verdict(False, seen, f"Connected again; {', '.join(behind)} must be sent what it missed. Wait, then ask again.")
    return Verdict(True, seen)
