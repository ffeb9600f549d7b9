"""Where inputs lie in the engine's flat float64 arrays: what does not change while ticks run.

``hw[node, H_*]`` machine, ``wl[W_*]`` workload, ``ct[C_*]`` constants and cluster settings; used as names of
:mod:`aglab.engine.layout`, which has the state.
"""

# --- hw: one machine
(
    H_CORES,
    H_THREADS,
    H_SPEED,
    H_HT_YIELD,
    H_READ_S,  # busy time of the data volume per page read
    H_WRITE_S,  # busy time of the data volume per page written
    H_READ_LAT,  # idle latency of a read
    H_WRITE_LAT,  # idle latency of a checkpoint write
    H_LOG_LAT,  # idle latency of a small log write
    H_LOG_BW,  # sequential log bandwidth, B/s
    H_NET_BW,
    H_RTT,
    H_READS_PER_TX,
    H_LOG_FILE,  # size of the log file, bytes
    H_POOLING,  # exponent of the wait behind bursts of writes: how many I/Os all devices work on at once
    H_BURST,  # half the time the data volume needs for one burst of writes
    H_STAR,  # utilisation at which a page writer that is past its ramp stops raising outstanding I/O
    H_SERVERS,  # processors that serve: threads, or cores where a second thread adds nothing
    H_CPU_POOLING,  # exponent of the wait for a processor
    H_LOG_TAIL,  # time to copy a log record to persistent memory, s; 0 = none
    H_LAZY,  # 1 = commits are answered before their log is hardened (delayed durability)
    H_MACHINE,  # logical processors of the machine, whichever of them the instance may use
    H_OTHER_WORK,  # processor work of other databases of the instance, reference core-seconds/s
    H_OTHER_DATA,  # shares of the data volume, the log volume and the network that they take
    H_OTHER_LOG,
    H_OTHER_NET,
    H_QUEUE_S,  # what a read waits behind another one in the same device's queue
    H_QUEUE_POOLING,  # exponent of the wait there: how many I/Os one device works on at once
    H_WAY,  # log that one connection to or from this node carries, B/s; beyond any where its way is the network's
    HW_SIZE,
) = range(30)

# --- wl: one average transaction
(
    W_THINK,
    W_CPU,
    W_LOG,
    W_TOUCHES,
    W_HOT,
    W_WRITE_SHARE,
    W_PAGES_PER_WRITE,
    W_BATCHES,
    W_COLD,  # accesses to cold pages
    W_REST,  # cold pages of the database
    W_TEMPDB,  # 1 = it waits for tempdb
    W_FILES,  # of tempdb
    W_PFS,  # time it holds a PFS page of one file
    W_GAM,
    W_SGAM,
    W_LATCHES,  # changes of these pages
    W_SPILLED,  # bytes of its sorts that go through tempdb
    W_SPILL_IOS,  # reads of them
    W_SPILL_IO_S,  # transfer of one
    W_SPILL_DATA,  # busy time of the data volume they cost, in page reads
    W_SPILL_BUSY,  # or that of tempdb's own volume
    W_SPILL_LAT,  # idle latency of that
    W_SPILL_POOLING,
    W_VERSIONS,  # bytes of row versions
    W_VERSIONS_ON,  # 1 = they are made without an online rebuild too
    W_VERSIONS_MOST,  # bytes that the version store may take
    WL_SIZE,
) = range(27)

# --- ct: constants and cluster-wide settings
(
    C_BACKOFF,
    C_RAMP,
    C_WRITE_CPU,
    C_BASE_CPU,
    C_LOG_TURN,
    C_LOG_BLOCK,
    C_LOG_IOS,
    C_SEND_CPU,
    C_RECEIVE_CPU,
    C_REDO_CPU,
    C_SYNC_OVERHEAD,
    C_TRANSPORT_CAP,
    C_REDO_CAP,
    C_RECOVERY_RATE,
    C_RECOVERY_INTERVAL,
    C_NOISE_CV,
    C_NOISE_TIME,
    C_WRITE_FLOOR,
    C_DETECT,
    C_PACE,  # time over which the background writer averages the log rate
    C_BACKUP_EVERY,  # interval of log backups, s; 0 = none
    C_GATE,  # messages that may wait for an acknowledgement on one replica's connection; 0 = any
    C_REQUIRED,  # synchronous secondaries that must be in step for a commit
    C_PACK_SYNC,  # 1 = log goes compressed to synchronous replicas
    C_PACK_ASYNC,
    C_PACK_RATIO,
    C_PACK_CPU,  # of compressing one byte, reference core-seconds
    C_UNPACK_CPU,
    C_GROWTH,  # bytes by which a full log file grows; 0 = it does not
    C_GROWTH_S,  # time that takes: zeros are written
    C_LOG_MOST,  # size up to which it grows
    C_OLD_VLFS,  # 1 = growth makes virtual log files as before 2022
    CT_SIZE,
) = range(33)
