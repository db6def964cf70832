#!/bin/sh
# The CEL engine beside the real Kubernetes package, in one run: compiling, one device, 100,000 devices, and the ratios as a table.
# usage: bench/compare_cel.sh CEL_BENCH [ROUNDS]; needs $ALLOT_CEL_ORACLE (a program around the real package).
set -eu
bench=$1
rounds=${2:-5}
oracle=${ALLOT_CEL_ORACLE:-}
[ -x "$oracle" ] || { echo "skipped: set ALLOT_CEL_ORACLE to a program around the real package"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ours() {
  "$bench" --benchmark_filter='Compile|Exact|Test|Slots|Fleet' --benchmark_min_time=0.05 --benchmark_repetitions="$rounds" \
    --benchmark_format=json >"$work/ours$1.json" 2>/dev/null
}
# Ours before and after, so that neither has the quieter half of the run to itself.
ours 1
"$oracle" -bench -rounds "$rounds" >"$work/theirs.txt"
ours 2
python3 "$(dirname "$0")/compare_cel.py" "$work/theirs.txt" "$work/ours1.json" "$work/ours2.json"
