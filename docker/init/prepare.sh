#!/bin/bash
# Runs once before the nodes, as root: checks the licence, makes the passwords at first use, gives fresh volumes to uid 10001.
# Passwords: /secrets (a volume, for the nodes) and sa's also in /host (a folder of yours, 0600, kept out of git).
set -euo pipefail

case "${ACCEPT_EULA:-}" in
  Y | y | YES | yes) ;;
  *)
    echo "prepare: ACCEPT_EULA is not set. SQL Server runs only for who has accepted its licence"
    echo "prepare: (https://go.microsoft.com/fwlink/?LinkId=746388). If you accept it: ACCEPT_EULA=Y docker compose up init"
    exit 3
    ;;
esac

random() { # letters and digits; the tail meets SQL Server's password policy
  printf '%s_Aa1' "$(head -c 4096 /dev/urandom | base64 -w 0 | tr -dc 'A-Za-z0-9' | cut -c 1-20)"
}

kept=/secrets/sa_password
yours=/host/sa_password.txt
if [ -s "$kept" ] && [ -s "$yours" ] && [ "$(cat "$kept")" != "$(tr -d '\r\n' <"$yours")" ]; then
  echo "prepare: sa_password.txt is not the password that these volumes were made with; SQL Server ignores a new one."
  echo "prepare: put the old file back, delete it (it is written again), or start anew: docker compose down --volumes"
  exit 4
fi
if [ ! -s "$kept" ]; then
  if [ -s "$yours" ]; then
    tr -d '\r\n' <"$yours" >"$kept.new"
  else
    random >"$kept.new"
  fi
  mv "$kept.new" "$kept"
fi
for name in master_key_password peer_login_password; do
  if [ ! -s "/secrets/$name" ]; then
    random >"/secrets/$name.new"
    mv "/secrets/$name.new" "/secrets/$name"
  fi
done
if [ ! -s "$yours" ]; then
  (umask 077 && { cat "$kept"; echo; } >"$yours.new")
  chown "$(stat -c %u:%g /host)" "$yours.new"
  mv "$yours.new" "$yours"
fi
chmod 0400 /secrets/*_password /secrets/sa_password
chown 10001:0 /secrets /secrets/* /certificates
for data in /data/*; do
  [ "$(stat -c %u "$data")" = 10001 ] || chown -R 10001:0 "$data"
done
echo "prepare: ready; sa's password is in sa_password.txt of the secrets folder"
