#!/usr/bin/env bash
# Fuzzes the readers of files that others wrote, with libFuzzer (clang 14) under the address and
# undefined-behaviour sanitizers:   scripts/fuzz.sh [SECONDS for each [NAME ...]]
# The names stand in tests/fuzz/CMakeLists.txt; the folders beside it hold what each begins with. What
# is found on the way stays in build/fuzz/corpus. A finding ends its fuzzer, lies in build/fuzz/findings, and is
# this script's failure.
set -uo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
all=$(sed -n 's/^lockstep_fuzzer(NAME \([a-z_]*\) .*/\1/p' tests/fuzz/CMakeLists.txt)
names=${*:-$all}
for name in $names; do
  [[ " $all " == *[[:space:]]$name[[:space:]]* ]] || { echo "fuzz.sh: no fuzzer $name; there are" $all >&2; exit 2; }
done

# Bytes that an input may have at most, and seconds that it may take: templates loop up to their limits.
declare -A longest=([config]=16384 [prompt_cache]=12288 [tokenizer]=8192) slowest=([template]=20)

scripts/install_dependencies.sh fuzz || exit 1
cmake --preset fuzz >/dev/null || exit 1
cmake --build --preset fuzz --target $(printf '%s_fuzz ' $names) -- --quiet || exit 1
mkdir -p build/fuzz/findings
failed=()
for name in $names; do
  mkdir -p "build/fuzz/corpus/$name"
  log=build/fuzz/$name.log
  if "build/fuzz/${name}_fuzz" -max_total_time="$seconds" -max_len="${longest[$name]:-4096}" \
      -timeout="${slowest[$name]:-5}" -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/findings/$name-" \
      "build/fuzz/corpus/$name" "tests/fuzz/$name" >"$log" 2>&1; then
    echo "$name: $(grep -o 'number_of_executed_units: .*' "$log" | grep -o '[0-9]*') inputs, nothing found"
  else
    failed+=("$name")
    tail -n 40 "$log"
    echo "$name: FAILED, see $log"
  fi
done
[[ ${#failed[@]} -eq 0 ]] || { echo "found by: ${failed[*]}" >&2; exit 1; }
