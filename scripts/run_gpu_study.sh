#!/usr/bin/env bash
# Builds the GPU study and runs it: the one command behind docs/gpu-arithmetic.md. Needs an H100 or H200
# and nvcc 13, nothing else of the project's dependencies; for the peer's figures cuBLAS 13 on the library
# path or beside PyTorch.
#   scripts/run_gpu_study.sh [PART...]      parts as in `gpu_study`; default: all
# GPU_STUDY names a ready-made binary instead (CMake target gpu_study).
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${GPU_STUDY:-}
if [ -z "$binary" ]; then
  objects=build/gpu_study_objects
  binary=$objects/gpu_study
  mkdir -p "$objects"
  # The flags of bench/gpu/CMakeLists.txt.
  export flags="-std=c++20 -O3 -fmad=false -gencode=arch=compute_90a,code=sm_90a --expt-relaxed-constexpr \
    --extended-lambda -Isrc -I." objects
  ls bench/gpu/*.cu src/kernels/*/*.cu src/base/{check,result,float16}.cc |
    xargs -P "$(nproc)" -I{} sh -c 'nvcc $flags -c {} -o "$objects/$(echo {} | tr / .).o"'
  nvcc $flags -cudart static "$objects"/*.o -o "$binary" -ldl
fi

if ! ldconfig -p | grep -q 'libcublas.so.13'; then
  beside=$(python3 -c 'import nvidia.cu13 as m; print(list(m.__path__)[0] + "/lib")' 2>/dev/null || true)
  export LD_LIBRARY_PATH=${beside:-/usr/local/cuda/lib64}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit --format=csv,noheader || true
exec "$binary" "${@:-all}"
