"""Views of SQL Server 2000 that scripts still use: sysprocesses, sysdatabases, syslogins, sysobjects."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.execution import BACKGROUND
from aglab.tsql.catalog.registry import provide
from aglab.tsql.functions.names import object_id, type_code
from aglab.tsql.store.database import Database

_CREATED = datetime.datetime(2022, 11, 16)


@provide(
    """sys.sysprocesses: spid smallint!, kpid smallint!, blocked smallint!, waittype binary(2)!, waittime bigint!, lastwaittype nchar(32)!,
    waitresource nchar(256)!, dbid smallint!, uid smallint, cpu int!, physical_io bigint!, memusage int!, login_time datetime!, last_batch datetime!,
    ecid smallint!, open_tran smallint!, status nchar(30)!, sid binary(86)!, hostname nchar(128)!, program_name nchar(128)!, hostprocess nchar(10)!,
    cmd nchar(26)!, nt_domain nchar(128)!, nt_username nchar(128)!, net_address nchar(12)!, net_library nchar(12)!, loginame nchar(128)!,
    context_info binary(128)!, sql_handle binary(20)!, stmt_start int!, stmt_end int!, request_id int!, page_resource binary(8)""",
    compatibility=True,
)
def _sysprocesses(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    now = runtime.now()
    for spid in sorted(runtime.instance.sessions):
        s = runtime.instance.sessions[spid]
        current = runtime.instance.database(s.database)
        yield {
            "spid": spid,
            "kpid": 0 if s.status == "sleeping" else 1000 + spid,
            "blocked": runtime.instance.locks.blocker(spid),
            "waittype": b"\0\0",
            "waittime": int((runtime.host.now_s() - s.wait_started_s) * 1000) if s.wait_type else 0,
            "lastwaittype": s.wait_type or "MISCELLANEOUS",
            "waitresource": s.wait_resource,
            "dbid": current.id if current else 1,
            "uid": 1,
            "cpu": 0,
            "physical_io": 0,
            "memusage": 4,
            "login_time": s.login_time or now,
            "last_batch": s.last_request_start or now,
            "ecid": 0,
            "open_tran": s.trancount,
            "status": s.status,
            "sid": b"\x01",
            "hostname": s.host_name,
            "program_name": s.program_name,
            "hostprocess": "1",
            "cmd": s.command,
            "nt_domain": "",
            "nt_username": "",
            "net_address": "",
            "net_library": "TCP/IP",
            "loginame": s.login,
            "context_info": s.context_info or b"",
            "sql_handle": s.spid.to_bytes(20, "big"),
            "stmt_start": 0,
            "stmt_end": -1,
            "request_id": 0,
        }
    for task in runtime.host.view_rows(BACKGROUND, (), runtime.session) or ():
        yield _background_process(task, now)


def _background_process(task: dict[str, Any], now: datetime.datetime) -> dict[str, Any]:
    numbers = ("blocked", "waittime", "uid", "memusage", "ecid", "open_tran", "stmt_start", "request_id")
    texts = ("waitresource", "hostname", "program_name", "hostprocess", "nt_domain", "nt_username", "net_address", "net_library")
    return (
        dict.fromkeys(numbers, 0)
        | dict.fromkeys(texts, "")
        | {
            "spid": task["session_id"],
            "kpid": 1000 + task["session_id"],
            "waittype": b"\0\0",
            "lastwaittype": task["last_wait_type"],
            "dbid": task["database_id"],
            "cpu": task["cpu_ms"],
            "physical_io": task["reads"],
            "login_time": now,
            "last_batch": now,
            "status": "background",
            "sid": b"\x01",
            "cmd": task["command"],
            "loginame": "sa",
            "context_info": b"",
            "sql_handle": b"",
            "stmt_end": 0,
        }
    )


@provide(
    """sys.sysdatabases: name sysname!, dbid smallint, sid varbinary(85), mode smallint, status int, status2 int, crdate datetime!, reserved datetime,
    category int, cmptlevel tinyint!, filename nvarchar(260), version smallint""",
    compatibility=True,
)
def _sysdatabases(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for item in sorted(runtime.instance.databases.values(), key=lambda d: d.id):
        name, number = runtime.instance.shown(item)
        yield {
            "name": name,
            "dbid": number,
            "sid": b"\x01",
            "mode": 0,
            "status": 65536,
            "status2": 1090520064,
            "crdate": item.created or _CREATED,
            "category": 0,
            "cmptlevel": item.options["compatibility_level"],
            "filename": item.files[0].physical_name,
            "version": 957,
        }


@provide(
    """sys.syslogins: sid varbinary(85), status smallint, createdate datetime!, updatedate datetime!, accdate datetime!, totcpu int, totio int,
    spacelimit int, timelimit int, resultlimit int, name sysname!, dbname sysname, password nvarchar(128), language sysname, denylogin int, hasaccess int,
    isntname int, isntgroup int, isntuser int, sysadmin int, securityadmin int, serveradmin int, setupadmin int, processadmin int, diskadmin int,
    dbcreator int, bulkadmin int, loginname sysname!""",
    compatibility=True,
)
def _syslogins(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for login in runtime.instance.logins.values():
        yield {
            "sid": login.get("sid"),
            "status": 9,
            "createdate": _CREATED,
            "updatedate": _CREATED,
            "accdate": _CREATED,
            "totcpu": 0,
            "totio": 0,
            "name": login["name"],
            "loginname": login["name"],
            "dbname": login.get("default_database_name", "master"),
            "language": "us_english",
            "denylogin": 0,
            "hasaccess": 1,
            "isntname": 0,
            "isntgroup": 0,
            "isntuser": 0,
            "sysadmin": int(login["name"] == "sa" or bool(login.get("sysadmin"))),
            "securityadmin": 0,
            "serveradmin": 0,
            "setupadmin": 0,
            "processadmin": 0,
            "diskadmin": 0,
            "dbcreator": 0,
            "bulkadmin": 0,
        }


@provide(
    """sys.sysobjects: name sysname!, id int!, xtype char(2)!, uid smallint, info smallint, status int, base_schema_ver int, replinfo int,
    parent_obj int!, crdate datetime!, ftcatid smallint, schema_ver int, stats_schema_ver int, type char(2), userstat smallint, sysstat smallint,
    indexdel smallint, refdate datetime!, version int, deltrig int, instrig int, updtrig int, seltrig int, category int, cache smallint""",
    compatibility=True,
)
def _sysobjects(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for item in database.objects.values():
        code = type_code(item).ljust(2)
        yield {
            "name": item.name,
            "id": object_id(item),
            "xtype": code,
            "uid": 1,
            "parent_obj": 0,
            "crdate": item.created or _CREATED,
            "type": code,
            "refdate": item.created or _CREATED,
        }
