-- 03  Deadlocks to the errorlog, as the paper's authors did with -T1204 and -T1222. Until the next restart.
DBCC TRACEON (1222, -1) WITH NO_INFOMSGS;
DBCC TRACEON (1204, -1) WITH NO_INFOMSGS;
DBCC TRACESTATUS (-1);
