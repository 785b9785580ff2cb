#!/bin/sh
# Fuzzes the checkpoint readers with libFuzzer (clang 14) under address and undefined-behaviour
# sanitizers: scripts/fuzz_checkpoint.sh [SECONDS for each target]. A finding ends it and stays in
# build/fuzz/.
set -eu
seconds=${1:-120}
root=$(cd "$(dirname "$0")/.." && pwd)
out="$root/build/fuzz"
mkdir -p "$out/safetensors" "$out/config"
cd "$out"

flags="-std=c++20 -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -ffp-contract=off
  -DFMT_HEADER_ONLY=1 -I$root/src"
objects=""
for source in base/json base/check base/result base/float16 checkpoint/config_reader \
  checkpoint/draft_head_config checkpoint/foreign_format checkpoint/generation_config \
  checkpoint/json_fields checkpoint/json_file checkpoint/mapped_file checkpoint/mapping_guard checkpoint/model_type checkpoint/quantization_config \
  checkpoint/rope_config checkpoint/safetensors checkpoint/safetensors_index \
  checkpoint/tensor_names checkpoint/tensor_source; do
  object=$(echo "$source" | tr / _).o
  $(command -v ccache || true) clang++-14 $flags -fsanitize=fuzzer-no-link -c -o "$object" \
    "$root/src/$source.cc"
  objects="$objects $object"
done
for target in safetensors_fuzz config_fuzz; do
  clang++-14 $flags -fsanitize=fuzzer -o $target "$root/src/checkpoint/$target.cc" $objects
done

for model in "$root"/models/*/; do
  name=$(basename "$model")
  for file in config.json generation_config.json model.safetensors.index.json; do
    if [ -f "$model$file" ]; then cp "$model$file" "config/$name-$file"; fi
  done
done
printf '\000{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}\000ab' >safetensors/one
printf '\000{"__metadata__":{"format":"pt"},"a.b":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},"c":{"dtype":"F32","shape":[],"data_offsets":[4,8]}}\000abcdefgh' >safetensors/two
printf '\001\002\000\000\000\000\000\000\000{}' >safetensors/empty

./safetensors_fuzz -max_total_time="$seconds" -max_len=4096 -timeout=5 -print_final_stats=1 safetensors
./config_fuzz -max_total_time="$seconds" -max_len=16384 -timeout=5 -print_final_stats=1 config
