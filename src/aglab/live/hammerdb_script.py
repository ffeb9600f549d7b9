"""The Tcl scripts that hammerdbcli runs, and how large a run should be.

Keys are those of HammerDB 5 and 6 (config/mssqlserver.xml of TPC-Council/HammerDB). The password is read from the environment of
the process, never written into a script. Left out: in-memory tables, think time, connection pools, TPROC-H.
Not yet run against HammerDB itself by this project: the keys and printed lines are from its repository and its issue threads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from aglab.core.errors import UsageError, field_error

PASSWORD_VARIABLE = "AGLAB_SQL_PASSWORD"
MB_PER_WAREHOUSE = 100.0  # as in data/workloads/tpcc-like.toml
LOG_SHARE = 0.5  # room for the log, as a part of the data
_NAME = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.\-]*$")  # nothing that Tcl would take for a command
_DRIVER = re.compile(r"^[A-Za-z0-9 ._\-]+$")


@dataclass(frozen=True)
class Target:
    """The server as HammerDB reaches it (inside a container network its name and port differ from ours)."""

    server: str
    port: int = 1433
    database: str = "tpcc"
    user: str = "sa"
    odbc_driver: str = "ODBC Driver 18 for SQL Server"
    trust_certificate: bool = True  # the certificates of our own containers are signed by nobody

    def __post_init__(self) -> None:
        for field, pattern in (("server", _NAME), ("database", _NAME), ("user", _NAME), ("odbc_driver", _DRIVER)):
            if not pattern.match(getattr(self, field)):
                raise field_error(field, getattr(self, field), "may hold letters, digits, . _ and -", "HammerDB", "rename it")
        if not 1 <= self.port <= 65535:
            raise field_error("port", self.port, "must be 1 to 65535", "HammerDB", "SQL Server's default is 1433")


@dataclass(frozen=True)
class Plan:
    """One run: ``warehouses``, virtual ``users``, ``build_users`` that load in parallel, minutes of ramp-up and of the test."""

    warehouses: int
    users: int
    build_users: int = 1
    ramp_up_min: int = 2
    minutes: int = 5
    all_warehouses: bool = False
    raise_errors: bool = True  # an error ends its virtual user; False lets it go on and hides it
    notes: tuple[str, ...] = ()  # what was made smaller than the lab asked for, and why

    def __post_init__(self) -> None:
        limits = {"warehouses": 100_000, "users": 10_000, "build_users": 1_000, "minutes": 10_000}
        for field, most in limits.items():
            if not 1 <= getattr(self, field) <= most:
                raise field_error(field, getattr(self, field), f"must be 1 to {most:,}", "HammerDB", "change it in lab.toml")
        if not 0 <= self.ramp_up_min <= 1_000:
            raise field_error("ramp_up_min", self.ramp_up_min, "must be 0 to 1,000", "HammerDB", "2 is usual")
        if self.build_users > self.warehouses:
            text = f"must be <= warehouses={self.warehouses}"
            raise field_error("build_users", self.build_users, text, "HammerDB", "one user loads at least one warehouse")


def plan_for(tier: Mapping[str, Any], cpus: int, disk_free_gib: float) -> Plan:
    """The plan of a tier of lab.toml on this machine.

    Parameters
    ----------
    tier : mapping
        ``warehouses``, ``users``, ``minutes`` and perhaps ``ramp_up_min``.
    cpus : int
        Logical processors that the server has.
    disk_free_gib : float
        Free space where its files lie; data and half as much log must fit.

    Raises
    ------
    UsageError
        Not even one warehouse fits, or the tier lacks a key.
    """
    missing = [key for key in ("warehouses", "users", "minutes") if key not in tier]
    if missing:
        raise UsageError(f"the tier has no {', '.join(missing)}", "add it below [tier.NAME] in lab.toml")
    notes = []
    fits = int(disk_free_gib * 1024 / (MB_PER_WAREHOUSE * (1 + LOG_SHARE)))
    if fits < 1:
        raise UsageError(
            f"disk_free_gib={disk_free_gib:g} holds no warehouse ({MB_PER_WAREHOUSE * (1 + LOG_SHARE):g} MB each)",
            "free some space on the server's volume",
        )
    plan = Plan(int(tier["warehouses"]), int(tier["users"]), 1, int(tier.get("ramp_up_min", 2)), int(tier["minutes"]))
    if plan.warehouses > fits:
        notes.append(f"{fits} warehouses instead of {plan.warehouses}: more would not fit on the disk")
        plan = replace(plan, warehouses=fits)
    if plan.users > plan.warehouses:
        notes.append(f"{plan.warehouses} virtual users instead of {plan.users}: each has a home warehouse of its own")
        plan = replace(plan, users=plan.warehouses)
    return replace(plan, build_users=max(1, min(plan.warehouses, cpus)), notes=tuple(notes))


def _head(target: Target) -> list[str]:
    return [
        "puts {SETTING CONFIGURATION}",
        "dbset db mssqls",
        "dbset bm TPC-C",
        "diset connection mssqls_tcp true",
        f"diset connection mssqls_port {target.port}",
        f"diset connection mssqls_linux_server {{{target.server}}}",
        "diset connection mssqls_linux_authent sql",
        f"diset connection mssqls_linux_odbc {{{target.odbc_driver}}}",
        "diset connection mssqls_encrypt_connection true",
        f"diset connection mssqls_trust_server_cert {'true' if target.trust_certificate else 'false'}",
        f"diset connection mssqls_uid {{{target.user}}}",
        f"diset connection mssqls_pass $::env({PASSWORD_VARIABLE})",
        f"diset tpcc mssqls_dbase {{{target.database}}}",
    ]


def build_script(target: Target, plan: Plan) -> str:
    """Tcl that builds the schema. ``bcp`` is off: it is another program with another idea of certificates."""
    lines = [
        *_head(target),
        f"diset tpcc mssqls_count_ware {plan.warehouses}",
        f"diset tpcc mssqls_num_vu {plan.build_users}",
        "diset tpcc mssqls_use_bcp false",
        "puts {AGLAB build starts}",
        "buildschema",
        "puts {AGLAB build ended}",
    ]
    return "\n".join(lines) + "\n"


def run_script(target: Target, plan: Plan) -> str:
    """Tcl that ramps up, measures and prints result, timing and transaction counts as JSON between marks."""
    lines = [
        *_head(target),
        f"diset tpcc mssqls_count_ware {plan.warehouses}",
        "diset tpcc mssqls_driver timed",
        "diset tpcc mssqls_total_iterations 10000000",
        f"diset tpcc mssqls_raiseerror {'true' if plan.raise_errors else 'false'}",
        f"diset tpcc mssqls_rampup {plan.ramp_up_min}",
        f"diset tpcc mssqls_duration {plan.minutes}",
        f"diset tpcc mssqls_allwarehouse {'true' if plan.all_warehouses else 'false'}",
        "diset tpcc mssqls_checkpoint false",
        "diset tpcc mssqls_timeprofile true",
        "loadscript",
        f"vuset vu {plan.users}",
        "vucreate",
        "tcstart",
        "puts {AGLAB run starts}",
        "set job [ vurun ]",
        "tcstop",
        "vudestroy",
        # vurun answers "Benchmark Run jobid=..."; older versions answer the id alone
        "regsub {^.*jobid=} $job {} job",
        "jobs format JSON",
    ]
    for part in ("result", "timing", "tcount"):
        lines += [f"puts {{AGLAB {part} begins}}", f"catch {{ jobs $job {part} }}", f"puts {{AGLAB {part} ends}}"]
    return "\n".join([*lines, "puts {AGLAB run ended}"]) + "\n"


def delete_script(target: Target) -> str:
    """Tcl that drops the schema; take its database out of the availability group first."""
    return "\n".join([*_head(target), "puts {AGLAB delete starts}", "deleteschema", "puts {AGLAB delete ended}"]) + "\n"
