"""tempdb: pages of allocation that everybody changes, sorts that do not fit their grant, and row versions.

**Allocation.** Each page that an object takes is noted on a PFS page, each extent on a GAM page, and up to 2014 the first eight
pages of an object come one by one from mixed extents, noted on SGAM and PFS. A change holds the page's latch alone, so each of
these pages is a single server; a file has its own three, and objects go round the files. Since 2019 changes of PFS pages, since
2022 those of GAM and SGAM pages, run side by side and wait for nothing. Waits are ``PAGELATCH_UP`` on 2:file:1, :2 and :3; with
demand u of a page a change waits s * u / (1 - u), as in M/M/1.

**Spills.** A sort larger than its grant is written in runs of the grant's size and read back in one or more merges; a merge
reads each run in extents of 64 KB. Writes are behind, each read is waited for (``IO_COMPLETION``).

**Versions.** What a transaction changes stays as it was in the version store until nobody needs it: a cleaner looks once a
minute. A snapshot transaction that stays open, or an online index rebuild, keeps what is made from its beginning. A full store
ends the snapshot transaction (3967); where there is none, changes go on without versions (3959).

Sources: KB 2154845; "System page latch concurrency enhancements" (SQL Server 2022), "Concurrent PFS updates" (2019); "Row
versioning-based isolation levels in the Database Engine" for the store and its errors; Knuth, The Art of Computer Programming 3,
for merges. Temporary tables live in memory: since 2014 pages of short-lived ones are not written early. [assumed]: how long a
latch is held, one PFS page of a file at a time, 16 runs a merge for each MB of the grant. Left out: tempdb's own log, its
metadata, caching of temporary objects (count those that are really made), memory that versions take from the buffer pool.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aglab.core.units import KIB, PAGE_BYTES
from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array
from aglab.scenario import Scenario

if TYPE_CHECKING:
    from aglab.engine.flow import Flow

EXTENT_PAGES = 8
EXTENT_KB = 64.0
FIRST_PAGES = 2  # an object's IAM page and its first page
CLEAN_S = 60.0
_NEVER = 1e9  # seconds: a wait that no solution can have
_REBUILD = float(at.JOB_KINDS.index("index_rebuild"))


def merges(sort_kb: float, grant_kb: float) -> int:
    """How often a sort's data go through tempdb: 0 where the grant holds them."""
    if grant_kb <= 0.0 or sort_kb <= grant_kb:
        return 0
    fan_in = max(2.0, grant_kb / EXTENT_KB)
    return max(1, math.ceil(math.log(sort_kb / grant_kb) / math.log(fan_in) - 1e-9))


def page_changes(scenario: Scenario) -> tuple[float, float, float]:
    """Changes of PFS, GAM and SGAM pages that one transaction makes and that exclude each other in the version."""
    job, version = scenario.workload, scenario.settings.sql_version
    count = job.tempdb_objects_per_tx
    pages = max(job.tempdb_kb_per_tx * KIB / PAGE_BYTES, FIRST_PAGES * count)
    spilled = job.sort_kb_per_tx * merges(job.sort_kb_per_tx, scenario.tempdb.sort_grant_kb) * KIB / PAGE_BYTES
    versions = 0.0
    if scenario.tempdb.row_versioning == "on":
        versions = job.version_kb_per_tx * (1.0 - job.read_only_share) * KIB / PAGE_BYTES
    single = 0.0
    if scenario.tempdb.mixed(version):
        single = min(pages, EXTENT_PAGES * max(count, pages and 1.0))
    extents = (pages - single + spilled + versions) / EXTENT_PAGES
    if count and not single:  # a small object still takes a whole extent
        extents = max(extents, count + (spilled + versions) / EXTENT_PAGES)
    changes = 2.0 * (pages + spilled + versions), 2.0 * extents, 2.0 * single  # taken, and given back
    if version == "2022":
        return 0.0, 0.0, 0.0
    return (0.0 if version == "2019" else changes[0]), changes[1], changes[2]


