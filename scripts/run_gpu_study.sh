#!/usr/bin/env bash
# Builds the GPU study and runs it, the one command behind docs/gpu-arithmetic.md. Needs an H100 or H200,
# nvcc 13 and, for the peer's figures, cuBLAS 13 on the library path or beside PyTorch.
#   scripts/run_gpu_study.sh [PART...]      parts as in `gpu_study`; default: all
# GPU_STUDY names a ready-made binary instead.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${GPU_STUDY:-}
if [ -z "$binary" ]; then
  cmake --preset release -DLOCKSTEP_CUDA=ON -DLOCKSTEP_BUILD_TESTS=OFF >/dev/null
  cmake --build --preset release --target gpu_study -- --quiet
  binary=build/release/bench/gpu/gpu_study
fi

if ! ldconfig -p | grep -q 'libcublas.so.13'; then
  beside=$(python3 -c 'import nvidia.cu13, os; print(os.path.join(list(nvidia.cu13.__path__)[0], "lib"))' 2>/dev/null || true)
  export LD_LIBRARY_PATH=${beside:-/usr/local/cuda/lib64}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit --format=csv,noheader || true
exec "$binary" "${@:-all}"
