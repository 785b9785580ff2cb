#!/bin/sh
# soak.sh [SECONDS [SEED]]: random load on the engine for so long (an hour unless said otherwise),
# every reply compared bit by bit with the same request alone, then 10,000 requests in flat memory.
# Exit codes: 0 nothing differed, 1 something did, 2 usage.
set -eu
cd "$(dirname "$0")/.."
cmake --preset release > /dev/null
cmake --build --preset release --target runtime_soak
exec build/release/src/runtime/runtime_soak "${1:-3600}" ${2:+"$2"}
