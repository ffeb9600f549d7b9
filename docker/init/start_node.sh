#!/bin/bash
# Starts SQL Server in the foreground as process 1, so that it hears "docker stop" itself. The password comes from a file: it is
# in no environment that "docker inspect" shows. AGLAB_STARTUP_OPTIONS: startup options such as "-k100 -T1222".
set -euo pipefail
MSSQL_SA_PASSWORD=$(cat /run/aglab/sa_password)
export MSSQL_SA_PASSWORD
# shellcheck disable=SC2086  # options are words
exec /opt/mssql/bin/sqlservr ${AGLAB_STARTUP_OPTIONS:-}
