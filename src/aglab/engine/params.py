"""From a scenario to the engine's flat arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from aglab.core.units import KIB
from aglab.engine import layout as at
from aglab.engine.layout import Array
from aglab.engine.tempdb import fill_tempdb
from aglab.engine.versions import ANY_RATE, fill_log_file, fill_transport, fill_ways, local_factor, processors
from aglab.scenario import Scenario


@dataclass(frozen=True)
class Params:
    """The arrays that do not change while a flow runs (``hw``, ``wl``, ``ct`` of :mod:`aglab.engine.layout`)."""

    hw: Array
    wl: Array
    ct: Array


def build(scenario: Scenario) -> Params:
    """The parameter arrays of a scenario."""
    hw = np.tile(machine_row(scenario), (len(scenario.replicas), 1))
    fill_ways(scenario, hw)
    return Params(hw, workload_row(scenario), constants_row(scenario))


def machine_row(scenario: Scenario) -> Array:
    """``hw`` of one node."""
    profile = scenario.profile
    hw = np.zeros(at.HW_SIZE)
    hw[at.H_CORES], hw[at.H_THREADS] = processors(scenario)
    hw[at.H_MACHINE] = profile.cpu.threads
    hw[at.H_SPEED] = profile.cpu.speed
    hw[at.H_HT_YIELD] = profile.cpu.ht_yield
    gains = profile.cpu.ht_yield - 1.0 > 1e-9
    hw[at.H_SERVERS] = hw[at.H_THREADS] if gains else hw[at.H_CORES]
    hw[at.H_CPU_POOLING] = math.sqrt(2.0 * (hw[at.H_SERVERS] + 1.0)) - 1.0
    hw[at.H_READ_S] = profile.data.read_s_per_page
    hw[at.H_WRITE_S] = profile.data.gathered_write_s(scenario.workload.pages_per_checkpoint_write)
    hw[at.H_READ_LAT] = profile.data.read_latency_us * 1e-6
    hw[at.H_WRITE_LAT] = profile.data.write_latency_us * 1e-6
    hw[at.H_LOG_LAT] = profile.log.log_write_s
    hw[at.H_LOG_TAIL] = scenario.settings.tail_of_log_us * 1e-6
    hw[at.H_LAZY] = float(scenario.settings.delayed_durability == "FORCED")
    hw[at.H_LOG_BW] = profile.log.write_bytes_s
    hw[at.H_NET_BW] = profile.network.bytes_s
    hw[at.H_RTT] = profile.network.rtt_us * 1e-6
    hw[at.H_WAY] = ANY_RATE
    hw[at.H_READS_PER_TX] = scenario.workload.page_reads_per_tx(profile.memory.buffer_pool_pages)
    slots = max(1.0, profile.data.read_iops * profile.data.read_latency_us * 1e-6)  # of one device: a page lies on one of them
    everywhere = max(1.0, profile.data.devices * slots)  # a burst goes to all of them
    if profile.data.capped:  # a limit lets one through after the other, however many devices stand behind it
        slots = everywhere = 1.0
    hw[at.H_QUEUE_S] = profile.data.read_queue_s
    hw[at.H_QUEUE_POOLING] = math.sqrt(2.0 * (slots + 1.0)) - 1.0
    hw[at.H_POOLING] = math.sqrt(2.0 * (everywhere + 1.0)) - 1.0
    hw[at.H_BURST] = 0.5 * scenario.constant("write_burst_pages") * hw[at.H_WRITE_S]
    backoff_s = scenario.constant(_backoff_name(scenario)) * 1e-3
    hw[at.H_STAR] = _util_at_wait(max(backoff_s - hw[at.H_BURST], 1e-5), hw)
    hw[at.H_LOG_FILE] = scenario.settings.log_file_gb * 1e9
    return hw


def _backoff_name(scenario: Scenario) -> str:
    return "backoff_ms_2014" if scenario.settings.sql_version == "2014" else "backoff_ms_2016"


def _util_at_wait(wait_s: float, hw: Array) -> float:
    """As :func:`aglab.engine.machine.util_at_wait`, for set-up."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        own, all_ = (math.pow(middle, hw[column]) for column in (at.H_QUEUE_POOLING, at.H_POOLING))
        if (hw[at.H_QUEUE_S] * own + hw[at.H_BURST] * all_) / (1.0 - middle) < wait_s:
            low = middle
        else:
            high = middle
    return low


def workload_row(scenario: Scenario) -> Array:
    """``wl``: demands of one average transaction."""
    job = scenario.workload
    share = 1.0 - job.read_only_share
    wl = np.zeros(at.WL_SIZE)
    wl[at.W_THINK] = job.think_us * 1e-6
    wl[at.W_CPU] = job.cpu_us * 1e-6 * local_factor(scenario)
    wl[at.W_LOG] = job.log_bytes_per_tx * share
    wl[at.W_TOUCHES] = job.page_touches_per_tx * share
    wl[at.W_HOT] = job.hot_pages
    wl[at.W_WRITE_SHARE] = share if job.log_bytes_per_tx > 0 else 0.0
    wl[at.W_PAGES_PER_WRITE] = job.pages_per_checkpoint_write
    wl[at.W_BATCHES] = job.batches_per_tx
    wl[at.W_COLD] = job.cold_touches_per_tx
    wl[at.W_REST] = max(job.data_pages - job.hot_pages, 1.0)
    fill_tempdb(scenario, wl)
    return wl


def constants_row(scenario: Scenario) -> Array:
    """``ct``: constants and cluster-wide settings."""
    value = scenario.constant
    settings = scenario.settings
    ct = np.zeros(at.CT_SIZE)
    ct[at.C_BACKOFF] = value(_backoff_name(scenario)) * 1e-3
    ct[at.C_RAMP] = value("checkpoint_ramp_s")
    ct[at.C_WRITE_CPU] = value("page_write_us") * 1e-6
    ct[at.C_BASE_CPU] = value("base_cpu_cores")
    ct[at.C_LOG_TURN] = value("log_turnaround_us") * 1e-6
    ct[at.C_LOG_BLOCK] = value("log_block_kb") * KIB
    ct[at.C_LOG_IOS] = min(value("log_outstanding_ios"), value("log_outstanding_kb") / value("log_block_kb"))
    ct[at.C_SEND_CPU] = value("send_ns_per_byte") * 1e-9
    ct[at.C_RECEIVE_CPU] = value("receive_ns_per_byte") * 1e-9
    ct[at.C_REDO_CPU] = value("redo_ns_per_byte") * 1e-9
    ct[at.C_SYNC_OVERHEAD] = value("sync_overhead_us") * 1e-6
    ct[at.C_RECOVERY_RATE] = value("redo_bytes_s_2016")
    ct[at.C_RECOVERY_INTERVAL] = settings.recovery_interval_min * 60 or value("recovery_interval_s")
    ct[at.C_NOISE_CV] = settings.noise_cv
    ct[at.C_NOISE_TIME] = value("noise_time_s")
    ct[at.C_WRITE_FLOOR] = value("writer_floor")
    ct[at.C_DETECT] = value("failover_detect_s")
    ct[at.C_PACE] = value("writer_pace_s")
    ct[at.C_BACKUP_EVERY] = settings.log_backup_every_s
    fill_transport(scenario, ct)
    fill_log_file(scenario, ct)
    return ct