def fill_tempdb(scenario: Scenario, wl: Array) -> None:
    """Columns of ``wl`` about tempdb; all stay 0 where transactions ask nothing of it."""
    job, tempdb, data = scenario.workload, scenario.tempdb, scenario.profile.data
    held_s = tempdb.latch_us * 1e-6
    changes = page_changes(scenario)
    for column, count in zip((at.W_PFS, at.W_GAM, at.W_SGAM), changes, strict=True):
        wl[column] = count * held_s / tempdb.files
    wl[at.W_LATCHES] = sum(changes)
    wl[at.W_FILES] = tempdb.files
    spilled_kb = job.sort_kb_per_tx * merges(job.sort_kb_per_tx, tempdb.sort_grant_kb)
    wl[at.W_SPILLED] = spilled_kb * KIB
    if spilled_kb > 0.0:
        own = tempdb.volume(data)
        volume = own or data
        pages = spilled_kb * KIB / PAGE_BYTES
        read_s = max(1.0 / (volume.read_iops * EXTENT_PAGES), PAGE_BYTES / (volume.read_mb_s * 1e6)) / volume.devices
        if volume.max_iops:
            read_s = max(read_s, 1.0 / (volume.max_iops * EXTENT_PAGES))
        if volume.max_mb_s:
            read_s = max(read_s, PAGE_BYTES / (volume.max_mb_s * 1e6))
        busy_s = pages * (read_s + volume.gathered_write_s(EXTENT_PAGES))
        wl[at.W_SPILL_IOS] = pages / EXTENT_PAGES
        wl[at.W_SPILL_IO_S] = EXTENT_KB * KIB / (volume.read_mb_s * 1e6)
        if own is None:
            wl[at.W_SPILL_DATA] = busy_s / data.read_s_per_page
        else:
            wl[at.W_SPILL_BUSY] = busy_s
            wl[at.W_SPILL_LAT] = own.read_latency_us * 1e-6
            slots = max(1.0, own.read_iops * wl[at.W_SPILL_LAT])  # of one device: a spill's transfer lies on one
            wl[at.W_SPILL_POOLING] = math.sqrt(2.0 * (slots + 1.0)) - 1.0
    wl[at.W_VERSIONS] = job.version_kb_per_tx * (1.0 - job.read_only_share) * KIB
    wl[at.W_VERSIONS_ON] = float(tempdb.row_versioning == "on")
    taken_gb = job.data_pages * PAGE_BYTES / 1e9
    wl[at.W_VERSIONS_MOST] = tempdb.room_gb(data, taken_gb) * 1e9
    wl[at.W_TEMPDB] = float(wl[at.W_LATCHES] > 0.0 or spilled_kb > 0.0)


def tempdb_notes(flow: Flow) -> list[str]:
    """What a version store that was full did to the run."""
    found = []
    for name in flow.names:
        totals = flow.totals(name)
        if totals["snapshot_victims"] > 0:
            found.append(
                f"tempdb of {name} had no room for row versions: {totals['snapshot_victims']:,.0f} snapshot transaction ended "
                "(3967); enlarge tempdb.size_gb, or end it earlier"
            )
        if totals["version_store_full_ms"] > 0:
            found.append(f"tempdb of {name} was full for {totals['version_store_full_ms'] / 1e3:,.1f} s: no row versions (3959)")
    return found


@kernel
def tempdb_limit(limit: float, wl: Array) -> float:
    """The least of ``limit`` and what tempdb's busiest page, and its own volume, let through (tx/s)."""
    worst = max(max(wl[at.W_PFS], wl[at.W_GAM]), max(wl[at.W_SGAM], wl[at.W_SPILL_BUSY]))
    if worst * limit > 1.0:
        return 1.0 / worst
    return limit


@kernel
def latch_wait(x: float, demand: float, files: float) -> float:
    """What a transaction's changes of one kind of page wait, each transaction holding the page of one file for ``demand`` s."""
    util = x * demand
    if util >= 1.0:
        return _NEVER
    return files * demand * util / (1.0 - util)


