#!/usr/bin/env bash
# make test-docker: the containers' tests on a real Docker Engine, the twin as the node image. Brings what a Debian CI lacks, when run
# as root; ends what it started. --short leaves out what is marked slow (all notebooks but three, restarts). AGLAB_BASE=debootstrap makes the image without a registry (the default as root).
set -euo pipefail
cd "$(dirname "$0")/.."
begin=$SECONDS
select=docker
if [ "${1:-}" = --short ]; then
  select="docker and not slow"
  shift
fi
exports=""
stop() { [ -z "$exports" ] || scripts/install_docker.sh stop; }
trap stop EXIT
if [ "$(id -u)" = 0 ]; then
  exports=$(scripts/install_docker.sh start)
  eval "$exports"
  export AGLAB_BASE=${AGLAB_BASE:-debootstrap}
fi
docker version --format 'engine {{.Server.Version}}'
docker compose version
echo "docker ready after $((SECONDS - begin)) s"
scripts/node_image.sh aglab-twin-node
echo "image ready after $((SECONDS - begin)) s"
.venv/bin/python -m pytest tests/docker -m "$select" -x -v --durations=0 --durations-min=1 "$@"
echo "docker round: $((SECONDS - begin)) s"
