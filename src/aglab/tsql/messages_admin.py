"""Messages about Resource Governor and resumable index operations: number -> (severity, state, text), as messages_table has them.

Source: "Database Engine events and errors (10000 to 10999)" (SQL Server documentation, 2017 and later; the 2008 list numbers
Resource Governor's messages one higher). States other than 1 are not confirmed.
"""

from __future__ import annotations

ADMINISTRATION: dict[int, tuple[int, int, str]] = {
    1219: (16, 1, "Your session has been disconnected because of a high priority DDL operation."),
    3643: (
        16,
        1,
        "The operation elapsed time exceeded the maximum time specified for this operation. The execution has been stopped.",
    ),
    10637: (
        16,
        1,
        "Cannot perform this operation on '{0}' with ID {1} as one or more indexes are currently in resumable index rebuild "
        "state. Please refer to sys.index_resumable_operations for more details.",
    ),
    10638: (16, 1, "ALTER INDEX '{0}' failed. There is no pending resumable index operation for the index '{1}' on '{2}'."),
    10641: (
        16,
        1,
        "ALTER INDEX PAUSE failed. There is no actively running resumable index operation for the index '{0}' on '{1}'.",
    ),
    10645: (
        0,
        1,
        "Warning: An existing resumable operation with the same options was identified for the same index on '{0}'. The "
        "existing operation will be resumed instead.",
    ),
    10656: (0, 1, "The resumable index operation for index '{0}' on object '{1}' was paused."),
    10901: (16, 1, "User does not have permission to alter the resource governor configuration."),
    10902: (
        16,
        1,
        "User-defined function '{0}' does not exist in master database, or the user does not have permission to access it.",
    ),
    10903: (
        16,
        1,
        "The specified schema name '{0}' for classifier user-defined function either does not exist, or the user does not "
        "have permission to use it.",
    ),
    10904: (
        16,
        1,
        "Resource governor configuration failed. There are active sessions in workload groups being dropped or moved to "
        "different resource pools. Disconnect all active sessions in the affected workload groups and try again.",
    ),
    10906: (
        16,
        1,
        "The object '{0}'.'{1}' is not a valid resource governor classifier user-defined function. A valid classifier "
        "user-defined function must be schema-bound, return sysname, and have no parameters.",
    ),
    10907: (16, 1, "Attribute '{0}' with value of {1} is greater than attribute '{2}' with value of {3}."),
    10909: (
        16,
        1,
        "The resource pool cannot be created. The maximum number of resource pools cannot exceed current limit of {0} "
        "including predefined resource pools.",
    ),
    10910: (
        16,
        1,
        "The operation could not be completed. The specified '{0}' value, {1}, causes the sum of minimums on all resource "
        "pools on scheduler {2} to exceed 100 percent. Reduce the value for one or more pools, or change pool affinity, so "
        "that the sum is less than or equal to 100.",
    ),
    10911: (16, 1, "Requested operation cannot be performed because the resource pool '{0}' does not exist."),
    10912: (16, 1, "The operation could not be completed. Dropping predefined {0} is not allowed."),
    10913: (16, 1, "Users are not allowed to {0} the workload group '{1}' in the '{2}' resource pool."),
    10914: (16, 1, "The name of the {0} '{1}' cannot begin with # of ##."),
    10915: (16, 1, "The operation could not be completed. Altering '{0}' {1} is not allowed."),
    10916: (
        16,
        1,
        "Cannot drop resource pool '{0}' because it contains workload group '{1}'. Drop or remove all workload groups using "
        "this resource pool before dropping it.",
    ),
    10917: (16, 1, "ALTER WORKLOAD GROUP failed. Either a 'WITH' or 'USING' clause must be specified."),
    10918: (16, 1, "Cannot create {0} '{1}' because it already exists."),
    10920: (16, 1, "Cannot {0} user-defined function '{1}'. It is being used as a resource governor classifier."),
    10921: (16, 1, "The '{0}' {1} cannot be moved out of '{2}' {3}."),
    10924: (16, 1, "The pool affinity range is invalid. The lower bound {0} must be less than the upper bound {1}."),
    10925: (16, 1, "A {0} value was specified more than one time in the pool affinity range list."),
    10926: (
        16,
        1,
        "The {0} range that specifies {0} {1} includes at least one {0} that is not available to the current instance. The "
        "maximum {0} number that is available to this instance is {2}.",
    ),
    10933: (
        16,
        1,
        "A {0} with id {1} does not exist on this system. Use sys.dm_os_schedulers to locate valid {0}s for this system.",
    ),
    # SQL Server Agent's procedures in msdb
    14261: (16, 1, "The specified {0} ('{1}') already exists."),
    14262: (16, 1, "The specified {0} ('{1}') does not exist."),
    22022: (16, 1, "{0}"),
}
