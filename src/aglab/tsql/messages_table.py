"""The table behind :mod:`aglab.tsql.messages`: number -> (severity, state, text)."""

from __future__ import annotations

from aglab.tsql.messages_admin import ADMINISTRATION
from aglab.tsql.messages_agent import AGENT
from aglab.tsql.messages_bulk import BULK
from aglab.tsql.messages_cursors import CURSORS
from aglab.tsql.messages_encryption import ENCRYPTION
from aglab.tsql.messages_language import LANGUAGE
from aglab.tsql.messages_memory import MEMORY
from aglab.tsql.messages_options import OPTIONS
from aglab.tsql.messages_restore import RESTORE
from aglab.tsql.messages_storage import STORAGE
from aglab.tsql.messages_traces import TRACES

MESSAGES: dict[int, tuple[int, int, str]] = {
    102: (15, 1, "Incorrect syntax near '{0}'."),
    103: (15, 4, "The {0} that starts with '{1}' is too long. Maximum length is {2}."),
    104: (
        16,
        1,
        "ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator.",
    ),
    105: (15, 1, "Unclosed quotation mark after the character string '{0}'."),
    107: (15, 1, "The column prefix '{0}' does not match with a table name or alias name used in the query."),
    108: (16, 1, "The ORDER BY position number {0} is out of range of the number of items in the select list."),
    109: (
        15,
        1,
        "There are more columns in the INSERT statement than values specified in the VALUES clause. The number of values in "
        "the VALUES clause must match the number of columns specified in the INSERT statement.",
    ),
    110: (
        15,
        1,
        "There are fewer columns in the INSERT statement than values specified in the VALUES clause. The number of values "
        "in the VALUES clause must match the number of columns specified in the INSERT statement.",
    ),
    113: (15, 1, "Missing end comment mark '*/'."),
    116: (16, 1, "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS."),
    120: (
        15,
        1,
        "The select list for the INSERT statement contains fewer items than the insert list. The number of SELECT values "
        "must match the number of INSERT columns.",
    ),
    121: (
        15,
        1,
        "The select list for the INSERT statement contains more items than the insert list. The number of SELECT values "
        "must match the number of INSERT columns.",
    ),
    130: (16, 1, "Cannot perform an aggregate function on an expression containing an aggregate or a subquery."),
    132: (
        15,
        1,
        "The label '{0}' has already been declared. Label names must be unique within a query batch or stored procedure.",
    ),
    133: (15, 1, "A GOTO statement references the label '{0}' but the label has not been declared."),
    134: (
        15,
        1,
        "The variable name '{0}' has already been declared. Variable names must be unique within a query batch or stored "
        "procedure.",
    ),
    135: (15, 1, "Cannot use a BREAK statement outside the scope of a WHILE statement."),
    136: (15, 1, "Cannot use a CONTINUE statement outside the scope of a WHILE statement."),
    137: (15, 2, 'Must declare the scalar variable "{0}".'),
    141: (15, 1, "A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations."),
    145: (15, 1, "ORDER BY items must appear in the select list if SELECT DISTINCT is specified."),
    144: (15, 1, "Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause."),
    164: (15, 1, "Each GROUP BY expression must contain at least one column that is not an outer reference."),
    147: (
        15,
        1,
        "An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause or a select "
        "list, and the column being aggregated is an outer reference.",
    ),
    148: (15, 1, "Incorrect time syntax in time string '{0}' used with WAITFOR."),
    149: (15, 1, "Time value '{0}' used with WAITFOR is not a valid value. Check date/time syntax."),
    155: (15, 2, "'{0}' is not a recognized {1} option."),
    156: (15, 1, "Incorrect syntax near the keyword '{0}'."),
    157: (15, 1, "An aggregate may not appear in the set list of an UPDATE statement."),
    166: (15, 1, "'{0}' does not allow specifying the database name as a prefix to the object name."),
    174: (15, 1, "The {0} function requires {1} argument(s)."),
    178: (15, 1, "A RETURN statement with a return value cannot be used in this context."),
    180: (15, 1, "There are too many parameters in this {0} statement. The maximum number is {1}."),
    189: (15, 1, "The {0} function requires {1} to {2} arguments."),
    191: (15, 1, "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into smaller queries."),
    195: (15, 10, "'{0}' is not a recognized {1}."),
    201: (16, 4, "Procedure or function '{0}' expects parameter '{1}', which was not supplied."),
    205: (
        16,
        1,
        "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their "
        "target lists.",
    ),
    206: (16, 2, "Operand type clash: {0} is incompatible with {1}"),
    207: (16, 1, "Invalid column name '{0}'."),
    208: (16, 1, "Invalid object name '{0}'."),
    209: (16, 1, "Ambiguous column name '{0}'."),
    213: (16, 1, "Column name or number of supplied values does not match table definition."),
    214: (16, 2, "Procedure expects parameter '{0}' of type '{1}'."),
    217: (16, 1, "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32)."),
    220: (16, 1, "Arithmetic overflow error for data type {0}, value = {1}."),
    226: (16, 6, "{0} statement not allowed within multi-statement transaction."),
    232: (16, 3, "Arithmetic overflow error for type {0}, value = {1}."),
    235: (16, 0, "Cannot convert a char value to money. The char value has incorrect syntax."),
    241: (16, 1, "Conversion failed when converting date and/or time from character string."),
    242: (16, 3, "The conversion of a {0} data type to a {1} data type resulted in an out-of-range value."),
    244: (16, 1, "The conversion of the {0} value '{1}' overflowed an {2} column. Use a larger integer column."),
    245: (16, 1, "Conversion failed when converting the {0} value '{1}' to data type {2}."),
    248: (16, 1, "The conversion of the {0} value '{1}' overflowed an int column."),
    257: (16, 3, "Implicit conversion from data type {0} to {1} is not allowed. Use the CONVERT function to run this query."),
    259: (16, 1, "Ad hoc updates to system catalogs are not allowed."),
    264: (
        16,
        1,
        "The column name '{0}' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.",
    ),
    8102: (16, 1, "Cannot update identity column '{0}'."),
    263: (16, 1, "Must specify table to select from."),
    266: (
        16,
        2,
        "Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = {0}, "
        "current count = {1}.",
    ),
    271: (
        16,
        1,
        'The column "{0}" cannot be modified because it is either a computed column or is the result of a UNION operator.',
    ),
    281: (16, 1, "{0} is not a valid style number when converting from {1} to a character string."),
    306: (
        16,
        2,
        "The text, ntext, and image data types cannot be compared or sorted, except when using IS NULL or LIKE operator.",
    ),
    313: (16, 3, "An insufficient number of arguments were supplied for the procedure or function {0}."),
    319: (
        15,
        1,
        "Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an xmlnamespaces clause or "
        "a change tracking context clause, the previous statement must be terminated with a semicolon.",
    ),
    321: (
        15,
        1,
        '"{0}" is not a recognized table hints option. If it is intended as a parameter to a table-valued function or to the '
        "CHANGETABLE function, ensure that your database compatibility mode is set to 90.",
    ),
    334: (
        16,
        1,
        "The target table '{0}' of the DML statement cannot have any enabled triggers if the statement contains an OUTPUT "
        "clause without INTO clause.",
    ),
    336: (
        15,
        1,
        "Incorrect syntax near '{0}'. If this is intended to be a common table expression, you need to explicitly terminate "
        "the previous statement with a semi-colon.",
    ),
    343: (15, 1, "Unknown object type '{0}' used in a CREATE, DROP, or ALTER statement."),
    402: (16, 1, "The data types {0} and {1} are incompatible in the {2} operator."),
    403: (16, 1, "Invalid operator for data type. Operator equals {0}, type equals {1}."),
    446: (16, 9, "Cannot resolve collation conflict for {0} operation."),
    448: (16, 3, "Invalid collation '{0}'."),
    455: (16, 2, "The last statement included within a function must be a return statement."),
    512: (
        16,
        1,
        "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the "
        "subquery is used as an expression.",
    ),
    515: (16, 2, "Cannot insert the value NULL into column '{0}', table '{1}'; column does not allow nulls. {2} fails."),
    517: (16, 1, "Adding a value to a '{0}' column caused an overflow."),
    529: (16, 1, "Explicit conversion from data type {0} to {1} is not allowed."),
    530: (16, 1, "The statement terminated. The maximum recursion {0} has been exhausted before statement completion."),
    535: (
        16,
        0,
        "The datediff function resulted in an overflow. The number of dateparts separating two date/time instances is too "
        "large. Try to use datediff with a less precise datepart.",
    ),
    537: (16, 2, "Invalid length parameter passed to the LEFT or SUBSTRING function."),
    544: (16, 1, "Cannot insert explicit value for identity column in table '{0}' when IDENTITY_INSERT is set to OFF."),
    545: (
        16,
        1,
        "Explicit value must be specified for identity column in table '{0}' either when IDENTITY_INSERT is set to ON or when a "
        "replication user is inserting into a NOT FOR REPLICATION identity column.",
    ),
    230: (14, 1, "The {0} permission was denied on the column '{1}' of the object '{2}', database '{3}', schema '{4}'."),
    1020: (
        15,
        1,
        "Sub-entity lists (such as column or security expressions) cannot be specified for entity-level permissions.",
    ),
    547: (
        16,
        0,
        'The {0} statement conflicted with the {1} constraint "{2}". The conflict occurred in database "{3}", table "{4}"{5}.',
    ),
    443: (16, 15, "Invalid use of a side-effecting operator '{0}' within a function."),
    701: (17, 123, "There is insufficient system memory in resource pool '{0}' to run this query."),
    557: (16, 2, "Only functions and some extended stored procedures can be executed from within a function."),
    574: (16, 0, "{0} statement cannot be used inside a user transaction."),
    628: (16, 0, "Cannot issue SAVE TRANSACTION when there is no active transaction."),
    911: (16, 1, "Database '{0}' does not exist. Make sure that the name is entered correctly."),
    229: (14, 5, "The {0} permission was denied on the object '{1}', database '{2}', schema '{3}'."),
    262: (14, 1, "{0} permission denied in database '{1}'."),
    297: (16, 1, "The user does not have permission to perform this action."),
    300: (14, 1, "{0} permission was denied on object '{1}', database '{2}'."),
    916: (14, 1, 'The server principal "{0}" is not able to access the database "{1}" under the current security context.'),
    924: (14, 1, "Database '{0}' is already open and can only have one user at a time."),
    927: (14, 2, "Database '{0}' cannot be opened. It is in the middle of a restore."),
    942: (14, 4, "Database '{0}' cannot be opened because it is offline."),
    945: (
        14,
        2,
        "Database '{0}' cannot be opened due to inaccessible files or insufficient memory or disk space. See the SQL Server "
        "errorlog for details.",
    ),
    976: (
        14,
        1,
        "The target database, '{0}', is participating in an availability group and is currently not accessible for queries. "
        "Either data movement is suspended or the availability replica is not enabled for read access. To allow read-only access "
        "to this and other databases in the availability group, enable read access to one or more secondary availability replicas "
        "in the group.  For more information, see the ALTER AVAILABILITY GROUP statement in SQL Server Books Online.",
    ),
    978: (
        14,
        1,
        "The target database ('{0}') is in an availability group and is currently accessible for connections when the "
        "application intent is set to read only. For more information about application intent, see SQL Server Books Online.",
    ),
    983: (
        14,
        1,
        "Unable to access availability database '{0}' because the database replica is not in the PRIMARY or SECONDARY role. "
        "Connections to an availability database is permitted only when the database replica is in the PRIMARY or SECONDARY role. "
        "Try the operation again later.",
    ),
    1007: (15, 1, "The number '{0}' is out of the range for numeric representation (maximum precision 38)."),
    1010: (15, 1, "Invalid escape character."),
    1011: (16, 1, "The correlation name '{0}' is specified multiple times in a FROM clause."),
    1013: (
        16,
        1,
        'The objects "{0}" and "{1}" in the FROM clause have the same exposed names. Use correlation names to distinguish them.',
    ),
    216: (16, 1, "Parameters were not supplied for the function '{0}'."),
    7202: (
        11,
        2,
        "Could not find server '{0}' in sys.servers. Verify that the correct server name was specified. If necessary, execute the stored procedure sp_addlinkedserver to add the server to sys.servers.",
    ),
    1018: (
        15,
        1,
        "Incorrect syntax near '{0}'. If this is intended as a part of a table hint, A WITH keyword and parenthesis are now "
        "required. See SQL Server Books Online for proper syntax.",
    ),
    1023: (15, 1, "Invalid parameter {0} specified for {1}."),
    289: (16, 1, "Cannot construct data type {0}, some of the arguments have values which are not valid."),
    3623: (16, 1, "An invalid floating point operation occurred."),
    8161: (16, 1, "Argument {0} of the {1} function does not match any of the expressions in the GROUP BY clause."),
    9810: (16, 2, "The datepart {0} is not supported by date function {1} for data type date."),
    9828: (
        16,
        1,
        "The second and third arguments of the TRANSLATE built-in function must contain an equal number of characters.",
    ),
    10753: (15, 3, "The function '{0}' must have an OVER clause."),
    1033: (
        15,
        1,
        "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table expressions, "
        "unless TOP, OFFSET or FOR XML is also specified.",
    ),
    1038: (
        15,
        4,
        "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. For other "
        'statements, look for empty alias names. Aliases defined as "" or [] are not allowed. Change the alias to a valid name.',
    ),
    1060: (15, 1, "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer."),
    1062: (15, 1, "The TOP N WITH TIES clause is not allowed without a corresponding ORDER BY clause."),
    1087: (15, 2, 'Must declare the table variable "{0}".'),
    1088: (16, 12, 'Cannot find the object "{0}" because it does not exist or you do not have permissions.'),
    1205: (
        13,
        51,
        "Transaction (Process ID {0}) was deadlocked on {1} resources with another process and has been chosen as the "
        "deadlock victim. Rerun the transaction.",
    ),
    1222: (16, 51, "Lock request time out period exceeded."),
    1505: (
        16,
        1,
        "The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the object name '{0}' and the "
        "index name '{1}'. The duplicate key value is {2}.",
    ),
    1750: (16, 1, "Could not create constraint or index. See previous errors."),
    1776: (
        16,
        0,
        "There are no primary or candidate keys in the referenced table '{0}' that match the referencing column list in the "
        "foreign key '{1}'.",
    ),
    1767: (16, 0, "Foreign key '{0}' references invalid table '{1}'."),
    1779: (16, 0, "Table '{0}' already has a primary key defined on it."),
    1801: (16, 3, "Database '{0}' already exists. Choose a different database name."),
    1902: (
        16,
        3,
        "Cannot create more than one clustered index on table '{0}'. Drop the existing clustered index '{1}' before creating "
        "another.",
    ),
    1911: (16, 1, "Column name '{0}' does not exist in the target table or view."),
    1913: (16, 1, "The operation failed because an index or statistics with name '{0}' already exists on table '{1}'."),
    2021: (16, 1, "The referenced entity '{0}' was modified during DDL execution. Please retry the operation."),
    2526: (16, 3, "Incorrect DBCC statement. Check the documentation for the correct DBCC syntax and options."),
    2528: (0, 1, "DBCC execution completed. If DBCC printed error messages, contact your system administrator."),
    2560: (16, 9, "Parameter {0} is incorrect for this DBCC statement."),
    2583: (16, 3, "An incorrect number of parameters was given to the DBCC statement."),
    2601: (14, 1, "Cannot insert duplicate key row in object '{0}' with unique index '{1}'. The duplicate key value is {2}."),
    2627: (
        14,
        1,
        "Violation of {0} constraint '{1}'. Cannot insert duplicate key in object '{2}'. The duplicate key value is {3}.",
    ),
    2628: (16, 1, "String or binary data would be truncated in table '{0}', column '{1}'. Truncated value: '{2}'."),
    2705: (16, 3, "Column names in each table must be unique. Column name '{0}' in table '{1}' is specified more than once."),
    2714: (16, 6, "There is already an object named '{0}' in the database."),
    2715: (16, 3, "Column, parameter, or variable #{0}: Cannot find data type {1}."),
    2716: (16, 1, "Column, parameter, or variable #{0}: Cannot specify a column width on data type {1}."),
    2717: (16, 2, "The size ({0}) given to the {1} '{2}' exceeds the maximum allowed ({3})."),
    2720: (16, 1, "Cannot find the language '{0}'."),
    2732: (16, 1, "Error number {0} is invalid. The number must be from 13000 through 2147483647 and it cannot be 50000."),
    2741: (16, 1, "SET DATEFORMAT date order '{0}' is invalid."),
    2742: (16, 1, "SET DATEFIRST {0} is out of range."),
    2786: (16, 1, "The data type of substitution parameter {0} does not match the expected type of the format specification."),
    6401: (16, 1, "Cannot roll back {0}. No transaction or savepoint of that name was found."),
    9815: (16, 0, "Waitfor delay and waitfor time cannot be of type date."),
    10704: (
        15,
        1,
        "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.",
    ),
    35100: (
        16,
        10,
        "Error number {0} in the THROW statement is outside the valid range. Specify an error number in the valid range of 50000 to 2147483647.",
    ),
    2739: (16, 1, "The text, ntext, and image data types are invalid for local variables."),
    2744: (16, 2, "Multiple identity columns specified for table '{0}'. Only one identity column per table is allowed."),
    2749: (
        16,
        2,
        "Identity column '{0}' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a scale of 0, "
        "unencrypted, and constrained to be nonnullable.",
    ),
    2754: (
        16,
        1,
        "Error severity levels greater than 18 can only be specified by members of the sysadmin role, using the WITH LOG option.",
    ),
    2760: (16, 1, 'The specified schema name "{0}" either does not exist or you do not have permission to use it.'),
    2787: (16, 1, "Invalid format specification: '{0}'."),
    2812: (16, 62, "Could not find stored procedure '{0}'."),
    3021: (16, 0, "Cannot perform a backup or restore operation within a transaction."),
    1828: (16, 3, 'The logical file name "{0}" is already in use. Choose a different name.'),
    1921: (16, 1, "Invalid {0} '{1}' specified."),
    2501: (16, 45, 'Cannot find a table or object with the name "{0}". Check the system catalog.'),
    2520: (
        16,
        1,
        "Could not find database '{0}'. The database either does not exist, or was dropped before a statement tried to use it. Verify if the database exists by querying the sys.databases catalog view.",
    ),
    5009: (16, 14, "One or more files listed in the statement could not be found or could not be initialized."),
    5020: (16, 1, "The primary data or log file cannot be removed from a database."),
    5039: (16, 1, "MODIFY FILE failed. Specified size is less than or equal to current size."),
    5041: (16, 1, "MODIFY FILE failed. File '{0}' does not exist."),
    6101: (16, 1, "Session ID {0} is not valid."),
    6104: (16, 1, "Cannot use KILL to kill your own process."),
    6106: (16, 2, "Process ID {0} is not an active process ID."),
    6115: (16, 1, "KILL command cannot be used inside user transactions."),
    7955: (16, 2, "Invalid SPID {0} specified."),
    7997: (16, 1, "'{0}' does not contain an identity column."),
    # backup and restore
    3011: (16, 1, "All backup devices must be of the same general class (for example, DISK and TAPE)."),
    3013: (16, 1, "{0} is terminating abnormally."),
    3014: (0, 1, "{0} successfully processed {1} pages in {2:.3f} seconds ({3:.3f} MB/sec)."),
    3024: (
        16,
        1,
        "You can only perform a full backup of the master database. Use BACKUP DATABASE to back up the entire master database.",
    ),
    3027: (16, 1, 'The filegroup "{0}" is not part of database "{1}".'),
    3031: (16, 1, "Option '{0}' conflicts with option(s) '{1}'. Remove the conflicting option and reissue the statement."),
    3032: (
        16,
        1,
        "One or more of the options ({0}) are not supported for this statement. Review the documentation for supported options.",
    ),
    3035: (
        16,
        1,
        'Cannot perform a differential backup for database "{0}", because a current database backup does not exist. '
        "Perform a full database backup by reissuing BACKUP DATABASE, omitting the WITH DIFFERENTIAL option.",
    ),
    3044: (16, 1, "Invalid zero-length device name. Reissue the BACKUP statement with a valid device name."),
    3057: (
        16,
        1,
        "Invalid device name. The length of the device name provided exceeds supported limit (maximum length is:{0})."
        " Reissue the BACKUP statement with a valid device name.",
    ),
    3059: (16, 1, "This BACKUP or RESTORE command is not supported on a database mirror or secondary replica."),
    3062: (16, 1, "Cannot backup from a HADRON secondary because it is not in Synchronizing or Synchronized state."),
    3098: (
        16,
        1,
        "The backup cannot be performed because '{0}' was requested after the media was formatted with an "
        "incompatible structure. To append to this media set, either omit '{0}' or specify '{1}'. Alternatively, you "
        "can create a new media set by using WITH FORMAT in your BACKUP statement. If you use WITH FORMAT on an "
        "existing media set, all its backup sets will be overwritten.",
    ),
    3101: (16, 1, "Exclusive access could not be obtained because the database is in use."),
    3102: (
        16,
        1,
        "RESTORE cannot process database '{0}' because it is in use by this session. It is recommended that the "
        "master database be used when performing this operation.",
    ),
    3104: (
        16,
        1,
        "RESTORE cannot operate on database '{0}' because it is configured for database mirroring or has joined an "
        "availability group. If you intend to restore the database, use ALTER DATABASE to remove mirroring or to "
        "remove the database from its availability group.",
    ),
    3117: (16, 1, "The log or differential backup cannot be restored because no files are ready to rollforward."),
    3118: (
        16,
        1,
        'The database "{0}" does not exist. RESTORE can only create a database when restoring either a full backup or'
        " a file backup of the primary file.",
    ),
    3132: (16, 1, "The media set has {0} media families but only {1} are provided. All members must be provided."),
    3135: (16, 1, "The backup set in file '{0}' was created by {1} and cannot be used for this restore operation."),
    3136: (
        16,
        1,
        "This differential backup cannot be restored because the database has not been restored to the correct earlier state.",
    ),
    3147: (16, 1, "Backup and restore operations are not allowed on database {0}."),
    3153: (16, 1, "The database is already fully recovered."),
    3154: (16, 1, "The backup set holds a backup of a database other than the existing '{0}' database."),
    3156: (16, 1, "File '{0}' cannot be restored to '{1}'. Use WITH MOVE to identify a valid location for the file."),
    3159: (
        16,
        1,
        'The tail of the log for the database "{0}" has not been backed up. Use BACKUP LOG WITH NORECOVERY to backup '
        "the log if it contains work you do not want to lose. Use the WITH REPLACE or WITH STOPAT clause of the "
        "RESTORE statement to just overwrite the contents of the log.",
    ),
    3187: (16, 1, "RESTORE WITH CHECKSUM cannot be specified because the backup set does not contain checksum information."),
    3201: (16, 1, "Cannot open backup device '{0}'. Operating system error {1}."),
    3202: (16, 1, 'Write on "{0}" failed: {1}'),
    3204: (16, 1, "The backup or restore was aborted."),
    3205: (16, 1, "Too many backup devices specified for backup or restore; only {0} are allowed."),
    3206: (
        16,
        1,
        "Backup device '{0}' does not exist. To view existing backup devices, use the sys.backup_devices catalog "
        "view. To create a new backup device use either sp_addumpdevice or SQL Server Management Studio.",
    ),
    3207: (16, 1, "Backup or restore requires at least one backup device. Rerun your statement specifying a backup device."),
    3211: (0, 1, "{0} percent processed."),
    3217: (16, 1, "Invalid value specified for {0} parameter."),
    3218: (
        16,
        1,
        "Backup mirroring is not available in this edition of SQL Server. See Books Online for more details on "
        "feature support in different SQL Server editions.",
    ),
    3231: (
        16,
        1,
        'The media loaded on "{0}" is formatted to support {1} media families, but {2} media families are expected '
        "according to the backup device specification.",
    ),
    3234: (16, 1, "Logical file '{0}' is not part of database '{1}'. Use RESTORE FILELISTONLY to list the logical file names."),
    3241: (16, 1, "The media family on device '{0}' is incorrectly formed. SQL Server cannot process this media family."),
    3250: (16, 1, "The value '{0}' is not within range for the {1} parameter."),
    3253: (16, 1, "The block size parameter must supply a value that is a power of 2."),
    3262: (0, 1, "The backup set on file {0} is valid."),
    4035: (0, 1, "Processed {0} pages for database '{1}', file '{2}' on file {3}."),
    4038: (16, 1, "Cannot find file ID {0} on device '{1}'."),
    4208: (
        16,
        1,
        "The statement BACKUP LOG is not allowed while the recovery model is SIMPLE. Use BACKUP DATABASE or change "
        "the recovery model using ALTER DATABASE.",
    ),
    4214: (16, 1, "BACKUP LOG cannot be performed because there is no current database backup."),
    4305: (
        16,
        1,
        "The log in this backup set begins at LSN {0}, which is too recent to apply to the database. An earlier log "
        "backup that includes LSN {1} can be restored.",
    ),
    4335: (
        16,
        1,
        "The specified STOPAT time is too early. All or part of the database is already rolled forward beyond that point.",
    ),
    4338: (
        16,
        1,
        "The STOPAT clause specifies a point too early to allow this backup set to be restored. Choose a different stop point or use "
        "RESTORE DATABASE WITH RECOVERY to recover at the current point.",
    ),
    4326: (
        16,
        1,
        "The log in this backup set terminates at LSN {0}, which is too early to apply to the database. A more recent"
        " log backup that includes LSN {1} can be restored.",
    ),
    3609: (16, 1, "The transaction ended in the trigger. The batch has been aborted."),
    3621: (0, 0, "The statement has been terminated."),
    3701: (11, 5, "Cannot {0} the {1} '{2}', because it does not exist or you do not have permission."),
    3702: (16, 3, 'Cannot drop database "{0}" because it is currently in use.'),
    3705: (16, 1, "Cannot use DROP {0} with '{1}' because '{1}' is a {2}. Use DROP {3}."),
    3708: (16, 4, "Cannot drop the {0} '{1}' because it is a system {0}."),
    3723: (16, 4, "An explicit DROP INDEX is not allowed on index '{0}'. It is being used for {1} constraint enforcement."),
    3725: (16, 0, "The constraint '{0}' is being referenced by table '{1}', foreign key constraint '{2}'."),
    3729: (16, 1, "Cannot drop schema '{0}' because it is being referenced by object '{1}'."),
    159: (15, 1, "Must specify the table name and index name for the DROP INDEX statement."),
    2727: (11, 1, "Cannot find index '{0}'."),
    8147: (16, 1, "Could not create IDENTITY attribute on nullable column '{0}', table '{1}'."),
    3726: (16, 1, "Could not drop object '{0}' because it is referenced by a FOREIGN KEY constraint."),
    3727: (16, 0, "Could not drop constraint. See previous errors."),
    3728: (16, 1, "'{0}' is not a constraint."),
    3902: (16, 1, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION."),
    3903: (16, 1, "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION."),
    2389: (
        16,
        1,
        "XQuery [value()]: 'value()' requires a singleton (or empty sequence), found operand of type 'xdt:untypedAtomic *'",
    ),
    6335: (16, 1, "XML datatype instance has too many levels of nested nodes. Maximum allowed depth is 128 levels."),
    9400: (16, 1, "XML parsing: line {0}, character {1}, {2}"),
    9436: (16, 1, "XML parsing: line {0}, character {1}, {2}"),
    9455: (16, 1, "XML parsing: line {0}, character {1}, {2}"),
    258: (15, 1, "Cannot call methods on {1}."),
    1468: (
        16,
        1,
        'The operation cannot be performed on database "{0}" because it is involved in a database mirroring session or an '
        "availability group. Some operations are not allowed on a database that is participating in a database mirroring session "
        "or in an availability group.",
    ),
    3906: (16, 1, 'Failed to update database "{0}" because the database is read-only.'),
    3930: (
        16,
        1,
        "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the "
        "transaction.",
    ),
    3931: (
        16,
        1,
        "The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back the entire transaction.",
    ),
    3952: (
        16,
        1,
        "Snapshot isolation transaction failed accessing database '{0}' because snapshot isolation is not allowed in this "
        "database. Use ALTER DATABASE to allow snapshot isolation.",
    ),
    3998: (16, 1, "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back."),
    4104: (16, 1, 'The multi-part identifier "{0}" could not be bound.'),
    4108: (15, 1, "Windowed functions can only appear in the SELECT or ORDER BY clauses."),
    4112: (15, 1, "The function '{0}' must have an OVER clause with ORDER BY."),
    4113: (15, 1, "The function '{0}' is not a valid windowing function, and cannot be used with the OVER clause."),
    4116: (16, 1, "The function 'ntile' takes only a positive int or bigint expression as its input."),
    4121: (16, 1, 'Cannot find either column "{0}" or the user-defined function or aggregate "{1}", or the name is ambiguous.'),
    4127: (16, 1, "At least one of the arguments to COALESCE must be an expression that is not the NULL constant."),
    4145: (15, 1, "An expression of non-boolean type specified in a context where a condition is expected, near '{0}'."),
    447: (16, 0, "Expression type {0} is invalid for COLLATE clause."),
    506: (16, 1, 'The invalid escape character "{0}" was specified in a LIKE predicate.'),
    8133: (
        16,
        1,
        "At least one of the result expressions in a CASE specification must be an expression other than the NULL constant.",
    ),
    4199: (16, 1, "Argument value 0 is invalid for argument 3 of generate_series function."),
    4604: (16, 1, 'There is no such user or role "{0}".'),
    4701: (16, 1, 'Cannot find the object "{0}" because it does not exist or you do not have permissions.'),
    4712: (16, 1, "Cannot truncate table '{0}' because it is being referenced by a FOREIGN KEY constraint."),
    4901: (
        16,
        1,
        "ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT definition specified, or the "
        "column being added is an identity or timestamp column, or alternatively if none of the previous conditions are "
        "satisfied the table must be empty to allow addition of this column. Column '{0}' cannot be added to non-empty table "
        "'{1}' because it does not satisfy these conditions.",
    ),
    4902: (16, 1, 'Cannot find the object "{0}" because it does not exist or you do not have permissions.'),
    4916: (16, 0, "Could not enable or disable the constraint. See previous errors."),
    4917: (16, 0, "Constraint '{0}' does not exist."),
    4922: (16, 9, "{0} {1} failed because one or more objects access this column."),
    4924: (16, 1, "ALTER TABLE {0} failed because column '{1}' does not exist in table '{2}'."),
    5011: (
        14,
        5,
        "User does not have permission to alter database '{0}', the database does not exist, or the database is not in a "
        "state that allows access checks.",
    ),
    5058: (16, 1, "Option '{0}' cannot be set in database '{1}'."),
    5061: (16, 1, "ALTER DATABASE failed because a lock could not be placed on database '{0}'. Try again later."),
    5069: (16, 1, "ALTER DATABASE statement failed."),
    5070: (16, 1, "Database state cannot be changed while other users are using the database '{0}'"),
    5074: (16, 1, "The {0} '{1}' is dependent on {2} '{3}'."),
    5133: (16, 1, 'Directory lookup for the file "{0}" failed with the operating system error {1}.'),
    5701: (0, 2, "Changed database context to '{0}'."),
    5703: (0, 1, "Changed language setting to {0}."),
    7969: (0, 1, "No active open transactions."),
    8101: (
        16,
        1,
        "An explicit value for the identity column in table '{0}' can only be specified when a column list is used and "
        "IDENTITY_INSERT is ON.",
    ),
    8106: (16, 1, "Table '{0}' does not have the identity property. Cannot perform SET operation."),
    8107: (16, 1, "IDENTITY_INSERT is already ON for table '{0}'. Cannot perform SET operation for table '{1}'."),
    8114: (16, 5, "Error converting data type {0} to {1}."),
    8115: (16, 2, "Arithmetic overflow error converting {0} to data type {1}."),
    8116: (16, 1, "Argument data type {0} is invalid for argument {1} of {2} function."),
    8117: (16, 1, "Operand data type {0} is invalid for {1} operator."),
    8120: (
        16,
        1,
        "Column '{0}' is invalid in the select list because it is not contained in either an aggregate function or the GROUP "
        "BY clause.",
    ),
    8121: (
        16,
        1,
        "Column '{0}' is invalid in the HAVING clause because it is not contained in either an aggregate function or the "
        "GROUP BY clause.",
    ),
    8127: (
        16,
        1,
        "Column '{0}' is invalid in the ORDER BY clause because it is not contained in either an aggregate function or the "
        "GROUP BY clause.",
    ),
    8134: (16, 1, "Divide by zero error encountered."),
    8143: (16, 1, "Parameter '{0}' was supplied multiple times."),
    8144: (16, 2, "Procedure or function {0} has too many arguments specified."),
    8145: (16, 2, "{0} is not a parameter for procedure {1}."),
    8146: (16, 2, "Procedure {0} has no parameters and arguments were supplied."),
    8152: (16, 14, "String or binary data would be truncated."),
    8153: (10, 1, "Warning: Null value is eliminated by an aggregate or other SET operation."),
    8155: (16, 2, "No column name was specified for column {0} of '{1}'."),
    8156: (16, 1, "The column '{0}' was specified multiple times for '{1}'."),
    8158: (16, 1, "'{0}' has more columns than were specified in the column list."),
    8159: (16, 1, "'{0}' has fewer columns than were specified in the column list."),
    8162: (
        16,
        2,
        'The formal parameter "{0}" was not declared as an OUTPUT parameter, but the actual parameter passed in requested '
        "output.",
    ),
    8169: (16, 2, "Conversion failed when converting from a character string to uniqueidentifier."),
    8170: (16, 2, "Insufficient result space to convert uniqueidentifier value to char."),
    8178: (16, 1, "The parameterized query '{0}' expects the parameter '{1}', which was not supplied."),
    8179: (16, 2, "Could not find prepared statement with handle {0}."),
    8180: (16, 1, "Statement(s) could not be prepared."),
    8672: (
        16,
        1,
        "The MERGE statement attempted to UPDATE or DELETE the same row more than once. This happens when a target row matches "
        "more than one source row. A MERGE statement cannot UPDATE/DELETE the same row of the target table multiple times. "
        "Refine the ON clause to ensure a target row matches at most one source row, or use the GROUP BY clause to group the "
        "source rows.",
    ),
    9002: (17, 2, "The transaction log for database '{0}' is full due to '{1}'."),
    10700: (16, 1, 'The table-valued parameter "{0}" is READONLY and cannot be modified.'),
    10711: (15, 1, "An action of type '{0}' is not allowed in the 'WHEN {1}' clause of a MERGE statement."),
    179: (15, 1, "Cannot use the OUTPUT option when passing a constant to a stored procedure."),
    10709: (16, 1, "The number of columns for each row in a table value constructor must be the same."),
    240: (16, 1, 'Types don\'t match between the anchor and the recursive part in column "{0}" of recursive query "{1}".'),
    246: (16, 1, 'No anchor member was specified for recursive query "{0}".'),
    10742: (15, 1, "The offset specified in a OFFSET clause may not be negative."),
    10744: (15, 1, "The number of rows provided for a FETCH clause must be greater then zero."),
    11555: (
        15,
        1,
        "The parameter '{0}' has been declared as NOT NULL. NOT NULL parameters are only supported with natively compiled "
        "modules, except for inline table-valued functions.",
    ),
    13607: (16, 4, "JSON path is not properly formatted. Unexpected character '{0}' is found at position {1}."),
    13608: (16, 1, "Property cannot be found on the specified JSON path."),
    13609: (16, 4, "JSON text is not properly formatted. Unexpected character '{0}' is found at position {1}."),
    22001: (1, 1, "RegQueryValueEx() returned error 2, 'The system cannot find the file specified.'"),
    15002: (16, 1, "The procedure '{0}' cannot be executed within a transaction."),
    15197: (16, 1, "There is no text for object '{0}'."),
    15225: (
        11,
        1,
        "No item by the name of '{0}' could be found in the current database '{1}', given that @itemtype was input as '{2}'.",
    ),
    15248: (11, 1, "Either the parameter @objname is ambiguous or the claimed @objtype ({0}) is wrong."),
    15335: (
        11,
        1,
        "Error: The new name '{0}' is already in use as a object name and would cause a duplicate that is not permitted.",
    ),
    15600: (15, 1, "An invalid parameter or option was specified for procedure '{0}'."),
    15009: (16, 1, "The object '{0}' does not exist in database '{1}' or is invalid for this operation."),
    15010: (
        16,
        1,
        "The database '{0}' does not exist. Supply a valid database name. To see available databases, use sys.databases.",
    ),
    15123: (16, 1, "The configuration option '{0}' does not exist, or it may be an advanced option."),
    15124: (16, 1, "The configuration option '{0}' is not unique."),
    15129: (16, 1, "'{0}' is not a valid value for configuration option '{1}'."),
    5812: (14, 1, "You do not have permission to run the RECONFIGURE statement."),
    6004: (14, 1, "User does not have permission to perform this action."),
    6102: (14, 1, "User does not have permission to use the KILL statement."),
    15247: (16, 1, "User does not have permission to perform this action."),
    15151: (16, 1, "Cannot {0} the {1} '{2}', because it does not exist or you do not have permission."),
    15025: (16, 1, "The server principal '{0}' already exists."),
    15023: (16, 1, "User, group, or role '{0}' already exists in the current database."),
    15457: (0, 1, "Configuration option '{0}' changed from {1} to {2}. Run the RECONFIGURE statement to install."),
    15007: (16, 1, "'{0}' is not a valid login or you do not have permission."),
    41105: (
        16,
        0,
        "Failed to create the Windows Server Failover Clustering (WSFC) resource with name '{0}' and type '{1}'.  The resource "
        "type is not registered in the WSFC cluster.  The WSFC cluster many have been destroyed and created again. To register "
        "the resource type in the WSFC cluster, disable and then enable Always On in the SQL Server Configuration Manager.",
    ),
    59001: (16, 1, "The aglab twin does not implement {0}. See {1}."),
    59002: (16, 1, "The aglab twin knows the view {0} but this node has no rows for it. See {1}."),
    59003: (16, 1, "The statement was stopped: {0} exceeds the twin's limit of {1}."),
    59005: (16, 1, "The aglab twin refuses {0}: {1}. SQL Server's own message for this is not documented. See {2}."),
    59006: (
        10,
        1,
        "The aglab twin: database '{0}' is in an availability group. Only secondary replicas use a persistent log buffer; commits on "
        "the primary wait for its log volume as before.",
    ),
    59004: (16, 1, "The twin failed on this statement ({0}). Please report it with the statement's text."),
}
MESSAGES.update(STORAGE)
MESSAGES.update(AGENT)
MESSAGES.update(RESTORE)
MESSAGES.update(ADMINISTRATION)
MESSAGES.update(MEMORY)
MESSAGES.update(TRACES)
MESSAGES.update(ENCRYPTION)
MESSAGES.update(OPTIONS)
MESSAGES.update(CURSORS)
MESSAGES.update(BULK)
MESSAGES.update(LANGUAGE)
