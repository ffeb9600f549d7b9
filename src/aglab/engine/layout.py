"""Where each number lies in the engine's flat float64 arrays.

``hw``, ``wl`` and ``ct`` hold the inputs (:mod:`aglab.engine.layout_inputs`). ``st[node, S_*]`` slow state,
``seg[node, 2, SEGMENTS]`` touches and log position at the last sweep of each segment of hot pages, ``cl[K_*]`` cluster
state, ``jb[node, slot, J_*]`` a running backup or restore, ``tot[node, T_*]`` totals since the start, ``out[O_*]`` what the last
solve found (scratch).
Units: seconds, bytes, pages, core-seconds unless the name says otherwise.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aglab.engine.layout_inputs import *  # noqa: F403  kernels name every column as at.NAME

Array = npt.NDArray[np.float64]

SEGMENTS = 64

# --- st: slow state of one node
(
    S_LSN,  # end of the log on this node, bytes (hardened)
    S_SENT,  # how far the primary has sent to this node
    S_REDONE,
    S_CONNECTED,
    S_SUSPENDED,
    S_SYNC,  # 1 = SYNCHRONOUS_COMMIT
    S_K,  # checkpoint throttle, pages/s; 0 = none
    S_TARGET,  # TARGET_RECOVERY_TIME, s; 0 = automatic checkpoints
    S_TOUCHES,  # touches of hot pages since the start
    S_POS,  # segment the writer stands at
    S_LEFT,  # pages left to write in that segment
    S_SWEPT,  # segments finished in this sweep
    S_SWEEPING,  # 1 while an automatic or manual checkpoint runs
    S_MANUAL,  # 1 = a CHECKPOINT statement waits to start
    S_BEGIN,  # log position at which the running sweep began
    S_END,  # log position at which the last sweep ended
    S_RECOVER,  # crash recovery would start here
    S_BACKUP,  # log is backed up to here
    S_DEPTH,  # time since the writer began to raise outstanding I/O, s
    S_REDO_RATE,
    S_SEND_RATE,
    S_CPU,  # busy share of logical processors in the last tick
    S_CHECKPOINTS,
    S_LOG_RATE,  # log made or redone, averaged over the writer's pace, B/s
    S_OLDEST,  # log position of the oldest transaction that still runs, bytes; far beyond any log when none is long
    S_JOB_LOG,  # log of jobs that the node has not redone, bytes
    S_GROWN,  # bytes by which the log file has grown
    S_STALL,  # time that transactions still wait for a growth, s
    S_VLFS,  # virtual log files that growth has added
    S_COLD_HOT,  # hot pages that a restart left out of the buffer pool and that are not read again yet
    S_COLD_REST,  # and cold ones that it would hold
    S_VERSIONS,  # bytes in the version store
    S_VERSIONS_KEPT,  # of these, made since somebody began who still needs them
    ST_SIZE,
) = range(34)

# --- cl: the cluster
(
    K_PRIMARY,
    K_USERS,
    K_NOISE,
    K_X,
    K_SINCE_BACKUP,
    K_SLOPE,  # of the gap that the solver closes, at the last solution: where it begins the next time
    K_MIX,  # CPU demand of the last tick over the average
    K_LEAN,  # what throughput gained per unit of it
    K_SNAPSHOT,  # 1 = a snapshot transaction stays open
    K_CLEANED,  # time since the version store was cleaned, s
    CL_SIZE,
) = range(11)

# --- tot: totals of one node
TOTALS = (
    "transactions",
    "batch_requests",
    "log_bytes_flushed",
    "log_flushes",
    "log_flush_wait_ms",
    "checkpoint_pages",
    "background_writer_pages",
    "page_reads",
    "page_writes",
    "data_reads",
    "data_bytes_read",
    "data_read_stall_ms",
    "data_writes",
    "data_bytes_written",
    "data_write_stall_ms",
    "log_writes",
    "log_bytes_written",
    "log_write_stall_ms",
    "bytes_sent_to_transport",
    "bytes_received_from_replica",
    "log_bytes_received",
    "redone_bytes",
    "mirrored_write_transactions",
    "transaction_delay_ms",
    "cpu_ms",
    "pages_dirtied",
    "response_ms",
    "wait_ms.WRITELOG",
    "wait_count.WRITELOG",
    "wait_ms.HADR_SYNC_COMMIT",
    "wait_count.HADR_SYNC_COMMIT",
    "wait_ms.PAGEIOLATCH_SH",
    "wait_count.PAGEIOLATCH_SH",
    "wait_ms.SOS_SCHEDULER_YIELD",
    "wait_count.SOS_SCHEDULER_YIELD",
    "backup_bytes",
    "redo_open_ms",
    "log_growths",
    "log_full_ms",
    "wait_ms.PAGELATCH_UP",
    "wait_count.PAGELATCH_UP",
    "wait_ms.IO_COMPLETION",
    "wait_count.IO_COMPLETION",
    "tempdb_spilled_bytes",
    "snapshot_victims",
    "version_store_full_ms",
)
(
    T_TX,
    T_BATCHES,
    T_LOG_BYTES,
    T_LOG_FLUSHES,
    T_LOG_FLUSH_WAIT,
    T_CHECKPOINT,
    T_BACKGROUND,
    T_PAGE_READS,
    T_PAGE_WRITES,
    T_DATA_READS,
    T_DATA_BYTES_READ,
    T_DATA_READ_STALL,
    T_DATA_WRITES,
    T_DATA_BYTES_WRITTEN,
    T_DATA_WRITE_STALL,
    T_LOG_WRITES,
    T_LOG_BYTES_WRITTEN,
    T_LOG_STALL,
    T_SENT,
    T_RECEIVED_REPLICA,
    T_RECEIVED,
    T_REDONE,
    T_MIRRORED,
    T_DELAY,
    T_CPU,
    T_DIRTIED,
    T_RESPONSE,
    T_W_WRITELOG,
    T_N_WRITELOG,
    T_W_HADR,
    T_N_HADR,
    T_W_PAGE,
    T_N_PAGE,
    T_W_SOS,
    T_N_SOS,
    T_BACKUP,
    T_REDO_OPEN,  # time that redo was not suspended on a secondary
    T_GROWTHS,
    T_LOG_FULL,  # time that transactions waited because the log was full (9002)
    T_W_LATCH,
    T_N_LATCH,
    T_W_SPILL,
    T_N_SPILL,
    T_SPILLED,
    T_VICTIMS,  # snapshot transactions that a full version store ended (3967)
    T_VERSIONS_FULL,  # time in which changes left no versions (3959)
    TOT_SIZE,
) = range(47)

# --- out: what a solve found
(
    O_CPU_WORK,
    O_CPU_UTIL,
    O_CPU_TIME,  # seconds of a transaction on a processor
    O_CPU_WAIT,
    O_READ_LAT,
    O_WRITE_RATE,  # pages/s the data volume takes from the writer
    O_WRITE_LAT,
    O_DATA_UTIL,
    O_LOG_LAT,
    O_LOG_FLUSHES,
    O_MET,  # a commit meets the log writer busy for this long, and not at all in this share of cases
    O_IDLE_SHARE,
    O_COMMIT_LOCAL,
    O_COMMIT,
    O_REMOTE,  # send + round trip + remote harden + overhead of the slowest synchronous replica
    O_R,
    O_SLOPE,  # of the gap N / R(x) - x
    O_LATCH,  # wait for allocation pages of tempdb
    O_SPILL,  # for reads of spilled sorts
    OUT_SIZE,
) = range(20)

# --- jb: a job that shares one node's machine; slot 0 reads (or writes) the data volume, slot 1 reads the log volume
SLOTS = 2
(
    J_LEFT,  # database bytes still to move; 0 = no job
    J_TOTAL,
    J_RATE,  # database bytes per second in the last tick
    J_ELAPSED,
    J_TRANSFER,  # bytes of one buffer
    J_BUFFERS,
    J_DEVICES,
    J_OUT,  # bytes of one buffer at the device, after compression
    J_WORK,  # processor time of one buffer, core-seconds at the machine's clock under load
    J_TARGET,  # what all devices take, B/s; 0 = anything (NUL)
    J_LATENCY,  # idle latency of one I/O on the volume
    J_BANDWIDTH,  # what the volume reads (or writes), B/s
    J_TURN,  # wait for a processor after an I/O, times u/(1-u)
    J_TURBO,  # clock of few busy cores beside the clock of all
    J_QUANTUM,  # longest time a worker keeps its scheduler
    J_LOAD,  # busy share of the processors without the job, last tick (a secondary's own work)
    J_NOTED,  # 1 = its end has been told
    J_COPY,  # 1 = copy-only: the log it has read stays
    J_KIND,  # index into JOB_KINDS
    J_AHEAD,  # 1 = its I/O runs beside its workers and not in turn with them
    J_READ,  # bytes read from the volume per database byte
    J_WRITE,  # bytes written to the volume per database byte
    J_LOG,  # bytes of log per database byte
    J_NET,  # bytes to the network per database byte
    J_BLOCKS,  # 1 = users wait until its end (an offline rebuild)
    J_SOURCE,  # 1 + node whose job feeds this one; 0 = none
    J_KEEPS,  # 1 = one transaction: log is kept from its beginning
    J_RESUMES,  # 1 = resumable
    JOB_SIZE,
) = range(29)
JOB_KINDS = ("backup", "restore", "index_rebuild", "integrity_check", "seeding", "seeding_target")

# --- env: what is fixed during one tick on one node, and during a run of equal ticks
(
    E_USERS,
    E_CPU,
    E_BG_WORK,
    E_SEND_WORK,
    E_WRITE_LIMIT,
    E_UTIL_STAR,
    E_BURST,
    E_NSEND,
    E_NSYNC,
    E_WIRE,  # streams of log on the network, a compressed one as the part it is
    E_PACK_S,  # time that compressing and unpacking add to a synchronous commit, for one byte
    E_JOB_DATA,  # share of the data volume that jobs take
    E_JOB_READ_WAIT,  # what a page read waits behind their transfers
    E_JOB_LOG,  # share of the log volume
    E_RESUME,  # what a worker that becomes runnable waits behind a job's worker
    E_JOB_WORK,
    E_JOB_SEND,  # share of the way to the secondaries that jobs take: their log, and seeding
    E_JOB_NET,  # of that, seeding
    E_JOB_LOG_RATE,  # log that jobs make, B/s
    E_READ_S,  # busy time of what jobs leave of the data volume, for one page read
    E_WRITE_S,
    E_LOG_LAT,
    E_LOG_BW,
    E_NOISE_KEPT,  # share of the mix's wander that a tick keeps
    E_NOISE_NEW,  # and of a new draw that it adds
    E_PACE_KEPT,  # share of a node's average log rate that a tick keeps
    E_READS,  # physical reads of one transaction
    E_DATA_READS,  # with what tempdb takes of the data volume
    E_LOG_TX,  # log of one transaction that writes
    E_OTHERS,  # share of a commit's company: 0 for one user alone, near 1 for many
    E_GROUP_MOST,  # log of one commit of every user
    E_BLOCK_MOST,  # a log block, or one transaction's log where that is more
    E_LOG_IDLE,  # least time to harden a record
    E_LOG_TURN,
    E_WAY,  # log rate to each secondary that network, pipeline and jobs leave
    E_SYNC_WAY,  # least that the ways to synchronous secondaries carry, B/s
    E_SYNC_RTT,  # and the longest round trip among them
    ENV_SIZE,
) = range(38)


def workspace(nodes: int) -> tuple[Array, Array, Array, Array]:
    """Room for what a tick computes anew: whom commits wait for (``sync``), ``alike``, ``env`` and ``out``.

    ``alike[node]`` is the secondary that stands for a node (:mod:`aglab.engine.alike`); here nobody stands for anybody.
    """
    return np.zeros(nodes), np.full(nodes, -1.0), np.zeros(ENV_SIZE), np.zeros(OUT_SIZE)
