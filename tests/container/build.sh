#!/usr/bin/env bash
# build.sh real|BINARY: the worker's image from SRC's docker/Dockerfile. `real` compiles in the build stage, as a user would
# (a quarter of an hour on 2 cores). With a finished BINARY, made on Debian bookworm, only the final stage is built, from the
# Dockerfile's own lines, with the binary where the build stage would have put it.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
. "$HERE/settings.sh"
what=${1:?real, or the path of a binary}
image=${WORKER_IMAGE:-plumbline-check}
# The syntax line makes the builder first request its frontend image, which is unavailable without a registry.
sed '/^# syntax=/d' "$SRC/docker/Dockerfile" >"$CT/Dockerfile"
if [ "$what" = real ]; then
    cp "$SRC/docker/Dockerfile.dockerignore" "$CT/Dockerfile.dockerignore"
    docker build --progress plain -f "$CT/Dockerfile" -t "$image" "$SRC"
else
    rm -rf "$CT/context/prebuilt"
    out=$CT/context/prebuilt/out
    install -D -m 0755 "$what" "$out/usr/local/bin/plumbline"
    strip --strip-debug "$out/usr/local/bin/plumbline"
    install -D -m 0644 "$(gcc -print-file-name=libgcc_s.so.1)" "$out/usr/lib/libgcc_s.so.1"
    install -d -m 0755 "$out/workspace/import"
    tar -C "$CT/context/prebuilt" -c out | docker import - stand-in/build:prebuilt >/dev/null
    sed -n '/^FROM gcr.io/,$p' "$CT/Dockerfile" | sed 's#--from=build#--from=stand-in/build:prebuilt#' >"$CT/context/prebuilt/Dockerfile"
    docker build -q -t "$image" "$CT/context/prebuilt"
fi
docker run --rm --read-only --cap-drop ALL --security-opt no-new-privileges --user 65532 --network none "$image" --version
