# Sourced by the other scripts: where everything lies, and how the engine and its client are called.
CT=${CT:-${TMPDIR:-/tmp}/plumbline-container}
export CT
SRC=${SRC:?the checkout of Plumbline that is tried}
export DOCKER_HOST=${ENGINE:-unix://$CT/engine/docker.sock}
export DOCKER_CONFIG=$CT/client
mkdir -p "$CT" "$DOCKER_CONFIG/cli-plugins"
say() { printf '%s  %s\n' "$(date +%T)" "$*"; }
