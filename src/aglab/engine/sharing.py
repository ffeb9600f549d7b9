"""What a job takes from the machine in one tick, and how fast it runs: backup, restore, rebuild, check, seeding.

**Rate.** Buffers go round: read, worked on (checked, compressed), written. The rate is the least of what the volume reads,
what the processors do, buffers in flight over the time of one round, and what the target takes. Jobs that read ahead
(rebuild, check) are bound by the slowest of these instead of the sum of a round. ``busy`` shares are
what the load would take without the job.

**What the load feels.** (1) Processors: the job's work is gone from them. A SQL Server worker keeps its scheduler until it
waits or its quantum of 4 ms is over: a transaction that becomes runnable (at its start, after a read, after its commit) finds a
worker of the job there with the probability that one runs on that scheduler, and waits half of what it runs at a stretch. A
request goes to the scheduler with the least load and stays there, so this happens only as far as the job has a worker on
every scheduler: with few buffers it has not.
(2) Volume: page reads queue behind transfers of MAXTRANSFERSIZE (M/D/1 beside the share the job takes), checkpoints
find less room. (3) A log backup does the same to log writes.

Sources: Thread and Task Architecture Guide (quantum, assignment of tasks to schedulers); M/D/1 as in textbooks. Left out: the
log writers' own wait for a scheduler, the log that a full backup reads at its end, skew between devices.
"""

from __future__ import annotations

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array
from aglab.engine.logpath import send_bytes_s_max, through_gate
from aglab.engine.machine import cpu_capacity

BUSY_MOST = 0.99
SHARE_MOST = 0.95  # a load always gets through: devices serve first come, first served, and schedulers in turn
NO_LIMIT = 1e15


def worker_speed(job: Array, cpu_busy: float, cores: float, threads: float, ht_yield: float) -> float:
    """Work of one of the job's workers, in cores: less where second threads work too, more at the clock of few busy cores."""
    workers = min(job[at.J_BUFFERS], threads)
    second = max(0.0, workers - cores) / cores  # share of cores whose second thread works too
    speed = (min(workers, cores) + cores * (ht_yield - 1.0) * second) / workers
    turbo = 1.0 + (job[at.J_TURBO] - 1.0) * (1.0 - max(cpu_busy, min(1.0, workers / cores)))
    return speed * turbo


speed_of = kernel(worker_speed)


def job_limits(
    job: Array, cpu_busy: float, busy: float, target_busy: float, most: float, speed: float
) -> tuple[float, float, float, float]:
    """Limits of a job's rate: volume, processors, buffers, target (database B/s).

    Parameters
    ----------
    job : float64[JOB_SIZE]
    cpu_busy, busy, target_busy : float
        Shares of processors, volume and target that others take, 0 to 0.99.
    most, speed : float
        Work that all processors, and one of the job's workers, can do (cores).
    """
    transfer = job[at.J_TRANSFER]
    volume = job[at.J_BANDWIDTH] * (1.0 - busy)
    turn = job[at.J_TURN] * cpu_busy / (1.0 - cpu_busy)
    target_s = 0.0
    if job[at.J_TARGET] > 0.0:
        target_s = job[at.J_OUT] / (job[at.J_TARGET] * (1.0 - target_busy))
    round_s = job[at.J_LATENCY] + transfer / volume + turn + target_s + turn
    processors = NO_LIMIT
    if job[at.J_WORK] > 0.0:
        processors = most * (1.0 - 0.5 * cpu_busy) * transfer / job[at.J_WORK]
    buffers = job[at.J_BUFFERS] * transfer / (round_s + job[at.J_WORK] / speed)
    target = NO_LIMIT
    if job[at.J_AHEAD] > 0.5:  # volumes work beside the workers
        buffers = job[at.J_BUFFERS] * transfer / (turn + job[at.J_WORK] / speed)
        if target_s > 0.0:
            target = transfer / target_s
    elif target_s > 0.0:
        target = min(transfer / target_s, job[at.J_DEVICES] * transfer / (target_s + turn))
    return volume, processors, buffers, target


limits_of = kernel(job_limits)


