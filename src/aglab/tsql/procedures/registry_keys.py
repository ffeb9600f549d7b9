"""xp_regread and xp_instance_regread: the handful of registry values that management tools ask an instance for.

The procedures are not documented. What is modelled is how public scripts use them: key, path, name, then an output parameter or
none (a row of Value and Data). A value that is not there leaves the parameter as it was and sends message 22001 of level 1, which
the word no_output keeps back. Paths and login mode come from the node's server properties; there is no registry behind them.
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT, nvarchar
from aglab.tsql.functions.system import server_property
from aglab.tsql.messages import info
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn

_PATHS = {
    "defaultdata": "instancedefaultdatapath",
    "defaultlog": "instancedefaultlogpath",
    "backupdirectory": "instancedefaultbackuppath",
}
_MIXED, _WINDOWS_ONLY = 2, 1
_FAILED_LOGINS = 2


def _value(runtime: Any, name: str) -> Any:
    lowered = name.lower()
    if lowered in _PATHS:
        return server_property(runtime, _PATHS[lowered])
    if lowered == "loginmode":
        return _WINDOWS_ONLY if server_property(runtime, "isintegratedsecurityonly") else _MIXED
    return _FAILED_LOGINS if lowered == "auditlevel" else None


@procedure("xp_instance_regread")
def xp_instance_regread(executor: Any, arguments: Any) -> Any:
    """@rootkey, @key, @value_name, @value OUTPUT, 'no_output'."""
    for place, parameter in enumerate(("@rootkey", "@key", "@value_name")):
        arguments.required(parameter, place)
    name = str(arguments.value("@value_name", 2) or "")
    value = _value(executor.runtime, name)
    asked = arguments.find("@value", 3)
    quiet = any(str(item.value).lower() == "no_output" for item in arguments.items[3:])
    if value is None:
        if not quiet:
            yield info(22001)
        return 0
    kind = INT if isinstance(value, int) else nvarchar(4000)
    if asked is not None and asked.output:
        asked.set(value, kind)
    elif not quiet:
        yield from executor.send([OutColumn("Value", nvarchar(255)), OutColumn("Data", kind)], [(name, value)])
    return 0


@procedure("xp_regread")
def xp_regread(executor: Any, arguments: Any) -> Any:
    """As xp_instance_regread: there is one instance."""
    return (yield from xp_instance_regread(executor, arguments))


@procedure("xp_getnetname")
def xp_getnetname(executor: Any, arguments: Any) -> Any:
    """@netname OUTPUT: the machine's name; a row without it."""
    name = server_property(executor.runtime, "machinename")
    asked = arguments.find("@netname", 0)
    if asked is not None and asked.output:
        asked.set(name, nvarchar(128))
    else:
        yield from executor.send([OutColumn("Server Net Name", nvarchar(128))], [(name,)])
    return 0
