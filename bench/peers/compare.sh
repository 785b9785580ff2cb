#!/bin/sh
# Measures speed beside llama.cpp and mlx-lm: bench/peers/compare.sh WORK [compare.py's options]
# WORK is a scratch folder: peers (1 GB) and synthetic models of the released shapes 0.8b and 2b (12 GB, most of it
# while they are made; 16 GB of memory). Needs cmake, ninja, g++ and the Python registry. What exists is kept.
# SHAPES (default "0.8b 2b") and KINDS (llama-quantize's names, default "Q4_0 Q4_K_M") choose the models.
set -eu
mkdir -p "$1"
work=$(readlink -f "$1")
shift
root=$(readlink -f "$(dirname "$0")/../..")
python=$work/venv/bin/python

if [ ! -x "$work/llama/bin/llama-bench" ]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" -q install scikit-build-core cmake ninja gguf==0.19.0 numpy mlx-lm==0.32.2 mlx-cpu==0.32.4
  "$work/venv/bin/pip" -q download --no-binary llama-cpp-python --no-deps --no-build-isolation -d "$work" \
    llama-cpp-python==0.3.36
  tar -xzf "$work/llama_cpp_python-0.3.36.tar.gz" -C "$work"
  cmake -G Ninja -S "$work/llama_cpp_python-0.3.36/vendor/llama.cpp" -B "$work/llama" -DCMAKE_BUILD_TYPE=Release \
    -DGGML_NATIVE=ON -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
    -DLLAMA_BUILD_SERVER=OFF > "$work/llama.log"
  ninja -C "$work/llama" llama-bench llama-quantize >> "$work/llama.log"
fi
cmake --preset release -S "$root" > /dev/null
cmake --build "$root/build/release" --target lockstep > "$work/build.log"
lockstep=$root/build/release/lockstep

models=
for shape in ${SHAPES:-0.8b 2b}; do
  [ -d "$work/$shape-mlx4" ] || "$lockstep" synth "$shape" "$work/$shape-mlx4"
  for kind in ${KINDS:-Q4_0 Q4_K_M}; do
    if [ ! -f "$work/$shape-$kind.gguf" ]; then
      if [ ! -f "$work/$shape.gguf" ]; then
        rm -rf "$work/$shape-bf16"
        "$lockstep" synth "$shape" "$work/$shape-bf16" --format bf16
        "$python" "$root/python/make_gguf.py" "$work/$shape-bf16" "$work/$shape.gguf" --type bf16
        rm -r "$work/$shape-bf16"
      fi
      "$work/llama/bin/llama-quantize" "$work/$shape.gguf" "$work/$shape-$kind.gguf" "$kind" >> "$work/llama.log" 2>&1
    fi
    models="$models $work/$shape-$kind.gguf"
  done
  rm -f "$work/$shape.gguf"
  models="$models $work/$shape-mlx4"
done
# shellcheck disable=SC2086
exec "$python" "$root/bench/peers/compare.py" --lockstep "$lockstep" --llama-bench "$work/llama/bin/llama-bench" \
  --mlx-python "$python" "$@" -- $models
