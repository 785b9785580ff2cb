#!/usr/bin/env bash
# Fuzzes the template engine under the address and undefined-behaviour sanitizers.
#   scripts/fuzz_template.sh [SECONDS] [WORK_DIR]      needs clang (tried with clang-14)
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
work=${2:-build/fuzz_template}
clang=${CLANG:-clang++-14}
mkdir -p "$work/corpus"

flags=(-std=c++20 -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
  -ffp-contract=off -DFMT_HEADER_ONLY=1 -Isrc)
sources=(src/text/jinja/*.cc src/text/utf8.cc src/base/json.cc src/base/check.cc src/base/result.cc)
objects=()
for source in "${sources[@]}"; do
  case $source in *_test.cc) continue ;; esac
  object="$work/${source//\//_}.o"
  objects+=("$object")
  if [[ ! $object -nt $source ]]; then "$clang" "${flags[@]}" -c "$source" -o "$object"; fi
done
"$clang" -fsanitize=fuzzer,address,undefined "${objects[@]}" -o "$work/template_fuzz"

# The corpus starts from the templates of the tests.
python3 - "$work/corpus" <<'PYTHON'
import json, pathlib, sys
cases = json.loads(pathlib.Path("src/text/jinja/template_cases.json").read_text())
for number, (source, _, _) in enumerate(cases["small"] + cases["random"][:500]):
    pathlib.Path(sys.argv[1], f"seed{number}").write_text(source)
for name, source in cases["templates"].items():
    pathlib.Path(sys.argv[1], "chat" + name.replace(" ", "_")).write_text(source)
PYTHON
"$work/template_fuzz" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 \
  -artifact_prefix="$work/" "$work/corpus"