@kernel
def has_job(node: int, jb: Array) -> bool:
    """Whether a job runs on a node."""
    return jb[node, 0, at.J_LEFT] > 0.0 or jb[node, 1, at.J_LEFT] > 0.0


@kernel
def users_wait(node: int, jb: Array) -> bool:
    """Whether a job on the node holds a lock that every user of it needs."""
    return jb[node, 0, at.J_LEFT] > 0.0 and jb[node, 0, at.J_BLOCKS] > 0.5


@kernel
def forget_shares(here: Array, env: Array) -> None:
    """No job: nothing is shared, the volumes are as ``here`` (``hw`` of the node) has them."""
    for column in range(at.E_JOB_DATA, at.E_READ_S):
        env[column] = 0.0
    env[at.E_READ_S] = here[at.H_READ_S]
    env[at.E_WRITE_S] = here[at.H_WRITE_S]
    env[at.E_LOG_LAT] = here[at.H_LOG_LAT]
    env[at.E_LOG_BW] = here[at.H_LOG_BW] * (1.0 - here[at.H_OTHER_LOG])


@kernel
def ways_share(node: int, job: Array, rate: float, log_busy: float, hw: Array, ct: Array, env: Array) -> float:
    """A job's rate as far as the log volume and the way to the secondaries let it, beside a load that takes ``log_busy``.

    The job's log is one with the load's: it is flushed by the same writer and sent the same way. Where commits wait for a
    secondary, the job makes no more log than can be sent; else its send queue may grow. Fills what it takes in ``env``.
    """
    here = hw[node]
    made = log_busy * here[at.H_LOG_BW]
    sending = env[at.E_NSEND]
    way = min(send_bytes_s_max(node, env[at.E_WIRE], hw, ct), env[at.E_SYNC_WAY])
    way = through_gate(way, ct[at.C_LOG_BLOCK], env[at.E_SYNC_RTT], ct)
    most = SHARE_MOST if env[at.E_USERS] > 0.0 else 1.0
    if job[at.J_LOG] > 0.0:
        room = max(most * here[at.H_LOG_BW] - made, (1.0 - SHARE_MOST) * here[at.H_LOG_BW])
        if env[at.E_NSYNC] > 0.5:
            room = min(room, max(most * way - made, (1.0 - SHARE_MOST) * way))
        rate = min(rate, room / job[at.J_LOG])
    if job[at.J_NET] > 0.0:
        net = here[at.H_NET_BW]
        room = max(most * net - made * sending, (1.0 - SHARE_MOST) * net)
        rate = min(rate, room / job[at.J_NET])
        env[at.E_JOB_NET] = rate * job[at.J_NET] / net
    log_rate = rate * job[at.J_LOG]
    if log_rate > 0.0:
        env[at.E_JOB_LOG_RATE] += log_rate
        share = min(SHARE_MOST, log_rate / here[at.H_LOG_BW])
        env[at.E_JOB_LOG] = min(SHARE_MOST, env[at.E_JOB_LOG] + share)
        block_s = ct[at.C_LOG_BLOCK] / here[at.H_LOG_BW]
        env[at.E_LOG_LAT] += 0.5 * block_s * share / (1.0 - share)
        env[at.E_LOG_BW] *= 1.0 - share
        env[at.E_JOB_SEND] += log_rate / way
    env[at.E_JOB_SEND] = min(SHARE_MOST, env[at.E_JOB_SEND] + env[at.E_JOB_NET])
    return rate


