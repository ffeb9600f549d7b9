#!/usr/bin/env bash
# Builds the wheel, installs it where its user may not write, and walks through it as that user, outside the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d)
cleanup() {
  [ -x "$place/env/bin/aglab" ] && aglab down >/dev/null 2>&1 || true
  chmod -R u+w "$place" 2>/dev/null || true
  rm -rf "$place"
}
trap cleanup EXIT

if [ "$(id -u)" = 0 ]; then user=nobody; as() { runuser -u "$user" -- "$@"; }; else user=$(id -un); as() { "$@"; }; fi
python=""
look() {
  for candidate in /usr/bin/python3 $(command -v python3.13 python3.12 python3.11 python3 || true); do
    if as "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$candidate; return; fi
  done
}
look
if [ -z "$python" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -q >/dev/null && apt-get install -y -q --no-install-recommends python3 python3-venv >/dev/null
  look
fi
if [ -z "$python" ]; then echo "wheel_smoke: no Python 3.11 with venv that user $user may run" >&2; exit 3; fi

.venv/bin/python -m build --wheel --no-isolation --outdir "$place/dist" . >/dev/null
"$python" -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check -c requirements.lock "$place"/dist/*.whl
mkdir "$place/home"
[ "$user" = "$(id -un)" ] || chown "$user" "$place/home"
chmod 755 "$place"
chmod -R a+rX,a-w "$place/env" "$place/dist"

cd "$place/home"
aglab() {
  as env -i PATH=/usr/bin:/bin HOME="$place/home" LANG=C.UTF-8 "$place/env/bin/aglab" "$@"
}
say() { printf '  %s\n' "$*"; }
aglab --help >/dev/null
say "lab list"
aglab lab list --json | grep 16-checkpoint-throttle >/dev/null
say "demo"
aglab demo --json --out "$place/home/demo" >"$place/demo.json"
grep -q hpe380-t6-tps-k750-avg "$place/demo.json"
say "up, sql, status, down"
aglab up --json >/dev/null
aglab sql sql1 "SELECT name FROM sys.databases WHERE name = N'OLTP'" | grep OLTP >/dev/null
aglab status --json | grep '"sql3"' >/dev/null
aglab down
"$place/env/bin/python" - "$user" <<'PY'
import sys
import psutil

for process in psutil.process_iter(["cmdline", "username"]):
    if process.info["username"] == sys.argv[1] and "aglab.twin" in " ".join(process.info["cmdline"] or []):
        sys.exit("wheel_smoke: a node is still running after aglab down")
PY
echo "wheel: ok"
