#!/usr/bin/env bash
# Builds the image "aglab-twin-node": the twin as a stand-in for a SQL Server image (docker/node). Usage: node_image.sh [TAG]
# AGLAB_BASE names a base image (default debian:bookworm-slim). Where no image registry is reached, run it as root with
# AGLAB_BASE=debootstrap: it makes a base from Debian's packages.
set -euo pipefail
cd "$(dirname "$0")/.."
tag=${1:-aglab-twin-node}
base=${AGLAB_BASE:-debian:bookworm-slim}
python=.venv/bin/python
packages="numpy numba pandas pyarrow cryptography platformdirs psutil mssql-python"
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

# The packages' own versions for the image's Python, whatever Python runs here; aglab itself from this checkout.
"$python" -m pip install --quiet --disable-pip-version-check --target "$context/site" --no-compile --only-binary=:all: \
  --python-version 3.11 --implementation cp --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
  --platform manylinux2014_x86_64 -c requirements.lock $packages &
installing=$!

if [ "$base" = debootstrap ]; then
  base=aglab-base:bookworm
  if ! docker image inspect "$base" >/dev/null 2>&1; then
    debootstrap --variant=minbase --include=python3,libltdl7,libkrb5-3,libgssapi-krb5-2,ca-certificates,iproute2 bookworm "$context/base" >"$context/base.log" 2>&1 ||
      { tail -5 "$context/base.log"; exit 1; }
    rm -rf "$context/base/var/cache/apt" "$context/base/var/lib/apt/lists" "$context/base/usr/share/doc" "$context/base/usr/share/locale"
    tar -C "$context/base" -c . | docker import - "$base" >/dev/null
    rm -rf "$context/base"
  fi
fi
wait "$installing"

mkdir -p "$context/site/aglab"
cp -r src/aglab/. "$context/site/aglab/"
mkdir -p "$context/site/aglab/_bundle"
cp -r data labs "$context/site/aglab/_bundle/"
find "$context/site" -name __pycache__ -prune -exec rm -rf {} +
# the wheels' own tests and headers are not needed to run
find "$context/site" -depth -type d \( -name tests -o -name include \) -path "*/site/*" -not -path "*/aglab/*" -exec rm -rf {} + 2>/dev/null || true
cp docker/node/Dockerfile docker/node/sqlservr docker/node/sqlcmd docker/node/world docker/node/tc docker/node/hammerdbcli "$context/"
rm -f "$context/base.log"
DOCKER_BUILDKIT=${DOCKER_BUILDKIT:-0} docker build --quiet --build-arg "BASE=$base" --tag "$tag" "$context" >/dev/null
docker image inspect --format "$tag: {{.Id}}, {{.Size}} bytes" "$tag"
