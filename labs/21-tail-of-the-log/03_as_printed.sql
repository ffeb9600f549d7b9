-- 03  The paper's script, as printed (one of its four databases).
-- It fails on a server that has no database tpcc_05, no drive K:, or neither.
ALTER DATABASE [tpcc_05] ADD LOG FILE ( NAME = N'TOL_05', FILENAME = N'K:\tail_05.ldf' , SIZE = 179200KB , FILEGROWTH = 0)
