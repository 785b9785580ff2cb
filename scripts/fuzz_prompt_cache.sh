#!/bin/sh
# Fuzzes the reader of prompt-cache files with libFuzzer (clang 14) under address and
# undefined-behaviour sanitizers: scripts/fuzz_prompt_cache.sh [SECONDS]. A finding ends it and stays
# in build/fuzz/. The corpus there is begun with whole files.
set -eu
seconds=${1:-120}
root=$(cd "$(dirname "$0")/.." && pwd)
out="$root/build/fuzz"
mkdir -p "$out/prompt_cache"
cd "$out"

flags="-std=c++20 -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -ffp-contract=off
  -DFMT_HEADER_ONLY=1 -I$root/src"
objects=""
for source in base/check base/result base/hash128 model/sequence_state model/page_pool model/sequence_state_io \
  runtime/prompt_cache/cache_file; do
  object=$(echo "$source" | tr / _).o
  $(command -v ccache || true) clang++-14 $flags -fsanitize=fuzzer-no-link -c -o "$object" \
    "$root/src/$source.cc"
  objects="$objects $object"
done
clang++-14 $flags -fsanitize=fuzzer -o prompt_cache_fuzz \
  "$root/src/runtime/prompt_cache/cache_file_fuzz.cc" $objects
clang++-14 $flags -o prompt_cache_seeds "$root/src/runtime/prompt_cache/seed_files_fuzz.cc" $objects
./prompt_cache_seeds prompt_cache
./prompt_cache_fuzz -max_total_time="$seconds" -max_len=12288 -timeout=5 -print_final_stats=1 prompt_cache
