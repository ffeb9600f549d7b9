"""The closed network alone: throughput and times of a scenario in balance, without the slow state.

For sizing and for tests against closed forms: a page writer, if any, writes at a constant rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aglab.core.quantity import check_number
from aglab.engine import layout as at
from aglab.engine.flow import Flow, fresh_state
from aglab.engine.job_rows import job_row
from aglab.engine.params import build
from aglab.engine.tick import solve_steady
from aglab.scenario import Scenario
from aglab.scenario.maintenance import Job


@dataclass(frozen=True)
class Steady:
    """One solution. Times in seconds, rates per second, utilisations from 0 to 1."""

    throughput_s: float
    response_s: float
    think_s: float
    cpu_s: float
    cpu_wait_s: float
    read_s: float
    commit_s: float
    commit_local_s: float
    cpu_util: float
    data_util: float
    log_flushes_s: float
    log_bytes_s: float
    write_pages_s: float
    tempdb_s: float = 0.0  # waits for allocation pages and spilled sorts
    backup_mb_s: float = 0.0  # rate of the job beside the load, database bytes

    @property
    def parts_s(self) -> dict[str, float]:
        """Where the response time goes; the parts add up to ``response_s``."""
        parts = {"think": self.think_s, "cpu": self.cpu_s, "cpu wait": self.cpu_wait_s, "data reads": self.read_s}
        if self.tempdb_s > 0.0:
            parts["tempdb"] = self.tempdb_s
        return {**parts, "commit": self.commit_s}


def steady(scenario: Scenario, pages_s: float = 0.0, job: Job | None = None) -> Steady:
    """Solve the closed network of a scenario.

    Parameters
    ----------
    scenario : Scenario
    pages_s : float
        Pages per second a checkpoint asks for (1e9: as many as the volume takes before the back-off).
    job : BackupJob, IndexRebuild, IntegrityCheck or Seeding, optional
        A job that runs beside the load; its waits for a scheduler are part of ``cpu_wait_s``.
    """
    limits = {"unit": "pages/s", "low": 0.0, "high": 1e12, "meaning": "pages a checkpoint asks for"}
    pages_s = float(check_number("pages_s", pages_s, limits, "steady"))
    params = build(scenario)
    st = fresh_state(scenario, params.ct, params.wl).st
    sync, alike, env, out = at.workspace(len(st))
    wl = params.wl
    jb = np.zeros((1, at.SLOTS, at.JOB_SIZE))
    if job is not None:
        jb[0, int(job.volume == "log")] = job_row(scenario.profile, job, 1e18, overrides=scenario.overrides)
    users = 0.0 if jb[0, 0, at.J_BLOCKS] else scenario.settings.users
    x = solve_steady(0, users, pages_s, params.hw, wl, params.ct, st, jb, sync, alike, env, out)
    share = wl[at.W_WRITE_SHARE]
    waits = (wl[at.W_BATCHES] + env[at.E_READS] + share) * env[at.E_RESUME]
    return Steady(
        throughput_s=float(x),
        response_s=float(out[at.O_R]),
        think_s=float(wl[at.W_THINK]),
        cpu_s=float(out[at.O_CPU_TIME]),
        cpu_wait_s=float(out[at.O_CPU_WAIT] + waits),
        read_s=float(env[at.E_READS] * out[at.O_READ_LAT]),
        commit_s=float(share * out[at.O_COMMIT]),
        commit_local_s=float(share * out[at.O_COMMIT_LOCAL]),
        cpu_util=float(out[at.O_CPU_UTIL]),
        data_util=float(out[at.O_DATA_UTIL]),
        log_flushes_s=float(out[at.O_LOG_FLUSHES]),
        log_bytes_s=float(x * wl[at.W_LOG]),
        write_pages_s=float(out[at.O_WRITE_RATE]),
        tempdb_s=float(out[at.O_LATCH] + out[at.O_SPILL]),
        backup_mb_s=float(jb[0, :, at.J_RATE].sum()) / 1e6,
    )


def commit_time_s(flow: Flow) -> float:
    """How long a commit takes in a running flow at this moment, beside the load that runs now (s)."""
    st, p = flow.state.st, flow.params
    sync, alike, env, out = at.workspace(len(st))
    primary, users = int(flow.state.cl[at.K_PRIMARY]), float(flow.state.cl[at.K_USERS])
    solve_steady(primary, users, 0.0, p.hw, p.wl, p.ct, st, flow.state.jb.copy(), sync, alike, env, out)
    return float(out[at.O_COMMIT])
