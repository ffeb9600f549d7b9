# HammerDB 5 or 6, chapter 13, tier laptop; written by scripts/hammerdb_scripts.py from lab.toml.
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
diset tpcc mssqls_num_vu 4
diset tpcc mssqls_use_bcp false
puts {AGLAB build starts}
buildschema
puts {AGLAB build ended}
