"""sp_configure."""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT, nvarchar
from aglab.tsql.environment import only_at_instance
from aglab.tsql.execute.calls import type_of
from aglab.tsql.messages import KNOWLEDGE_PAGE, error, info
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn

_COLUMNS = [
    OutColumn("name", nvarchar(35), False),
    OutColumn("minimum", INT),
    OutColumn("maximum", INT),
    OutColumn("config_value", INT),
    OutColumn("run_value", INT),
]


@procedure("sp_configure")
def sp_configure(executor: Any, arguments: Any) -> Any:
    """Show options, one option, or set one; names may be shortened as long as they stay unique."""
    name = arguments.value("@configname", 0)
    value = arguments.value("@configvalue", 1)
    configurations = executor.runtime.instance.configurations
    advanced = configurations["show advanced options"].value_in_use == 1
    visible = [item for item in configurations.values() if advanced or not item.is_advanced]
    if name is not None:
        lowered = str(name).lower()
        chosen = [item for item in visible if item.name.lower() == lowered] or [
            item for item in visible if lowered in item.name.lower()
        ]
        if not chosen:
            raise error(15123, name, line=62)
        if len(chosen) > 1:
            raise error(15124, name, line=90)
        visible = chosen
    if value is None:
        rows = [(i.name, i.minimum, i.maximum, i.value, i.value_in_use) for i in sorted(visible, key=lambda i: i.name.lower())]
        yield from executor.send(_COLUMNS, rows)
        return 0
    environment = executor.session.environment
    if environment is not None:
        raise error(59005, "sp_configure with a value", only_at_instance(environment.group), KNOWLEDGE_PAGE)
    item = visible[0]
    if executor.session.trancount:
        raise error(15002, "sys.sp_configure")
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        raise error(8114, type_of(value).name, "int") from None
    default_allowed = number == item.value
    if not (
        item.minimum <= number <= item.maximum
        or (number == 0 and item.minimum > 0 and item.name in _ZERO_MEANS_DEFAULT)
        or default_allowed
    ):
        raise error(15129, number, item.name, line=158)
    old, item.value = item.value, number
    executor.runtime.host.error_log(
        f"Configuration option '{item.name}' changed from {old} to {number}. Run the RECONFIGURE statement to install."
    )
    yield info(15457, item.name, old, number, line=185)
    return 0


_ZERO_MEANS_DEFAULT = frozenset({"max worker threads", "locks", "index create memory (KB)"})
