#!/bin/sh
# Compares logits with llama.cpp: scripts/compare_llama_cpp.sh SOURCE WORK [SCRIPT]
# SCRIPT, of python/, is compare_llama_cpp.py or compare_converted.py.
# SOURCE is the unpacked source package of llama-cpp-python 0.3.36 (pip download --no-binary :all:),
# WORK a scratch folder of some 500 MB. Needs cmake, ninja, g++ and a network for two Python packages.
set -eu
source=$(readlink -f "$1")/vendor/llama.cpp
mkdir -p "$2"
work=$(readlink -f "$2")
root=$(readlink -f "$(dirname "$0")/..")
cmake -G Ninja -S "$source" -B "$work/llama" -DCMAKE_BUILD_TYPE=Release -DLLAMA_CURL=OFF \
  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF \
  -DGGML_OPENMP=OFF -DLLAMA_OPENSSL=OFF > "$work/llama.log"
ninja -C "$work/llama" llama llama-quantize >> "$work/llama.log"
bin=$work/llama/bin
g++ -O1 -std=c++17 -I"$source/include" -I"$source/ggml/include" \
  "$root/bench/llama_cpp/llama_logits.cc" -L"$bin" -Wl,-rpath,"$bin" -lllama -lggml -lggml-base \
  -o "$bin/llama_logits"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q install gguf==0.19.0 numpy mlx-lm==0.32.2 'mlx[cpu]==0.32.4'
cmake --preset release -S "$root" > /dev/null
cmake --build "$root/build/release" --target lockstep lockstep_logits > "$work/build.log"
exec "$work/venv/bin/python" "$root/python/${3:-compare_llama_cpp.py}" "$root/build/release" "$bin" \
  "$work/models"
