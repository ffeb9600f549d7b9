#!/bin/bash
# Healthy: T-SQL answers, and Always On is enabled. The value asked for can come from nothing else.
set -euo pipefail
SQLCMDPASSWORD=$(cat /run/aglab/sa_password)
export SQLCMDPASSWORD
/opt/mssql-tools18/bin/sqlcmd -C -b -l 5 -t 5 -S 127.0.0.1 -U sa -h -1 -W \
  -Q "SET NOCOUNT ON; SELECT 'aglab-' + CONVERT(varchar(10), 40 + CONVERT(int, SERVERPROPERTY('IsHadrEnabled')))" |
  grep -qx 'aglab-41'