@kernel
def take_shares(
    node: int, cpu_busy: float, data_busy: float, log_busy: float, hw: Array, ct: Array, jb: Array, env: Array
) -> None:
    """Let the node's jobs take what they can beside a load of these busy shares; fills ``env`` and their rates."""
    here = hw[node]
    forget_shares(here, env)
    cpu_busy = min(cpu_busy, BUSY_MOST)
    for slot in range(at.SLOTS):
        job = jb[node, slot]
        if job[at.J_LEFT] <= 0.0:
            continue
        busy = data_busy if slot == 0 else log_busy
        speed = speed_of(job, cpu_busy, here[at.H_CORES], here[at.H_THREADS], here[at.H_HT_YIELD])
        most = cpu_capacity(here) / here[at.H_SPEED]
        volume, processors, buffers, target = limits_of(job, cpu_busy, min(busy, BUSY_MOST), 0.0, most, speed)
        rate = min(min(volume, processors), min(buffers, target))
        room = SHARE_MOST * (most - env[at.E_BG_WORK] / here[at.H_SPEED]) - env[at.E_JOB_WORK] / here[at.H_SPEED]
        sent_s = job[at.J_LOG] * env[at.E_NSEND] * ct[at.C_SEND_CPU] / here[at.H_SPEED]  # of a database byte
        cost = job[at.J_WORK] + sent_s * job[at.J_TRANSFER]
        if (env[at.E_USERS] > 0.0 or sent_s > 0.0) and rate * cost > room * job[at.J_TRANSFER]:
            rate = max(room, (1.0 - SHARE_MOST) * most) * job[at.J_TRANSFER] / cost
        if job[at.J_SOURCE] > 0.5:
            source = jb[int(job[at.J_SOURCE]) - 1, 0]
            if source[at.J_LEFT] > 0.0:
                rate = min(rate, source[at.J_RATE])
        if job[at.J_LOG] + job[at.J_NET] > 0.0:
            rate = ways_share(node, job, rate, log_busy, hw, ct, env)
        job[at.J_RATE] = rate
        work = rate / job[at.J_TRANSFER] * cost * here[at.H_SPEED]
        env[at.E_JOB_WORK] += work
        running = min(1.0, rate / job[at.J_TRANSFER] * job[at.J_WORK] / speed / here[at.H_THREADS])
        hosts = min(1.0, job[at.J_BUFFERS] / here[at.H_THREADS])  # share of schedulers that have one of its workers
        env[at.E_RESUME] += hosts * running * 0.5 * min(job[at.J_QUANTUM], job[at.J_WORK])
        share = min(SHARE_MOST, rate / job[at.J_BANDWIDTH])
        piece = job[at.J_TRANSFER] / job[at.J_BANDWIDTH]
        behind = 0.5 * piece * share / (1.0 - share)
        if slot == 0:
            env[at.E_JOB_DATA] = share
            env[at.E_JOB_READ_WAIT] = behind
            env[at.E_READ_S] = here[at.H_READ_S] / (1.0 - share)
            env[at.E_WRITE_S] = here[at.H_WRITE_S] / (1.0 - share)
        else:
            env[at.E_JOB_LOG] = share
            env[at.E_LOG_LAT] = here[at.H_LOG_LAT] + behind
            env[at.E_LOG_BW] = here[at.H_LOG_BW] * (1.0 - share)
    env[at.E_BG_WORK] += env[at.E_JOB_WORK]


@kernel
def move_jobs(node: int, dt: float, jb: Array, tot: Array) -> None:
    """Book one tick of the node's jobs: bytes moved, volume reads, elapsed time (the last tick counts in part)."""
    for slot in range(at.SLOTS):
        job = jb[node, slot]
        if job[at.J_LEFT] <= 0.0:
            continue
        moved = job[at.J_RATE] * dt
        spent = dt
        if moved >= job[at.J_LEFT]:
            moved = job[at.J_LEFT]
            spent = moved / job[at.J_RATE]
        job[at.J_LEFT] -= moved
        job[at.J_ELAPSED] += spent
        if job[at.J_KIND] < 1.5:
            tot[node, at.T_BACKUP] += moved
        if slot == 0:
            transfers = moved / job[at.J_TRANSFER]
            stall = transfers * (job[at.J_LATENCY] + job[at.J_TRANSFER] / job[at.J_BANDWIDTH]) * 1e3
            tot[node, at.T_DATA_READS] += transfers * job[at.J_READ]
            tot[node, at.T_DATA_BYTES_READ] += moved * job[at.J_READ]
            tot[node, at.T_DATA_READ_STALL] += stall * job[at.J_READ]
            tot[node, at.T_DATA_WRITES] += transfers * job[at.J_WRITE]
            tot[node, at.T_DATA_BYTES_WRITTEN] += moved * job[at.J_WRITE]
            tot[node, at.T_DATA_WRITE_STALL] += stall * job[at.J_WRITE]
