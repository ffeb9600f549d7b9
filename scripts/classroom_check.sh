#!/usr/bin/env bash
# Three learners on a hub on this machine, each with JupyterLab's server and a private twin at the same time: shows that they do not see
# one another's nodes, passwords or predictions, and what a seat weighs. Needs node and npm (the hub's proxy) and pip; no Kubernetes.
# Minutes the first time. Packages go to AGLAB_CLASSROOM_DIR (default /var/tmp/aglab-classroom) and stay there for the next time. Usage: classroom_check.sh [SEATS]
set -euo pipefail
cd "$(dirname "$0")/.."
seats=${1:-3}
where=${AGLAB_CLASSROOM_DIR:-/var/tmp/aglab-classroom}
python=${PYTHON:-/usr/bin/python3} # one that other users may run: each seat has a user id of its own
jupyterhub=5.4.4                   # as docker/classroom/Dockerfile
for tool in node npm "$python"; do
  command -v "$tool" >/dev/null 2>&1 || { echo "classroom_check: $tool is not installed"; exit 3; }
done
"$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  { echo "classroom_check: $python is older than 3.11 or has no venv; name another with PYTHON=, or apt-get install python3-venv"; exit 3; }
mkdir -p "$where"
chmod 0755 "$where"
if ! "$where/env/bin/python" -c "import jupyterhub, sys; sys.exit(jupyterhub.__version__ != '$jupyterhub')" 2>/dev/null; then
  "$python" -m venv "$where/env"
  "$where/env/bin/pip" install --quiet --disable-pip-version-check -c requirements.lock . "jupyterhub==$jupyterhub"
fi
[ -x "$where/node_modules/.bin/configurable-http-proxy" ] ||
  npm install --silent --no-fund --no-audit --prefix "$where" configurable-http-proxy@5
# aglab itself as it is in this checkout, without a new installation
rm -rf "$where/site"
mkdir -p "$where/site"
cp -r src/aglab "$where/site/aglab"
rm -rf "$where/site/aglab/_bundle"
mkdir "$where/site/aglab/_bundle"
cp -r data labs notebooks "$where/site/aglab/_bundle/"
export PATH="$where/env/bin:$where/node_modules/.bin:$PATH" PYTHONPATH="$where/site" AGLAB_CACHE_DIR="$where/cache"
(umask 0 && mkdir -p "$where/cache" && python -c "from aglab.engine import Flow; from aglab.scenario import Scenario
[Flow(Scenario.default(replicas=count), seed=1).advance(1.0) for count in (1, 3)]") # as in the image: compiled once
exec python scripts/classroom_check.py "$seats"
