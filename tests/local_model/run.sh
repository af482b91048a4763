#!/bin/sh
# Builds llama.cpp's server and a model of random weights, and plays the scenes of tests/examples/local_model against them: a
# line a scene, and `N ok, M failed, K skipped`.
#
#   run.sh [SCENE…]
#   LLAMA_SERVER=PATH run.sh [SCENE…]    with a server that is there
#
# What is built stays in .plumbline/local-model (LOCAL_MODEL names another folder): the first time takes some twenty minutes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${LOCAL_MODEL:-$root/.plumbline/local-model}
debug=${CARGO_TARGET_DIR:-$root/target}/debug
cd "$root" || exit 1
mkdir -p "$folder" || exit 1
log=$folder/log

.ci/build && cargo build --locked --quiet -p plumbline-system-tests --example local_model || exit 1

if "$here/build.sh" "$folder" >"$log" 2>&1; then
    server=${LLAMA_SERVER:-$folder/build/bin/llama-server}
    exec "$debug/plumbline" __with-postgres -- \
        "$debug/examples/local_model" --server "$server" --model "$folder/model.gguf" "$@"
fi
echo "skipped: no inference server could be built: $(tail -n 1 "$log"); see $log" >&2
exec "$debug/examples/local_model" --skip "no inference server could be built: $(tail -n 1 "$log")"
