#!/bin/bash
# Forms availability group ag1 on sql1, sql2 and sql3 with the scripts in /aglab/sql. Each script looks first and does only what is
# missing, so this may run again: after a success, after an attempt that was cut short, after a failover, after a restart.
# Certificates travel as .cer files in a volume that the nodes share; a private key never leaves its node.
set -euo pipefail

NODES=(sql1 sql2 sql3)
SQL=/aglab/sql
SHARE=/var/opt/aglab
SQLCMDPASSWORD=$(cat /run/aglab/sa_password)
MASTER_KEY_PASSWORD=$(cat /run/aglab/master_key_password)
PEER_LOGIN_PASSWORD=$(cat /run/aglab/peer_login_password)
export SQLCMDPASSWORD MASTER_KEY_PASSWORD PEER_LOGIN_PASSWORD # sqlcmd reads $(NAME) in a script from its environment

case "${CLUSTER_TYPE:=NONE}" in
  NONE) options="CLUSTER_TYPE = NONE" failover=MANUAL ;;
  EXTERNAL) options="DB_FAILOVER = ON, CLUSTER_TYPE = EXTERNAL" failover=EXTERNAL ;;
  *)
    echo "init: CLUSTER_TYPE=$CLUSTER_TYPE is not known; use NONE or EXTERNAL"
    exit 2
    ;;
esac

say() { echo "init: $*"; }

run() { # node, then sqlcmd's own arguments
  local node=$1
  shift
  /opt/mssql-tools18/bin/sqlcmd -C -b -r 1 -l 15 -S "$node" -U sa -h -1 -W "$@" | { grep -v '^Changed database context' || true; }
}

ask() { # node, query: its one value
  run "$1" -Q "SET NOCOUNT ON; $2" | tr -d ' \r\n'
}

say "1/6 a key, a certificate and an endpoint on each node"
declare -A thumbprint
for node in "${NODES[@]}"; do
  rm -f "$SHARE/${node}_certificate.cer" # BACKUP CERTIFICATE refuses to overwrite a file
  run "$node" -v node="$node" share="$SHARE" -i "$SQL/01_certificate.sql"
  thumbprint[$node]=$(ask "$node" "SELECT CONVERT(varchar(64), thumbprint, 2) FROM sys.certificates WHERE name = N'${node}_certificate'")
  run "$node" -v node="$node" -i "$SQL/02_endpoint.sql"
done

say "2/6 each node trusts the others' certificates"
for node in "${NODES[@]}"; do
  for peer in "${NODES[@]}"; do
    [ "$peer" = "$node" ] && continue
    run "$node" -v peer="$peer" share="$SHARE" thumbprint="${thumbprint[$peer]}" -i "$SQL/03_trust_peer.sql"
  done
done

primary="" known=no
for node in "${NODES[@]}"; do # a failover may have moved the role
  role=$(ask "$node" "SELECT ISNULL(MAX(role_desc), 'NONE') FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1")
  [ "$role" = NONE ] || known=yes
  [ "$role" = PRIMARY ] && primary=$node
done

if [ -n "$primary" ]; then
  say "3/6 group ag1 is there; $primary is its primary"
elif [ "$known" = yes ] && [ "$CLUSTER_TYPE" = EXTERNAL ]; then
  for node in "${NODES[@]}"; do
    say "3/6 group ag1 has no primary; $node is asked to take the role"
    if run "$node" -i "$SQL/07_take_primary_role.sql"; then
      primary=$node
      break
    fi
  done
  [ -n "$primary" ] || exit 1
elif [ "$known" = yes ]; then
  say "group ag1 has no primary, and with CLUSTER_TYPE = NONE only you can say which copy counts:"
  say "ALTER AVAILABILITY GROUP ag1 FORCE_FAILOVER_ALLOW_DATA_LOSS on the node whose data you keep, then run this again"
  exit 1
else
  say "3/6 group ag1 with CLUSTER_TYPE = $CLUSTER_TYPE on sql1"
  run sql1 -v group_options="$options" failover_mode="$failover" -i "$SQL/04_create_group.sql"
  primary=sql1
fi

say "4/6 the secondaries join"
for node in "${NODES[@]}"; do
  [ "$node" = "$primary" ] && continue
  run "$node" -v cluster_type="$CLUSTER_TYPE" -i "$SQL/05_join_group.sql"
done

say "5/6 database OLTP: full recovery model, a full backup, into the group"
run "$primary" -i "$SQL/06_add_database.sql"

say "6/6 every copy synchronized"
run "$primary" -i "$SQL/08_wait_until_synchronized.sql"
say "availability group ag1 is ready; primary $primary"
