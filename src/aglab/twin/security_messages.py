"""SQL Server's messages about keys, certificates, logins, endpoints and the prerequisites of an availability group.

Numbers, severities and wording follow "Database engine events and errors" (SQL Server documentation). Not confirmed there, known
from public error reports only: the wording of 1465, 4613, 4621, 4624, 15144, 15406, 15465 and 15517. ``{0}`` marks a
substitution.
"""

from __future__ import annotations

from aglab.tsql import TsqlError

MESSAGES: dict[int, tuple[int, int, str]] = {
    1465: (
        16,
        1,
        'Database "{0}" database is not in full recovery mode on each of the server instances. The full recovery model is '
        "required for a database to participate in database mirroring or in the availability group.",
    ),
    1475: (
        16,
        105,
        'Database "{0}" might contain bulk logged changes that have not been backed up. Take a log backup on the principal '
        "database or primary database. Then restore this backup either on the mirror database to enable database mirroring or on "
        "every secondary database to enable you to join it to the availability group.",
    ),
    1478: (
        16,
        211,
        'The mirror database, "{0}", has insufficient transaction log data to preserve the log backup chain of the principal '
        "database. This may happen if a log backup from the principal database has not been taken or has not been restored on "
        "the mirror database.",
    ),
    4613: (16, 1, "Grantor does not have GRANT permission."),
    4621: (16, 10, "Permissions at the server scope can only be granted when the current database is master."),
    4624: (16, 1, "Cannot grant, deny, or revoke permissions to sa, dbo, entity owner, information_schema, sys, or yourself."),
    7862: (
        16,
        1,
        "An endpoint of the requested type already exists. Only one endpoint of this type is supported. Use ALTER ENDPOINT or "
        "DROP the existing endpoint and execute the CREATE ENDPOINT statement.",
    ),
    7863: (
        16,
        1,
        "The endpoint was not changed. The ALTER ENDPOINT statement did not contain any values to modify or update.",
    ),
    15007: (16, 1, "'{0}' is not a valid login or you do not have permission."),
    15023: (16, 1, "User, group, or role '{0}' already exists in the current database."),
    15025: (16, 1, "The server principal '{0}' already exists."),
    15063: (16, 1, "The login already has an account under a different user name."),
    15118: (
        16,
        1,
        "Password validation failed. The password does not meet the operating system policy requirements because it is not "
        "complex enough.",
    ),
    15138: (16, 1, "The database principal owns a {0} in the database, and cannot be dropped."),
    15144: (16, 1, "The role has members. It must be empty before it can be dropped."),
    15247: (16, 1, "User does not have permission to perform this action."),
    15406: (
        16,
        1,
        'Cannot execute as the server principal because the principal "{0}" does not exist, this type of principal cannot be '
        "impersonated, or you do not have permission.",
    ),
    15517: (
        16,
        1,
        'Cannot execute as the database principal because the principal "{0}" does not exist, this type of principal cannot be '
        "impersonated, or you do not have permission.",
    ),
    15151: (16, 1, "Cannot {0} the {1} '{2}', because it does not exist or you do not have permission."),
    15173: (
        16,
        1,
        "Server principal '{0}' has granted one or more permission(s). Revoke the permission(s) before dropping the server "
        "principal.",
    ),
    15208: (
        16,
        6,
        "The certificate, asymmetric key, or private key file is not valid or does not exist; or you do not have permissions for "
        "it.",
    ),
    15232: (
        16,
        1,
        "A certificate with name '{0}' already exists or this certificate already has been added to the database.",
    ),
    15240: (
        16,
        1,
        "Cannot write into file '{0}'. Verify that you have write permissions, that the file path is valid, and that "
        "the file does "
        "not already exist.",
    ),
    15246: (16, 1, "Cannot dump the private key of certificate '{0}' because the private key cannot be found."),
    15352: (16, 1, "The {0} cannot be dropped because one or more entities are either signed or encrypted using it."),
    15465: (16, 1, "The private key password is invalid."),
    15578: (16, 1, "There is already a master key in the database. Please drop it before performing this statement."),
    15580: (16, 1, "Cannot drop {0} because {1} '{2}' is encrypted by it."),
    15581: (
        16,
        1,
        "Please create a master key in the database or open the master key in the session before performing this operation.",
    ),
    47120: (
        16,
        1,
        "The READ_WRITE_ROUTING_URL '{0}' specified for availability replica '{1}' is not valid. It does not follow the required "
        "format of 'TCP://system-address:port'. For information about the correct routing URL format, see the CREATE "
        "AVAILABILITY GROUP documentation in SQL Server Books Online.",
    ),
    19401: (
        16,
        1,
        "The READ_ONLY_ROUTING_URL '{0}' specified for availability replica '{1}' is not valid. It does not follow the required "
        "format of 'TCP://system-address:port'. For information about the correct routing URL format, see the CREATE "
        "AVAILABILITY GROUP documentation in SQL Server Books Online.",
    ),
    28055: (
        16,
        1,
        "The certificate '{0}' is not valid for endpoint authentication. The certificate must have a private key "
        "encrypted with the "
        "database master key and current UTC date has to be between the certificate start date and the certificate expiration "
        "date.",
    ),
    35208: (
        16,
        1,
        "Availability-group DDL operations are permitted only when you are using the master database. Run the USE "
        "MASTER command, "
        "and retry your availability-group DDL command.",
    ),
    35221: (
        16,
        1,
        "Could not process the operation. Always On Availability Groups replica manager is disabled on this instance of SQL "
        "Server. Enable Always On Availability Groups, by using the SQL Server Configuration Manager. Then, restart "
        "the SQL Server "
        "service, and retry the currently operation. For information about how to enable and disable Always On Availability "
        "Groups, see SQL Server Books Online.",
    ),
    35232: (
        16,
        1,
        "The specified endpoint URL '{0}' is invalid. Reenter the command specifying the correct URL. For information about "
        "specifying the endpoint URL for an availability replica, see SQL Server Books Online.",
    ),
    35234: (
        16,
        1,
        "Database name '{0}' was specified more than once. Reenter the command, specifying each database name only once.",
    ),
    35236: (
        15,
        1,
        "The endpoint URL was not specified for the availability replica hosted by server instance '{0}'. Reenter the command, "
        "specifying the endpoint URL of this instance of SQL Server.",
    ),
    35238: (
        16,
        1,
        "Database '{0}' cannot be added to availability group '{1}'. The database does not exist on this SQL Server instance. "
        "Verify that the database name is correct, then retry the operation.",
    ),
    35244: (
        16,
        1,
        "Database '{0}' cannot be added to availability group '{1}'. The database is currently joined to another availability "
        "group. Verify that the database name is correct and that the database is not joined to an availability group, "
        "then retry "
        "the operation.",
    ),
    35249: (
        16,
        1,
        "An attempt to add or join a system database, '{0}', to an availability group failed. Specify only user "
        "databases for this "
        "operation.",
    ),
    41106: (
        16,
        1,
        "Cannot create an availability replica for availability group '{0}'.  An availability replica of the specified "
        "availability group already exists on this instance of SQL Server.  Verify that the specified availability group name is "
        "correct and unique, then retry the operation.  To remove the existing availability replica, run DROP AVAILABILITY GROUP "
        "command.",
    ),
    41197: (
        15,
        1,
        "The FAILOVER_MODE option has not been specified for the replica '{0}'. Reenter the command, specifying a "
        "failover mode for "
        "the replica.",
    ),
    # errorlog only
    28047: (10, 1, "Database Mirroring login attempt failed with error: '{0}'. {1}"),
    28034: (10, 1, "Connection handshake failed. The login '{0}' does not have CONNECT permission on the endpoint. State {1}."),
    28035: (
        10,
        1,
        "Connection handshake failed. The certificate used by the peer is invalid due to the following reason: {0}. State {1}.",
    ),
}


def refusal(number: int, *args: object) -> TsqlError:
    """The error with its substitutions.

    >>> str(refusal(15578))[:40]
    'Msg 15578, Level 16, State 1: There is a'
    """
    severity, state, template = MESSAGES[number]
    return TsqlError(number, severity, state, template.format(*args))


def text_of(number: int, *args: object) -> str:
    """The words alone, for the errorlog."""
    return MESSAGES[number][2].format(*args)
