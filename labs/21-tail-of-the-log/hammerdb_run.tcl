# HammerDB 5 or 6, chapter 21, tier laptop; written by scripts/hammerdb_scripts.py from lab.toml.
# The password comes from the environment: export AGLAB_SQL_PASSWORD=...; then: ./hammerdbcli tcl auto THIS_FILE
puts {SETTING CONFIGURATION}
dbset db mssqls
dbset bm TPC-C
diset connection mssqls_tcp true
diset connection mssqls_port 1433
diset connection mssqls_linux_server {sql1}
diset connection mssqls_linux_authent sql
diset connection mssqls_linux_odbc {ODBC Driver 18 for SQL Server}
diset connection mssqls_encrypt_connection true
diset connection mssqls_trust_server_cert true
diset connection mssqls_uid {sa}
diset connection mssqls_pass $::env(AGLAB_SQL_PASSWORD)
diset tpcc mssqls_dbase {tpcc}
diset tpcc mssqls_count_ware 20
diset tpcc mssqls_driver timed
diset tpcc mssqls_total_iterations 10000000
diset tpcc mssqls_raiseerror true
diset tpcc mssqls_rampup 2
diset tpcc mssqls_duration 3
diset tpcc mssqls_allwarehouse false
diset tpcc mssqls_checkpoint false
diset tpcc mssqls_timeprofile true
loadscript
vuset vu 8
vucreate
tcstart
puts {AGLAB run starts}
set job [ vurun ]
tcstop
vudestroy
regsub {^.*jobid=} $job {} job
jobs format JSON
puts {AGLAB result begins}
catch { jobs $job result }
puts {AGLAB result ends}
puts {AGLAB timing begins}
catch { jobs $job timing }
puts {AGLAB timing ends}
puts {AGLAB tcount begins}
catch { jobs $job tcount }
puts {AGLAB tcount ends}
puts {AGLAB run ended}
