#!/bin/sh
# Fuzzes the reader of stage dumps with libFuzzer (clang 14) under address and undefined-behaviour
# sanitizers: scripts/fuzz_stages.sh [SECONDS]. It begins with the corpus of tests/corpus/stages; a
# finding ends it and stays in build/fuzz/.
set -eu
seconds=${1:-120}
root=$(cd "$(dirname "$0")/.." && pwd)
out="$root/build/fuzz"
mkdir -p "$out/stages"
cd "$out"

flags="-std=c++20 -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -ffp-contract=off
  -DFMT_HEADER_ONLY=1 -I$root/src"
objects=""
for source in base/json base/check base/result base/float16 checkpoint/json_fields checkpoint/json_file checkpoint/mapping_guard \
  checkpoint/mapped_file checkpoint/output_file checkpoint/safetensors checkpoint/tensor_source \
  verify/stages/compare verify/stages/dump verify/stages/dump_reader; do
  object=stages_$(echo "$source" | tr / _).o
  $(command -v ccache || true) clang++-14 $flags -fsanitize=fuzzer-no-link -c -o "$object" \
    "$root/src/$source.cc"
  objects="$objects $object"
done
clang++-14 $flags -fsanitize=fuzzer -o stages_fuzz "$root/src/verify/stages/dump_fuzz.cc" $objects

./stages_fuzz -max_total_time="$seconds" -max_len=4096 -timeout=5 -print_final_stats=1 stages \
  "$root/tests/corpus/stages"
