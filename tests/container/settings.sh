# Sourced by the other scripts: paths, and how to call the engine and its client.
CT=${CT:-${TMPDIR:-/tmp}/plumbline-container}
export CT
SRC=${SRC:?the checkout of Plumbline that is tried}
export DOCKER_HOST=${ENGINE:-unix://$CT/engine/docker.sock}
export DOCKER_CONFIG=$CT/client
mkdir -p "$CT" "$DOCKER_CONFIG/cli-plugins"
say() { printf '%s  %s\n' "$(date +%T)" "$*"; }
