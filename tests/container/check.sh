#!/usr/bin/env bash
# Builds Plumbline's image and runs every scene of its compose file: one line per scene, and `N ok, M failed, K skipped`. Without
# a registry and a running engine, it starts its own engine and makes base images from Debian's packages. The log of what is done
# before the scenes is CT/log.
#
#   check.sh [SCENE…]            with the debug build of this checkout
#   BUILD=real check.sh          all of the Dockerfile, compiled in its build stage
#   BUILD=PATH check.sh          with an existing binary
#   ENGINE=unix://… check.sh     on another engine, which is left running
set -uo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
export SRC=${SRC:-$(cd "$HERE/../.." && pwd)}
. "$HERE/settings.sh"
export WORKER_IMAGE=${WORKER_IMAGE:-plumbline-check}
log=$CT/log
: >"$log"

skip() { exec python3 "$HERE/scenes.py" --skip "$*"; }

if [ -z "${ENGINE:-}" ]; then
    [ "$(id -u)" = 0 ] || skip "an engine of its own needs root; run it as root, or name an engine in ENGINE"
    for program in dockerd debootstrap iptables python3 curl; do
        command -v "$program" >/dev/null || skip "$program is not installed; on Debian: apt-get install docker.io debootstrap iptables python3 curl"
    done
    "$HERE/engine.sh" start >>"$log" 2>&1 || skip "no engine could be started: $(tail -1 "$log")"
    trap '"$HERE/engine.sh" stop >>"$log" 2>&1' EXIT
fi
docker compose version >>"$log" 2>&1 || "$HERE/tools.sh" >>"$log" 2>&1 || skip "the compose plugin could not be had: $(tail -1 "$log")"
case ${BUILD:-debug} in
real) binary=real RUST=yes ;;
debug)
    cargo build --quiet --manifest-path "$SRC/Cargo.toml" -p plumbline >>"$log" 2>&1 || { tail -20 "$log" >&2; exit 1; }
    binary=${CARGO_TARGET_DIR:-$SRC/target}/debug/plumbline RUST=no
    ;;
*) binary=$BUILD RUST=no ;;
esac
RUST=$RUST "$HERE/images.sh" >>"$log" 2>&1 || skip "the base images could not be made: $(tail -1 "$log")"
"$HERE/build.sh" "$binary" >>"$log" 2>&1 || { tail -20 "$log" >&2; exit 1; }
python3 "$HERE/scenes.py" "$@"
