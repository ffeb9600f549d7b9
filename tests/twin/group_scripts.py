"""The statements that form an availability group, for tests on bare nodes."""

NODES = ("sql1", "sql2", "sql3")
PASSWORD = "Str0ng-Password"  # of key files and peers' logins in tests
EXTERNAL = "EXEC sp_set_session_context N'external_cluster', N'yes'; "  # as the cluster's manager


def own_certificate(node):
    """A master key and the certificate that a node shows, left in the shared folder."""
    return f"""
CREATE MASTER KEY ENCRYPTION BY PASSWORD = N'{PASSWORD}';
CREATE CERTIFICATE {node}_certificate WITH SUBJECT = N'Endpoint of {node}', EXPIRY_DATE = N'20991231';
BACKUP CERTIFICATE {node}_certificate TO FILE = N'/var/opt/aglab/{node}.cer';
CREATE ENDPOINT Hadr_endpoint STATE = STARTED AS TCP (LISTENER_PORT = 5022)
    FOR DATABASE_MIRRORING (ROLE = ALL, AUTHENTICATION = CERTIFICATE {node}_certificate, ENCRYPTION = REQUIRED ALGORITHM AES);
"""


def trust(peer):
    """What lets a peer connect to this node's endpoint."""
    return f"""
CREATE LOGIN {peer}_login WITH PASSWORD = N'{PASSWORD}';
CREATE USER {peer}_user FOR LOGIN {peer}_login;
CREATE CERTIFICATE {peer}_certificate AUTHORIZATION {peer}_user FROM FILE = N'/var/opt/aglab/{peer}.cer';
GRANT CONNECT ON ENDPOINT::Hadr_endpoint TO [{peer}_login];
"""


def create(name="ag1", cluster_type="NONE", failover="MANUAL", databases="", extra="", nodes=NODES, options=""):
    """CREATE AVAILABILITY GROUP over the nodes."""
    replicas = ",\n    ".join(
        f"N'{node}' WITH (ENDPOINT_URL = N'TCP://{node}:5022', AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, "
        f"FAILOVER_MODE = {failover}, SEEDING_MODE = AUTOMATIC, SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL){extra})"
        for node in nodes
    )
    databases = f"DATABASE {databases} " if databases else ""
    return (
        f"CREATE AVAILABILITY GROUP [{name}] WITH (CLUSTER_TYPE = {cluster_type}{options}) FOR {databases}REPLICA ON {replicas}"
    )


def join(name="ag1", cluster_type="NONE"):
    """What a secondary says."""
    return f"""ALTER AVAILABILITY GROUP [{name}] JOIN WITH (CLUSTER_TYPE = {cluster_type});
ALTER AVAILABILITY GROUP [{name}] GRANT CREATE ANY DATABASE;"""


def prepare(link):
    """Endpoints that accept each other on every node."""
    for node in NODES:
        link.sql(own_certificate(node), node=node)
    for node in NODES:
        for peer in NODES:
            if peer != node:
                link.sql(trust(peer), node=node)


def build(link, cluster_type="NONE", failover="MANUAL", database="OLTP", extra=""):
    """The whole group over a database of sql1, seeded and synchronized."""
    prepare(link)
    link.sql(create("ag1", cluster_type, failover, extra=extra))
    link.sql("ALTER AVAILABILITY GROUP ag1 GRANT CREATE ANY DATABASE")
    for node in NODES[1:]:
        link.sql(join("ag1", cluster_type), node=node)
    link.sql(f"BACKUP DATABASE [{database}] TO DISK = N'/var/opt/mssql/data/{database}.bak'")
    link.sql(f"ALTER AVAILABILITY GROUP ag1 ADD DATABASE [{database}]")
