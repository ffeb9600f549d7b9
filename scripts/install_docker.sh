#!/usr/bin/env bash
# A Docker Engine for CI on Debian, as root: Debian's docker.io, Compose from its Go module, and a dockerd of its own that touches no
# other. Prints two lines to evaluate: eval "$(scripts/install_docker.sh start)"; later: scripts/install_docker.sh stop
# Where docker and its Compose plugin work already, it starts nothing.
set -euo pipefail
where=${AGLAB_DOCKER_DIR:-/var/tmp/aglab-docker}
compose=v2.40.3
plugins=$where/config/cli-plugins

stop() {
  [ -f "$where/docker.pid" ] || return 0
  kill "$(cat "$where/docker.pid")" 2>/dev/null || true
  tail --pid="$(cat "$where/docker.pid")" -f /dev/null 2>/dev/null || true
  rm -f "$where/docker.pid"
}

compose_from_go() { # the plugin is a plain Go program; its module cannot be installed directly because it has replace lines
  if ! command -v go >/dev/null 2>&1 || [ "$(printf '%s\n' 1.24 "$(go env GOVERSION | sed 's/^go//')" | sort -V | head -1)" != 1.24 ]; then
    echo "install_docker: Go 1.24 or later is needed to build Compose; or put docker-compose into ~/.docker/cli-plugins" >&2
    exit 3
  fi
  local source
  mkdir -p "$where/build"
  cd "$where/build"
  [ -f go.mod ] || go mod init aglab.invalid/compose >&2
  source=$(go mod download -json "github.com/docker/compose/v2@$compose" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  rm -rf source
  cp -r "$source" source
  chmod -R u+w source
  cd source
  CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$compose" -o "$plugins/docker-compose" ./cmd >&2
  cd / && rm -rf "$where/build"
}

case "${1:-start}" in
  stop) stop ;;
  start)
    if docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; then
      exit 0
    fi
    if ! command -v dockerd >/dev/null 2>&1 || ! command -v debootstrap >/dev/null 2>&1; then
      { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        docker.io debootstrap iptables ca-certificates; } >&2
    fi
    mkdir -p "$plugins"
    export DOCKER_CONFIG=$where/config DOCKER_HOST=unix://$where/docker.sock
    if ! docker compose version >/dev/null 2>&1; then
      compose_from_go
    fi
    if ! docker info >/dev/null 2>&1; then
      rm -f "$where/docker.pid"
      setsid dockerd --data-root "$where/data" --exec-root "$where/exec" --pidfile "$where/docker.pid" \
        -H "$DOCKER_HOST" --log-level warn >"$where/dockerd.log" 2>&1 </dev/null &
      for _ in $(seq 300); do
        docker info >/dev/null 2>&1 && break
        kill -0 $! 2>/dev/null || break
        sleep 0.1
      done
      docker info >/dev/null 2>&1 || { tail -5 "$where/dockerd.log" >&2; exit 1; }
    fi
    echo "export DOCKER_CONFIG=$DOCKER_CONFIG DOCKER_HOST=$DOCKER_HOST"
    ;;
  *)
    echo "usage: install_docker.sh start|stop" >&2
    exit 2
    ;;
esac
