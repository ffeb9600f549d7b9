"""CREATE, ALTER and DROP of resource pools and workload groups, and ALTER RESOURCE GOVERNOR.

What they change is stored; ALTER RESOURCE GOVERNOR RECONFIGURE puts it in use (:mod:`aglab.twin.governor`). Not confirmed in the
documentation: that 15151 is what a server says of a workload group that does not exist, and the scheduler that 10910 names for
a minimum of memory. A value outside its documented range is refused with the twin's own 59005.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session
from aglab.tsql.messages import KNOWLEDGE_PAGE, error, not_implemented
from aglab.tsql.store.database import Database, Module
from aglab.twin import governor_limits
from aglab.twin.clauses import Clauses
from aglab.twin.governor import DEFAULT, GROUP_DEFAULTS, INTERNAL, POOL_DEFAULTS, POOLS_MAX, Group, Pool
from aglab.twin.security_messages import refusal
from aglab.twin.security_statements import clauses_of

if TYPE_CHECKING:
    from aglab.twin.node import Node

IOPS_MAX = 2**31 - 1
_POOL_RANGES = {
    "min_cpu_percent": (0, 100),
    "max_cpu_percent": (1, 100),
    "cap_cpu_percent": (1, 100),
    "min_memory_percent": (0, 100),
    "max_memory_percent": (1, 100),
    "min_iops_per_volume": (0, IOPS_MAX),
    "max_iops_per_volume": (0, IOPS_MAX),
}
_GROUP_RANGES = {
    "request_max_memory_grant_percent": (0, 100),
    "request_max_cpu_time_sec": (0, 2**31 - 1),
    "request_memory_grant_timeout_sec": (0, 2**31 - 1),
    "max_dop": (0, 64),
    "group_max_requests": (0, 2**31 - 1),
}


def _begin(command: Command, session: Session) -> Clauses:
    if session.trancount:
        raise error(574, command.name)
    if not session.is_sysadmin:
        raise error(10901)
    return clauses_of(command)


def _new_name(reader: Clauses, kind: str, book: dict[str, Any]) -> str:
    name = reader.name()
    if name.startswith("#"):
        raise error(10914, kind, name)
    if name.lower() in book:
        raise error(10918, kind, name)
    return name


def _kept(node: Node) -> Iterator[Any]:
    node.cluster.dirty = True
    yield from ()


def _ranged(what: str, name: str, ranges: dict[str, tuple[int, int]]) -> Callable[[Clauses], Any]:
    low, high = ranges[name]

    def read(reader: Clauses) -> Any:
        value = reader.decimal() if name == "request_max_memory_grant_percent" else reader.number()
        if not low <= value <= high:
            raise error(59005, f"{what} with {name.upper()} = {value:g}", f"it must be {low} to {high}", KNOWLEDGE_PAGE)
        return value

    return read


# -- pools -----------------------------------------------------------------------------------------------------------------
def create_pool(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE RESOURCE POOL name [WITH (...)]"""
    reader, stored = _begin(command, session), node.governor.stored
    name = _new_name(reader, "resource pool", stored.pools)
    if len(stored.pools) >= POOLS_MAX:
        raise error(10909, POOLS_MAX)
    pool = Pool(node.governor.next_id(), name)
    _pool_options(node, reader, pool, command.name)
    stored.pools[name.lower()] = pool
    return _kept(node)


