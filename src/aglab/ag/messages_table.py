"""The table behind :mod:`aglab.ag.messages`: number -> severity, state, text; ``{0}`` marks a substitution."""

MESSAGES: dict[int, tuple[int, int, str]] = {
    922: (
        14,
        1,
        "Database '{0}' is being recovered. Waiting until recovery is finished.",
    ),
    926: (
        14,
        1,
        "Database '{0}' cannot be opened. It has been marked SUSPECT by recovery. See the SQL Server errorlog for more "
        "information.",
    ),
    927: (
        14,
        2,
        "Database '{0}' cannot be opened. It is in the middle of a restore.",
    ),
    942: (
        14,
        4,
        "Database '{0}' cannot be opened because it is offline.",
    ),
    945: (
        14,
        2,
        "Database '{0}' cannot be opened due to inaccessible files or insufficient memory or disk space. See the SQL "
        "Server errorlog for details.",
    ),
    976: (
        14,
        1,
        "The target database, '{0}', is participating in an availability group and is currently not accessible for "
        "queries. Either data movement is suspended or the availability replica is not enabled for read access. To "
        "allow read-only access to this and other databases in the availability group, enable read access to one or "
        "more secondary availability replicas in the group.  For more information, see the ALTER AVAILABILITY GROUP "
        "statement in SQL Server Books Online.",
    ),
    978: (
        14,
        1,
        "The target database ('{0}') is in an availability group and is currently accessible for connections when the "
        "application intent is set to read only. For more information about application intent, see SQL Server Books "
        "Online.",
    ),
    979: (
        14,
        1,
        "The target database ('{0}') is in an availability group and currently does not allow read only connections. "
        "For more information about application intent, see SQL Server Books Online.",
    ),
    982: (
        14,
        1,
        "Unable to access the '{0}' database because no online secondary replicas are enabled for read-only access. "
        "Check the availability group configuration to verify that at least one secondary replica is configured for "
        "read-only access. Wait for an enabled replica to come online, and retry your read-only operation.",
    ),
    983: (
        14,
        1,
        "Unable to access availability database '{0}' because the database replica is not in the PRIMARY or SECONDARY "
        "role. Connections to an availability database is permitted only when the database replica is in the PRIMARY or "
        "SECONDARY role. Try the operation again later.",
    ),
    988: (
        14,
        1,
        "Unable to access database '{0}' because it lacks a quorum of nodes for high availability. Try the operation "
        "again later.",
    ),
    1408: (
        16,
        103,
        'The remote copy of database "{0}" is not recovered far enough to enable database mirroring or to join it to '
        "the availability group. You need to apply missing log records to the remote database by restoring the current "
        "log backups from the principal/primary database.",
    ),
    1412: (
        16,
        211,
        'The remote copy of database "{0}" has not been rolled forward to a point in time that is encompassed in the '
        "local copy of the database log.",
    ),
    1480: (
        10,
        1,
        'The availability group database "{0}" is changing roles from "{1}" to "{2}" because the mirroring session or '
        "availability group failed over due to {3}. This is an informational message only. No user action is required.",
    ),
    3752: (
        16,
        1,
        "The database '{0}' is currently joined to an availability group.  Before you can drop the database, you need to "
        "remove it from the availability group.",
    ),
    3906: (
        16,
        1,
        'Failed to update database "{0}" because the database is read-only.',
    ),
    19402: (
        16,
        1,
        "A duplicate availability replica '{0}' was specified in the READ_ONLY_ROUTING_LIST for availability replica "
        "'{1}'. Inspect the replica list that you specified in your command, and remove the duplicate replica name or "
        "names from the list. Then retry the command.",
    ),
    19403: (
        16,
        1,
        "The availability replica '{0}' specified in the READ_ONLY_ROUTING_LIST for availability replica '{1}' does not "
        "exist. Only availability replicas that belong to the specified availability group '{2}' can be added to this "
        "list. To get the names of availability replicas in a given availability group, select replica_server_name from "
        "sys.availability_replicas and name from sys.availability_groups. For more information, see SQL Server Books "
        "Online.",
    ),
    19404: (
        16,
        1,
        "An availability replica '{0}' that is specified in the READ_ONLY_ROUTING_LIST for availability replica '{1}' does not "
        "have a value set for READ_ONLY_ROUTING_URL. Ensure a READ_ONLY_ROUTING_URL is set for each availability replica in "
        "the availability group. Specify a valid READ_ONLY_ROUTING_URL for each replica that you want to added to the "
        "READ_ONLY_ROUTING_LIST. If you are altering availability replicas of an existing availability group, you can get the "
        "names of availability replicas in a given availability group, select replica_server_name from "
        "sys.availability_replicas and name from sys.availability_groups. For more information, see SQL Server Books Online.",
    ),
    19406: (
        10,
        1,
        "The state of the local availability replica in availability group '{0}' has changed from '{1}' to '{2}'.  {3}.  "
        "For more information, see the SQL Server error log or cluster log.  If this is a Windows Server Failover "
        "Clustering (WSFC) availability group, you can also see the WSFC management console.",
    ),
    19407: (
        16,
        1,
        "The lease between availability group '{0}' and the Windows Server Failover Cluster has expired. A connectivity "
        "issue occurred between the instance of SQL Server and the Windows Server Failover Cluster. To determine "
        "whether the availability group is failing over correctly, check the corresponding availability group resource "
        "in the Windows Server Failover Cluster.",
    ),
    19416: (
        16,
        1,
        "One or more databases in availability group '{0}' are not synchronized. On a synchronous-commit availability "
        "replica, ALTER AVAILABILITY GROUP <group_name> OFFLINE is not allowed when one or more databases are not "
        "synchronized. Wait for all databases to reach the SYNCHRONIZED state, and retry the command.",
    ),
    19477: (
        16,
        1,
        "The availability group '{0}' already has a listener with DNS name '{1}'. Availability groups can have only one "
        "listener. Use the existing listener, or drop the existing listener and create a new one.",
    ),
    19482: (
        16,
        1,
        "The port number, {0}, that is specified is invalid. Valid port numbers range from 1 to 65535, inclusive. "
        "Select a port number in this range. If a port number is not provided, the default number 1433 is used.",
    ),
    19485: (
        16,
        1,
        "The specified DNS name, '{0}', is invalid. The length of the DNS name needs to be between 1 and 63 characters, "
        "inclusive. Change the value of the DNS name to meet this requirement.",
    ),
    19506: (
        16,
        1,
        "Local availability replica for availability group '{0}' has not been granted permission to create databases, "
        "but has a SEEDING_MODE of AUTOMATIC. Use the ALTER AVAILABILITY GROUP ... GRANT CREATE ANY DATABASE command to "
        "allow the creation of databases seeded by the primary availability replica.",
    ),
    19507: (
        16,
        1,
        "Cannot create a distributed availability replica for availability group '{0}'. There is an already existing "
        "distributed availability group on top of the same replicas.",
    ),
    19508: (
        16,
        1,
        "'ALTER AVAILABILITY GROUP MODIFY AVAILABILITY GROUP' command failed. Participant availability replica '{0}' not "
        "found in the distributed availability group '{1}'.",
    ),
    19509: (
        16,
        1,
        "Cannot create a distributed availability group '{0}'. An availability group with the same name already exists.",
    ),
    19510: (
        16,
        1,
        "Distributed availability group '{0}' not found. Rerun the command with an existing distributed availbility group.",
    ),
    19511: (
        16,
        1,
        "Cannot join distributed availability group '{0}'. The local availability group '{1}' contains one or more "
        "databases. Remove all the databases or create an empty availability group to join a distributed availability group.",
    ),
    19512: (
        16,
        1,
        "The requested operation only applies to distributed availability group, and is not supported on the specified "
        "availability group '{0}'. Please make sure you are specifying the correct availability group name.",
    ),
    19513: (
        16,
        1,
        "Cannot create a distributed availability replica for availability group '{0}'. Distributed availability group "
        "cannot be built on top of basic local availability group. Please make sure you are specifying the correct local "
        "availability group name.",
    ),
    19530: (
        16,
        1,
        "The {0} operation is not allowed by the current availability group configuration. The "
        "required_synchronized_secondaries_to_commit needs to be 0 when changing availability mode to "
        "ASYNCHRONOUS_COMMIT. Change required_synchronized_secondaries_to_commit to 0 and retry the operation.",
    ),
    35200: (
        16,
        1,
        "Failed to add database '{0}' to availability group '{1}'. The specified availability group is created with "
        "basic functionality and supports {2} database.",
    ),
    35201: (
        10,
        1,
        "A connection timeout has occurred while attempting to establish a connection to availability replica '{0}' "
        "with id [{1}]. Either a networking or firewall issue exists, or the endpoint address provided for the replica "
        "is not the database mirroring endpoint of the host server instance.",
    ),
    35202: (
        10,
        1,
        "A connection for availability group '{0}' from availability replica '{1}' with id  [{2}] to '{3}' with id "
        "[{4}] has been successfully established.  This is an informational message only. No user action is required.",
    ),
    35206: (
        10,
        1,
        "A connection timeout has occurred on a previously established connection to availability replica '{0}' with id "
        "[{1}].  Either a networking or a firewall issue exists or the availability replica has transitioned to the "
        "resolving role.",
    ),
    35209: (
        16,
        1,
        "The {0} operation failed for availability replica '{1}', because the backup priority value is outside the "
        "valid range. The valid range is between {2} and {3}, inclusive. Set the backup priority to a value within this "
        "range, and retry the operation.",
    ),
    35210: (
        16,
        1,
        "Failed to modify options for availability replica '{0}' in availability group '{1}'. The specified "
        "availability group does not contain an availability replica with specified name. Verify that availability "
        "group name and availability replica name are correct, then retry the operation.",
    ),
    35211: (
        16,
        1,
        "The {0} operation is not allowed.  The operation attempted to change the configuration of availability replica "
        "'{1}' to the asynchronous-commit availability mode with automatic failover, which is an invalid configuration.  "
        "Either change the failover mode to manual or the availability mode to synchronous commit, and retry the "
        "operation.",
    ),
    35212: (
        16,
        1,
        "The {0} operation is not allowed by the current availability group configuration.  This operation would exceed "
        "the maximum number of {2} synchronous-commit availability replicas in availability group '{1}'.  Change one of "
        "the existing synchronous-commit replicas to the asynchronous-commit availability mode, and retry the "
        "operation.",
    ),
    35213: (
        16,
        1,
        "The {0} operation is not allowed by the current availability group configuration.  This operation would exceed "
        "the maximum number of {2} automatic failover targets in availability group '{1}'.  Change one of the existing "
        "synchronous-commit replicas to the manual failover mode, and retry the operation.",
    ),
    35214: (
        16,
        1,
        "The {0} operation failed for availability replica '{1}'.  The minimum value for session timeout is {2}.  Retry "
        "the operation specifying a valid session-timeout value.",
    ),
    35223: (
        16,
        1,
        "Cannot add {0} availability replica(s) to availability group '{1}'.  The availability group already contains "
        "{2} replica(s), and the maximum number of replicas supported in an availability group is {3}.",
    ),
    35228: (
        16,
        1,
        "The attempt to set the failure condition level for availability group '{0}' failed. The specified level value "
        "is out of the valid range [{1}, {2}]. Reenter the command specifying a valid failure condition level value.",
    ),
    35229: (
        16,
        1,
        "The attempt to set the health check timeout value for availability group '{0}' failed. The specified timeout "
        "value is less than {1} milliseconds. Reenter the command specifying a valid health check timeout value.",
    ),
    35233: (
        16,
        1,
        "Cannot create an availability group containing {0} availability replica(s).\tThe maximum number of "
        "availability replicas in an availability group {1} is {2}.  Reenter your CREATE AVAILABILITY GROUP command "
        "specifying fewer availability replicas.",
    ),
    35235: (
        16,
        1,
        "The system name '{0}' was specified more than once in the REPLICA ON clause of this command. Reenter the "
        "command, specifying a different instance of SQL Server for each replica.",
    ),
    35237: (
        16,
        1,
        "None of the specified replicas for availability group {0} maps to the instance of SQL Server to which you are "
        "connected. Reenter the command, specifying this server instance to host one of the replicas. This replica will "
        "be the initial primary replica.",
    ),
    35239: (
        16,
        1,
        "The ALTER DATABASE <database-name> SET HADR SUSPEND (or SET HADR RESUME) statement failed on database '{0}' of "
        "availability group '{1}''. Either the availability group does not contain the specified database, or the "
        "database has not joined the availability group, or the database has not yet started. Reenter the command after "
        "the database is online and has joined the availability group.",
    ),
    35240: (
        16,
        14,
        "Database '{0}' cannot be joined to or unjoined from availability group '{1}'. This operation is not supported "
        "on the primary replica of the availability group.",
    ),
    35242: (
        16,
        16,
        "Cannot complete this ALTER DATABASE <database-name> SET HADR operation on database '{0}'. The database is not "
        "joined to an availability group. After the database has joined the availability group, retry the command.",
    ),
    35248: (
        16,
        1,
        "The {0} operation is not allowed by the current availability group configuration.  The "
        "required_synchronized_secondaries_to_commit {1} is greater than the {2} possible secondary synchronous-commit "
        "availability replicas in availability group '{3}'.  Change one of the existing asynchronous-commit replicas to "
        "the synchronous-commit availability mode, and retry the operation.",
    ),
    35250: (
        16,
        7,
        "The connection to the primary replica is not active.  The command cannot be processed.",
    ),
    35253: (
        16,
        1,
        'Database "{0}" is not in the correct state to become the primary database.  The log must be restored from the '
        "previous primary replica to bring the database out of the reinitializing state.",
    ),
    35256: (
        16,
        1,
        "The session timeout value was exceeded while waiting for a response from the other availability replica in the "
        "session. That replica or the network might be down, or the command might be misconfigured. If the partner is "
        "running and visible over the network, retry the command using correctly configured partner-connection "
        "parameters.",
    ),
    35264: (
        10,
        1,
        "Always On Availability Groups data movement for database '{0}' has been suspended for the following reason: "
        "\"{1}\" (Source ID {2}; Source string: '{3}'). To resume data movement on the database, you will need to "
        "resume the database manually. For information about how to resume an availability database, see SQL Server "
        "Books Online.",
    ),
    35265: (
        10,
        1,
        "Always On Availability Groups data movement for database '{0}' has been resumed. This is an informational "
        "message only. No user action is required.",
    ),
    35266: (
        10,
        1,
        "Always On Availability Groups connection with {0} database established for {1} database '{2}' on the "
        "availability replica '{3}' with Replica ID: {{{4}}}. This is an informational message only. No user action is "
        "required.",
    ),
    35267: (
        10,
        1,
        "Always On Availability Groups connection with {0} database terminated for {1} database '{2}' on the "
        "availability replica '{3}' with Replica ID: {{{4}}}. This is an informational message only. No user action is "
        "required.",
    ),
    35268: (
        16,
        1,
        "Synchronization of a secondary database, '{0}', was interrupted, leaving the database in an inconsistent "
        "state. The database will enter the RESTORING state. To complete recovery and bring the database online, use "
        "current log backups from the primary database to restore the log records past LSN {1}. Alternatively, drop "
        "this secondary database, and prepare a new one by restoring a full database backup of the primary database "
        "followed by all subsequent log backups.",
    ),
    35269: (
        21,
        1,
        "Synchronization of a secondary database, '{0}', was interrupted, leaving the database in an inconsistent "
        "state. The database will be marked SUSPECT. To return the database to a consistent state, restore it from a "
        "clean database backup followed by all subsequent log backups.",
    ),
    35277: (
        16,
        1,
        "Automatic failover is not supported for distributed availability group replica.",
    ),
    35278: (
        16,
        1,
        "Availability database '{0}', which is in the secondary role, is being restarted to resynchronize with the "
        "current primary database. This is an informational message only. No user action is required.",
    ),
    35280: (
        16,
        1,
        "Database '{0}' cannot be added to availability group '{1}'.  The database is already joined to the specified "
        "availability group.  Verify that the database name is correct and that the database is not joined to an "
        "availability group, then retry the operation.",
    ),
    35281: (
        16,
        1,
        "Database '{0}' cannot be removed from availability group '{1}'.  The database is not joined to the specified "
        "availability group.  Verify that the database name and the availability group name are correct, then retry the "
        "operation.",
    ),
    35282: (
        16,
        1,
        "Availability replica '{0}' cannot be added to availability group '{1}'.  The availability group already "
        "contains an availability replica with the specified name.  Verify that the availability replica name and the "
        "availability group name are correct, then retry the operation.",
    ),
    35283: (
        16,
        1,
        "Availability replica '{0}' cannot be removed from availability group '{1}'.  The availability group does not "
        "contain an availability replica with the specified name.  Verify that the availability replica name is "
        "correct, then retry the operation.",
    ),
    35284: (
        16,
        1,
        "Availability replica '{0}' cannot be removed from availability group '{1}', because this replica is on the "
        "local instance of SQL Server.  If the local availability replica is a secondary replica, connect to the server "
        "instance that is currently hosting the primary replica, and re-run the command.",
    ),
    41058: (
        10,
        1,
        "Always On: The local replica of availability group '{0}' is starting. This is an informational message only. "
        "No user action is required.",
    ),
    41061: (
        10,
        1,
        "Always On: The local replica of availability group '{0}' is stopping. This is an informational message only. "
        "No user action is required.",
    ),
    41074: (
        10,
        1,
        "Always On: The local replica of availability group '{0}' is preparing to transition to the primary role. This "
        "is an informational message only. No user action is required.",
    ),
    41075: (
        10,
        1,
        "Always On: The local replica of availability group '{0}' is preparing to transition to the resolving role. "
        "This is an informational message only. No user action is required.",
    ),
    41076: (
        10,
        1,
        "Always On: Availability group '{0}' is going offline because it is being removed. This is an informational "
        "message only. No user action is required.",
    ),
    41091: (
        10,
        1,
        "Always On: The local replica of availability group '{0}' is going offline because either the lease expired or "
        "lease renewal failed. This is an informational message only. No user action is required.",
    ),
    41094: (
        10,
        1,
        "Always On: The local replica of availability group '{0}' is restarting because the existing primary replica "
        "restarted or the availability group failed over to a new primary replica. This is an informational message "
        "only. No user action is required.",
    ),
    41096: (
        10,
        1,
        "Always On: The local replica of availability group '{0}' is being removed. The instance of SQL Server failed "
        "to validate the integrity of the availability group configuration in the Windows Server Failover Clustering "
        "(WSFC) store.  This is expected if the availability group has been removed from another instance of SQL "
        "Server. This is an informational message only. No user action is required.",
    ),
    41100: (
        16,
        1,
        "The availability group '{0}' and/or its local availability replica does not exist.  Verify that the specified "
        "availability group name is correct, and that the local availability replica has joined the availability group, "
        "then retry the operation.",
    ),
    41104: (
        16,
        5,
        "Failover of the availability group '{0}' to the local replica failed because the availability group resource "
        "did not come online due to a previous error. To identify that error, check the SQL Server error log, cluster "
        "logs and system event logs. For information about how to view events and logs for a Windows Server Failover "
        "Clustering (WSFC) cluster, see Windows Server documentation.",
    ),
    41106: (
        16,
        1,
        "Cannot create an availability replica for availability group '{0}'.  An availability replica of the specified "
        "availability group already exists on this instance of SQL Server.  Verify that the specified availability "
        "group name is correct and unique, then retry the operation.  To remove the existing availability replica, run "
        "DROP AVAILABILITY GROUP command.",
    ),
    41122: (
        16,
        11,
        "Cannot failover availability group '{0}' to this instance of SQL Server.  The local availability replica is "
        "already the primary replica of the availability group.  To failover this availability group to another "
        "instance of SQL Server, run the failover command on that instance of SQL Server.  If local instance of SQL "
        "Server is intended to host the primary replica of the availability group, then no action is required.",
    ),
    41125: (
        16,
        1,
        "The availability replica for availability group '{0}' on this instance of SQL Server cannot become the primary "
        "replica because the WSFC cluster was started in Force Quorum mode. Consider performing a forced manual "
        "failover (with possible data loss).",
    ),
    41128: (
        16,
        1,
        "Failed to perform database operation '{0}' on database '{1}' (ID {2}) in availability group '{3}'.  The "
        "database might be in an incorrect state for the operation.  If the problem persists, you may need to restart "
        "the SQL Server instance.",
    ),
    41131: (
        16,
        0,
        "Failed to bring availability group '{0}' online.  The operation timed out. If this is a Windows Server "
        "Failover Clustering (WSFC) availability group, verify that the local WSFC node is online. Then verify that the "
        "availability group resource exists in the WSFC cluster. If the problem persists, you might need to drop the "
        "availability group and create it again.",
    ),
    41132: (
        16,
        1,
        "Cannot join database '{0}' to availability group '{1}'.  The specified database does not belong to the "
        "availability group.  Verify the names of the database and the availability group, and retry the command "
        "specifying the correct names.",
    ),
    41133: (
        16,
        1,
        "Cannot remove database '{0}' from availability group '{1}'.  Either the database does not belong to the "
        "availability group, or the database has not joined the group. Verify the database and availability group "
        "names, and retry the command.",
    ),
    41140: (
        16,
        1,
        "Availability group '{0}' cannot process the ALTER AVAILABILITY GROUP command, because the local availability "
        "replica is not the primary replica.  Connect to the server instance that is currently hosting the primary "
        "replica of this availability group, and rerun the command.",
    ),
    41142: (
        16,
        34,
        "The availability replica for availability group '{0}' on this instance of SQL Server cannot become the primary "
        "replica. One or more databases are not synchronized or have not joined the availability group. If the "
        "availability replica uses the asynchronous-commit mode, consider performing a forced manual failover (with "
        "possible data loss). Otherwise, once all local secondary databases are joined and synchronized, you can "
        "perform a planned manual failover to this secondary replica (without data loss). For more information, see SQL "
        "Server Books Online.",
    ),
    41145: (
        10,
        1,
        "Cannot join database '{0}' to availability group '{1}'.  The database has already joined the availability "
        "group.  This is an informational message.  No user action is required.",
    ),
    41150: (
        16,
        1,
        "Failed to take availability group '{0}' offline.  If this is a Windows Server Failover Clustering (WSFC) "
        "availability group, the Windows Server Failover Clustering (WSFC) service may not be running, or it may not be "
        "accessible in its current state.  Verify the local WSFC node is up and then retry the operation.  Otherwise, "
        "contact your primary support provider.",
    ),
    41190: (
        16,
        1,
        "Availability group '{0}' failed to process {1}-{2} command.  The local availability replica is not in a state "
        "that could process the command.  Verify that the availability group is online and that the local availability "
        "replica is the primary replica, then retry the command.",
    ),
    41197: (
        15,
        1,
        "The FAILOVER_MODE option has not been specified for the replica '{0}'. Reenter the command, specifying a "
        "failover mode for the replica.",
    ),
    47100: (
        16,
        1,
        "The cluster type of availability group '{0}' doesn't match its primary configuration. Verify that the specified "
        "availability group cluster type is correct, then retry the operation.",
    ),
    47101: (
        16,
        1,
        "The cluster type of availability group '{0}' only supports MANUAL failover mode. Verify that the specified "
        "availability group cluster type is correct, then retry the operation.",
    ),
    47102: (
        16,
        1,
        "The cluster type of availability group '{0}' only supports EXTERNAL failover mode. Verify that the specified "
        "availability group cluster type is correct, then retry the operation.",
    ),
    47103: (
        16,
        1,
        "The cluster type of availability group '{0}' only supports AUTOMATIC and MANUAL failover modes. Verify that the "
        "specified availability group cluster type is correct, then retry the operation.",
    ),
    47104: (
        16,
        1,
        "This operation cannot be performed on the availability group '{0}' because it has EXTERNAL cluster type. Use "
        "the cluster management tools to perform the operation.",
    ),
    47106: (
        16,
        3,
        "Cannot join availability group '{0}'. Download configuration timeout. Please check primary configuration, "
        "network connectivity and firewall setup, then retry the operation.",
    ),
    47107: (
        16,
        1,
        "The {0} operation is not allowed by the current availability group configuration. The availability group '{1}' "
        "only supports one replica which has configuration-only availability mode. Verify that the specified availability "
        "group availability mode is correct, then retry the operation.",
    ),
    47109: (
        16,
        1,
        "Availability group '{0}' cannot failover to this replica. Configuration-only replica cannot become primary. An "
        "attempt to fail over an availability group failed. The replica is a configuration-only and cannot become a primary.",
    ),
    47112: (
        16,
        1,
        "Only the SESSION_TIMEOUT property can be modified for a configuration-only replica.",
    ),
    47113: (
        16,
        1,
        "The '{0}' option is not valid for the '{1}' replica for modification. Remove this option, then retry the operation.",
    ),
    47114: (
        16,
        1,
        "Availability replica '{0}' cannot be added to availability group '{1}'. Configuration-only replicas can only be added "
        "to availability groups with CLUSTER_TYPE = EXTERNAL. Verify that the AVAILABILITY_MODE setting of the replica spec, "
        "then retry the operation.",
    ),
    47121: (
        16,
        1,
        "The replica spec for the local replica '{0}' has an invalid availability mode. Valid values are SYNCHRONOUS_COMMIT "
        "and ASYNCHRONOUS_COMMIT.",
    ),
    47122: (
        16,
        1,
        "Cannot failover an availability replica for availability group '{0}' since it has CLUSTER_TYPE = NONE. Only "
        "force failover is supported in this version of SQL Server.",
    ),
    47129: (
        16,
        1,
        "Creating Distributed availability group '{0}' has failed. Cannot create Distributed Availability Group on top of "
        "Contained Availability Group. Verify Availability Group's name, then retry the operation.",
    ),
    47135: (
        16,
        1,
        "Contained availability group system database '{0}' cannot be removed from contained availability group '{1}'.",
    ),
    47136: (
        16,
        1,
        "Cannot add database '{0}' to contained availability group '{1}' because it is in the exclusion list. Remove the "
        "excluded database from the database list and retry the operation.",
    ),
    47142: (
        16,
        1,
        "Creating contained availability group '{0}' failed. One of contained system database '{1}' already exists. Remove it "
        "or add 'reuse_system_databases' option, then retry the operation again.",
    ),
    47143: (
        16,
        1,
        "Option 'reuse_system_databases' is invalid for creating availability group '{0}'. Option 'reuse_system_databases' can "
        "only be used with contained availability group. Correct the option and retry the operation.",
    ),
}

# Why a local replica changed its state: the fourth substitution of 19406
REASONS = {
    "startup": "The state changed because the local instance of SQL Server is starting up",
    "shutdown": "The state changed because the local instance of SQL Server is shutting down",
    "online": "The state changed because the availability group is coming online",
    "offline": "The state changed because the availability group is going offline.  The replica is going offline "
    "because the associated availability group has been deleted, or the user has taken the associated "
    "availability group offline in Windows Server Failover Clustering (WSFC) management console, or the "
    "availability group is failing over to another SQL Server instance",
    "joining": "The state changed because the local availability replica is joining the availability group",
    "cluster": "The state changed because the availability group state has changed in Windows Server Failover Clustering (WSFC)",
    "lease": "The state changed because the lease between the local availability replica and Windows Server "
    "Failover Clustering (WSFC) has expired",
    "removed": "The state changed because the local availability replica is being removed from the availability group",
    "restart": "The state changed because either the associated availability group has come online, or the "
    "availability group has failed over to a new primary replica",
}
