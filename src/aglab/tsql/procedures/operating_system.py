"""xp_cmdshell, which is turned off or refused by name; xp_fileexist over the files that the node's databases have.

Sources: "xp_cmdshell (Transact-SQL)", "xp_cmdshell (server configuration option)". xp_fileexist is not documented; its columns
are from public scripts that use it.
"""

from __future__ import annotations

import posixpath
from typing import Any

from aglab.core.sqltypes import BIT, INT
from aglab.tsql.execute.calls import Argument
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn


@procedure("xp_cmdshell")
def xp_cmdshell(executor: Any, arguments: Any) -> Any:
    """Error 15281 while the option is off; turned on, the twin still has no command shell."""
    if not executor.runtime.instance.configuration("xp_cmdshell"):
        raise error(15281, "procedure", "sys.xp_cmdshell", "xp_cmdshell")
    raise not_implemented("xp_cmdshell")
    yield


@procedure("xp_fileexist")
def xp_fileexist(executor: Any, arguments: Any) -> Any:
    """A file of a database, or a directory with one: three flags as a row, or the first as an output."""
    path = str(arguments.required("@filename", 0) or "")
    files = {one.physical_name for database in executor.runtime.instance.databases.values() for one in database.files}
    folders = {posixpath.dirname(one) for one in files}
    exists, folder = path in files, path.rstrip("/") in folders
    given: list[Argument] = arguments.items
    if len(given) > 1 and given[1].output:
        given[1].set(int(exists), INT)
        return 0
    columns = [OutColumn(n, BIT) for n in ("File Exists", "File is a Directory", "Parent Directory Exists")]
    yield from executor.send(columns, [(exists, folder, posixpath.dirname(path.rstrip("/")) in folders)])
    return 0