def alter_pool(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER RESOURCE POOL name WITH (...); the default pool too, the internal one not."""
    reader, stored = _begin(command, session), node.governor.stored
    pool = _pool(stored.pools, reader.name())
    if pool.id == INTERNAL:
        raise error(10915, pool.name, "resource pool")
    draft = Pool(pool.id, pool.name, dict(pool.limits), pool.schedulers)
    if not reader.at("WITH"):
        raise reader.wrong()
    _pool_options(node, reader, draft, command.name)
    stored.pools[pool.name.lower()] = draft
    return _kept(node)


def drop_pool(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP RESOURCE POOL name"""
    reader, stored = _begin(command, session), node.governor.stored
    pool = _pool(stored.pools, reader.name())
    reader.end()
    if pool.id in (INTERNAL, DEFAULT):
        raise error(10912, "resource pool")
    for group in stored.groups.values():
        if group.pool_id == pool.id:
            raise error(10916, pool.name, group.name)
    del stored.pools[pool.name.lower()]
    return _kept(node)


def _pool(pools: dict[str, Pool], name: str) -> Pool:
    found = pools.get(name.lower())
    if found is None:
        raise error(10911, name)
    return found


def _pool_options(node: Node, reader: Clauses, pool: Pool, what: str) -> None:
    if reader.accept("WITH"):
        known: dict[str, Callable[[Clauses], Any]] = {name.upper(): _ranged(what, name, _POOL_RANGES) for name in POOL_DEFAULTS}
        known["AFFINITY"] = lambda one: _affinity(node, one)
        for name, value in reader.options(known, what).items():
            if name == "AFFINITY":
                pool.schedulers = value
            else:
                pool.limits[name.lower()] = value
    reader.end()
    for kind in ("cpu_percent", "memory_percent", "iops_per_volume"):
        least, most = pool.limits[f"min_{kind}"], pool.limits[f"max_{kind}"]
        if least > most and not (kind.startswith("iops") and most == 0):  # 0 operations: no limit
            raise error(10907, f"min_{kind}", least, f"max_{kind}", most)
    for name in ("min_cpu_percent", "min_memory_percent"):
        if (scheduler := _overbooked(node, pool, name)) is not None:
            raise error(10910, name, pool.limits[name], scheduler)


def _overbooked(node: Node, pool: Pool, name: str) -> int | None:
    """A scheduler of the pool on which the minimums of all pools come to more than 100 percent."""
    others = [one for one in node.governor.stored.pools.values() if one.id != pool.id]
    for number in pool.schedulers or range(node.profile.cpu.threads):
        here = [one for one in others if one.schedulers is None or number in one.schedulers or name == "min_memory_percent"]
        if pool.limits[name] + sum(one.limits[name] for one in here) > 100:
            return number
    return None


def _affinity(node: Node, reader: Clauses) -> list[int] | None:
    """SCHEDULER = AUTO | (ranges), NUMANODE = (ranges): the schedulers. Errors 10924 to 10926, 10933."""
    kind = reader.choice("SCHEDULER", "NUMANODE")
    reader.expect("=")
    if kind == "SCHEDULER" and reader.accept("AUTO"):
        return None
    reader.expect("(")
    ranges = reader.listed(lambda: (reader.number(), reader.number() if reader.accept("TO") else None))
    reader.expect(")")
    cpu = node.profile.cpu
    count, noun = (cpu.threads, "scheduler") if kind == "SCHEDULER" else (cpu.sockets, "NUMA node")
    found: list[int] = []
    for low, high in ranges:
        if high is None:
            if low >= count:
                raise error(10933, noun, low)
        elif low >= high:
            raise error(10924, low, high)
        elif high >= count:
            raise error(10926, noun, high, count - 1)
        found += range(low, (low if high is None else high) + 1)
    if len(set(found)) < len(found):
        raise error(10925, noun)
    if kind == "NUMANODE":
        return [number for number in range(cpu.threads) if number * cpu.sockets // cpu.threads in found]
    return sorted(found)


# -- workload groups -------------------------------------------------------------------------------------------------------
def create_group(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE WORKLOAD GROUP name [WITH (...)] [USING pool]"""
    reader, stored = _begin(command, session), node.governor.stored
    name = _new_name(reader, "workload group", stored.groups)
    group = Group(node.governor.next_id(), name, DEFAULT)
    _group_clauses(node, reader, group, "create")
    stored.groups[name.lower()] = group
    return _kept(node)


def alter_group(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER WORKLOAD GROUP name [WITH (...)] [USING pool]"""
    reader, stored = _begin(command, session), node.governor.stored
    group = _group(stored.groups, reader.name(), "alter")
    if group.id == INTERNAL:
        raise error(10915, group.name, "workload group")
    if not reader.at("WITH") and not reader.at("USING"):
        raise error(10917)
    draft = Group(group.id, group.name, group.pool_id, dict(group.settings))
    _group_clauses(node, reader, draft, "alter")
    if group.id == DEFAULT and draft.pool_id != DEFAULT:
        raise error(10921, "default", "workload group", "default", "resource pool")
    stored.groups[group.name.lower()] = draft
    return _kept(node)


def drop_group(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP WORKLOAD GROUP name"""
    reader, stored = _begin(command, session), node.governor.stored
    group = _group(stored.groups, reader.name(), "drop")
    reader.end()
    if group.id in (INTERNAL, DEFAULT):
        raise error(10912, "workload group")
    del stored.groups[group.name.lower()]
    return _kept(node)


def _group(groups: dict[str, Group], name: str, verb: str) -> Group:
    found = groups.get(name.lower())
    if found is None:
        raise refusal(15151, verb, "workload group", name)
    return found


def _group_clauses(node: Node, reader: Clauses, group: Group, verb: str) -> None:
    what = f"{verb.upper()} WORKLOAD GROUP"
    if reader.accept("WITH"):
        known: dict[str, Callable[[Clauses], Any]] = {
            name.upper(): _ranged(what, name, _GROUP_RANGES) for name in GROUP_DEFAULTS if name != "importance"
        }
        known["IMPORTANCE"] = lambda one: one.choice("LOW", "MEDIUM", "HIGH").capitalize()
        group.settings |= {name.lower(): value for name, value in reader.options(known, what).items()}
    if reader.accept("USING"):
        if reader.at("EXTERNAL"):
            raise not_implemented(f"{what} ... USING EXTERNAL (external resource pools)")
        pool = _pool(node.governor.stored.pools, reader.name())
        if pool.id == INTERNAL:
            raise error(10913, verb, group.name, pool.name)
        group.pool_id = pool.id
    reader.end()


# -- ALTER RESOURCE GOVERNOR -----------------------------------------------------------------------------------------------
def alter_governor(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER RESOURCE GOVERNOR RECONFIGURE | DISABLE | RESET STATISTICS | WITH (CLASSIFIER_FUNCTION = ...)"""
    reader, governor = _begin(command, session), node.governor
    if reader.accept("RECONFIGURE"):
        reader.end()
        _check_sessions(node)
        governor.reconfigure()
        node.log_line("Resource governor reconfiguration succeeded.", f"spid{session.spid}")
    elif reader.accept("DISABLE"):
        reader.end()
        governor.disable()
    elif reader.accept("RESET", "STATISTICS"):
        reader.end()
        governor.reset_statistics(node.now_s(), node.totals().get("cpu_ms", 0.0))
    else:
        reader.expect("WITH")
        said = reader.options({"CLASSIFIER_FUNCTION": lambda one: _classifier(node, one)}, "ALTER RESOURCE GOVERNOR")
        reader.end()
        governor.stored.classifier_id = said["CLASSIFIER_FUNCTION"]
    node.instance.protected_modules = governor.classifier_ids()
    governor_limits.apply(node)
    return _kept(node)


def _check_sessions(node: Node) -> None:
    """Error 10904 where a session is in a group that is to go or to move to another pool."""
    governor = node.governor
    stored = {one.id: one.pool_id for one in governor.stored.groups.values()}
    changed = {one.id for one in governor.active.groups.values() if stored.get(one.id) != one.pool_id}
    load = node.cluster.plant.users > 0 and node.name == node.cluster.primary and governor.load_group in changed
    if load or any(client.session.group_id in changed for client in node.clients.values()):
        raise error(10904)


def _classifier(node: Node, reader: Clauses) -> int:
    """NULL, or schema.function: the function's object id. Errors 10902, 10903, 10906."""
    if reader.accept("NULL"):
        return 0
    parts = [reader.name()]
    if reader.accept("."):
        parts.append(reader.name())
    schema, name = ("dbo", parts[0]) if len(parts) == 1 else parts
    master = node.instance.database("master")
    assert isinstance(master, Database)
    if master.schema_name(schema) is None:
        raise error(10903, schema)
    found = master.find(schema, name)
    if found is None:
        raise error(10902, ".".join(parts))
    if not isinstance(found, Module) or not _valid(found):
        raise error(10906, schema, name)
    return found.object_id


def _valid(module: Module) -> bool:
    made = module.definition
    returns = made.returns
    named = returns is not None and returns.name == "nvarchar" and returns.length == 128
    return module.kind == "function" and named and not made.parameters and "SCHEMABINDING" in made.options


COMMANDS = {
    "CREATE RESOURCE POOL": create_pool,
    "ALTER RESOURCE POOL": alter_pool,
    "DROP RESOURCE POOL": drop_pool,
    "CREATE WORKLOAD GROUP": create_group,
    "ALTER WORKLOAD GROUP": alter_group,
    "DROP WORKLOAD GROUP": drop_group,
    "ALTER RESOURCE GOVERNOR": alter_governor,
}
