#!/bin/sh
# Makes this checkout ready: system packages, virtual environment, aglab itself. The second call returns at once.
# Usage: scripts/bootstrap.sh lab|book|test
# A missing system package is installed where that is allowed (root, or sudo without a password); otherwise this
# prints the one command that does it and exits 3.
set -eu
cd "$(dirname "$0")/.."
purpose=${1:-lab}
case "$purpose" in
  lab) extras="sweep,book" ;;
  book) extras="sweep,book" ;;
  test) extras="sweep,book,calibrate,test" ;;
  *) echo "bootstrap: '$purpose' must be lab, book or test" >&2; exit 2 ;;
esac

system=$(uname -s)
missing=""

good_python() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
find_python() {
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 /usr/bin/python3 /opt/homebrew/bin/python3; do
    if command -v "$candidate" >/dev/null 2>&1 && good_python "$candidate"; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

# Each package is asked for by what it gives, not by its name: a library built by hand is as good.
look() {
  missing=""
  python=$(find_python) || { python=""; missing="$missing python3 python3-venv"; }
  if [ "$system" = Linux ]; then
    loader=${python:-python3}
    if ! "$loader" -c 'import ctypes; ctypes.CDLL("libltdl.so.7")' >/dev/null 2>&1; then missing="$missing libltdl7"; fi
    if ! "$loader" -c 'import ctypes; ctypes.CDLL("libgssapi_krb5.so.2")' >/dev/null 2>&1; then missing="$missing libgssapi-krb5-2"; fi
    if [ "$purpose" = test ]; then
      if [ -z "${AGLAB_CHROMIUM:-}" ] && ! command -v chromium >/dev/null 2>&1 && ! command -v chromium-browser >/dev/null 2>&1 \
        && ! command -v google-chrome >/dev/null 2>&1; then missing="$missing chromium"; fi
      command -v tsql >/dev/null 2>&1 || missing="$missing freetds-bin"
      ls /usr/lib/*/odbc/libtdsodbc.so >/dev/null 2>&1 || missing="$missing tdsodbc"
    fi
  fi
  missing=${missing# }
}

look
if [ -n "$missing" ]; then
  if [ "$system" = Linux ] && command -v apt-get >/dev/null 2>&1; then
    command="apt-get install -y --no-install-recommends $missing"
    if [ "$(id -u)" = 0 ]; then become="env"; elif sudo -n true >/dev/null 2>&1; then become="sudo -n env"; else become=""; fi
    if [ -n "$become" ]; then
      echo "bootstrap: installing $missing"
      $become DEBIAN_FRONTEND=noninteractive apt-get update -q >/dev/null
      # shellcheck disable=SC2086
      $become DEBIAN_FRONTEND=noninteractive $command -q >/dev/null
      look
    fi
    if [ -n "$missing" ]; then
      echo "bootstrap: missing: $missing; install with: sudo apt-get update && sudo $command" >&2
      exit 3
    fi
  elif [ "$system" = Darwin ]; then
    echo "bootstrap: missing: Python 3.11 or later; install with: brew install python@3.12" >&2
    exit 3
  else
    echo "bootstrap: missing: $missing; install them with this system's package manager" >&2
    exit 3
  fi
fi

stamp=".venv/.ready-$purpose-$(cat pyproject.toml requirements.lock scripts/bootstrap.sh | cksum | tr ' ' '-')"
[ -e "$stamp" ] && exit 0
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -c 'import pip' >/dev/null 2>&1; then
  echo "bootstrap: creating .venv with $python"
  "$python" -m venv --clear .venv
fi
echo "bootstrap: installing aglab and what it needs ($extras); the first time takes a minute or two"
.venv/bin/python -m pip install -q --disable-pip-version-check --no-input -c requirements.lock -e ".[$extras]"
touch "$stamp"
