"""A full log, as sessions and the load meet it: error 9002 with the reason, until a log backup."""

from twin_client import fails

REASON = "SELECT log_reuse_wait_desc FROM sys.databases WHERE name = 'OLTP'"
FULL = "The transaction log for database 'OLTP' is full due to 'LOG_BACKUP'."


def test_half_an_hour_without_log_backups_fills_the_log(own):
    """The load stops, sessions get 9002, the errorlog says it once, and a log backup lets both go on."""
    own.sql("CREATE TABLE dbo.f (id int)", database="OLTP")
    own.sql("EXEC twin.start_workload @users = 100")
    own.sql("EXEC twin.advance @seconds = 3600")
    assert own.value(REASON) == "LOG_BACKUP"
    assert FULL in fails(own.connect(database="OLTP"), "INSERT INTO dbo.f VALUES (1)")
    assert own.value("SELECT COUNT(*) FROM dbo.f", database="OLTP") == 0
    assert len(own.rows("EXEC sp_readerrorlog 0, 1, N'9002'")) == 1
    assert len(own.rows("EXEC sp_readerrorlog 0, 1, N'is full due to'")) == 1
    made = """SELECT cntr_value AS n FROM sys.dm_os_performance_counters
              WHERE counter_name = 'Transactions/sec' AND instance_name = 'OLTP'"""
    stood = own.value(made)
    own.sql("EXEC twin.advance @seconds = 60")
    assert own.value(made) - stood < 10
    own.sql("BACKUP LOG OLTP TO DISK = N'NUL'")
    own.sql("EXEC twin.advance @seconds = 60")
    assert own.value(made) - stood > 10_000
    own.sql("INSERT INTO dbo.f VALUES (1)", database="OLTP")
    assert own.value("SELECT COUNT(*) FROM dbo.f", database="OLTP") == 1
    own.sql("EXEC twin.stop_workload")