@kernel
def tempdb_time(x: float, wl: Array, out: Array) -> float:
    """Time that a transaction waits for tempdb at ``x`` transactions/s (s); fills ``out``."""
    files = wl[at.W_FILES]
    out[at.O_LATCH] = (
        latch_wait(x, wl[at.W_PFS], files) + latch_wait(x, wl[at.W_GAM], files) + latch_wait(x, wl[at.W_SGAM], files)
    )
    out[at.O_SPILL] = 0.0
    if wl[at.W_SPILL_IOS] > 0.0:
        latency = out[at.O_READ_LAT]
        if wl[at.W_SPILL_BUSY] > 0.0:
            util = x * wl[at.W_SPILL_BUSY]
            latency = _NEVER
            if util < 1.0:
                latency = wl[at.W_SPILL_LAT] + wl[at.W_SPILL_IO_S] * math.pow(util, wl[at.W_SPILL_POOLING]) / (1.0 - util)
        out[at.O_SPILL] = wl[at.W_SPILL_IOS] * (latency + wl[at.W_SPILL_IO_S])
    return out[at.O_LATCH] + out[at.O_SPILL]


@kernel
def book_tempdb(node: int, dt: float, x: float, wl: Array, out: Array, tot: Array) -> None:
    """Totals of what ``x`` transactions/s did in tempdb."""
    tot[node, at.T_W_LATCH] += x * out[at.O_LATCH] * dt * 1e3
    tot[node, at.T_N_LATCH] += x * wl[at.W_LATCHES] * dt
    tot[node, at.T_W_SPILL] += x * out[at.O_SPILL] * dt * 1e3
    tot[node, at.T_N_SPILL] += x * wl[at.W_SPILL_IOS] * dt
    tot[node, at.T_SPILLED] += x * wl[at.W_SPILLED] * dt
    if wl[at.W_SPILL_DATA] > 0.0:  # the data volume's counters show tempdb's I/O too
        reads = x * wl[at.W_SPILL_IOS] * dt
        tot[node, at.T_DATA_READS] += reads
        tot[node, at.T_DATA_BYTES_READ] += x * wl[at.W_SPILLED] * dt
        tot[node, at.T_DATA_READ_STALL] += x * out[at.O_SPILL] * dt * 1e3
        tot[node, at.T_DATA_WRITES] += reads
        tot[node, at.T_DATA_BYTES_WRITTEN] += x * wl[at.W_SPILLED] * dt
        tot[node, at.T_DATA_WRITE_STALL] += reads * out[at.O_WRITE_LAT] * 1e3


@kernel
def move_versions(p: int, dt: float, x: float, wl: Array, st: Array, cl: Array, jb: Array, tot: Array) -> None:
    """Grow the version store by what ``x`` transactions/s leave, clean it once a minute, and end what a full one cannot keep."""
    rebuild = jb[p, 0, at.J_LEFT] > 0.0 and jb[p, 0, at.J_KIND] == _REBUILD and jb[p, 0, at.J_BLOCKS] < 0.5
    made = 0.0
    if rebuild or wl[at.W_VERSIONS_ON] > 0.5:
        made = x * wl[at.W_VERSIONS] * dt
    room = wl[at.W_VERSIONS_MOST] - st[p, at.S_VERSIONS]
    if made > room:
        if cl[at.K_SNAPSHOT] > 0.5 and not rebuild:
            cl[at.K_SNAPSHOT] = 0.0
            tot[p, at.T_VICTIMS] += 1.0
            st[p, at.S_VERSIONS] = 0.0
            room = wl[at.W_VERSIONS_MOST]
        else:
            tot[p, at.T_VERSIONS_FULL] += dt * 1e3
        made = min(made, room)
    st[p, at.S_VERSIONS] += made
    if rebuild or cl[at.K_SNAPSHOT] > 0.5:
        st[p, at.S_VERSIONS_KEPT] += made
    else:
        st[p, at.S_VERSIONS_KEPT] = 0.0
    cl[at.K_CLEANED] += dt
    if cl[at.K_CLEANED] >= CLEAN_S - 1e-9:
        cl[at.K_CLEANED] = 0.0
        st[p, at.S_VERSIONS] = st[p, at.S_VERSIONS_KEPT]
