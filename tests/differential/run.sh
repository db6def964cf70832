#!/bin/sh
# Long comparisons of the allocator and of CEL, on the release build. Called by `./dev differential`.
set -eu
cd "$(dirname "$0")/../.."

usage() {
  cat <<'USAGE'
usage: ./dev differential [WHAT [SEED COUNT]]

  oracle [SEED COUNT]       random problems against the allocator of Kubernetes 1.37.2 (default: 1 20000), half of
                            them of mix "wide"; some 45 a second and core
  plain [SEED COUNT]        random problems, the pruned search against the plain one (default: 1 1000000)
  exhaustive                every instance of up to 5 devices and 3 requests over a small alphabet, and of 2 or 3
                            counter sets with up to 3 devices each, to the end
  cel [COUNT SEED]          device expressions against the CEL package of Kubernetes
  (nothing)                 oracle, plain with 100000, and cel

The real code is built with Go 1.26 from ../shared/oracle (or $ALLOT_SHARED/oracle) into build/oracle; $ALLOT_ORACLE_ALLOCATOR
and $ALLOT_ORACLE_CEL name programs built elsewhere. Without Go and without these, what needs them is skipped. Work is
split over all cores. The exit code is 0 only when nothing differs.
USAGE
}

check=build/release/tests/differential/allocation_check
shared=${ALLOT_SHARED:-../shared}
jobs=$(nproc)

# Prints the path of the real program NAME; builds it when Go is there.
oracle_of() {
  name=$1
  given=$2
  if [ -n "$given" ]; then
    echo "$given"
  elif command -v go >/dev/null && [ -d "$shared/oracle/$name" ]; then
    mkdir -p build/oracle
    out="$(pwd)/build/oracle/$name"
    [ -x "$out" ] || (cd "$shared/oracle" && go build -o "$out" "./$name") || return 0
    echo "$out"
  fi
}

# Waits for the processes; fails when one of them did. Its variable is its own: callers keep theirs in `failed`.
all_done() {
  bad=0
  for pid in $1; do wait "$pid" || bad=1; done
  return "$bad"
}

# Runs `allocation_check ARGS SEED COUNT` with the count split over the cores.
split() {
  seed=$1
  count=$2
  shift 2
  part=$(((count + jobs - 1) / jobs))
  pids=""
  i=0
  while [ "$i" -lt "$jobs" ]; do
    "$check" "$@" $((seed + i * part)) "$part" &
    pids="$pids $!"
    i=$((i + 1))
  done
  all_done "$pids"
}

oracle() {
  program=$(oracle_of allocator "${ALLOT_ORACLE_ALLOCATOR:-}")
  if [ -z "$program" ]; then
    echo "differential: skipped, the real allocator needs Go and $shared/oracle"
    return 0
  fi
  half=$(((${2:-20000} + 1) / 2))
  failed=0
  split "${1:-1}" "$half" oracle "$program" usual || failed=1
  split "${1:-1}" "$half" oracle "$program" wide || failed=1
  return "$failed"
}

plain() {
  third=$(((${2:-1000000} + 2) / 3))
  failed=0
  split "${1:-1}" "$third" plain usual || failed=1
  split "${1:-1}" "$third" plain wide || failed=1
  split "${1:-1}" "$third" plain sets || failed=1
  return "$failed"
}

exhaustive() {
  pids=""
  i=0
  while [ "$i" -lt "$jobs" ]; do
    "$check" exhaustive "$i" "$jobs" &
    pids="$pids $!"
    i=$((i + 1))
  done
  all_done "$pids"
}

cel() {
  program=$(oracle_of cel "${ALLOT_ORACLE_CEL:-}")
  if [ -z "$program" ]; then
    echo "differential: skipped, the real CEL package needs Go and $shared/oracle"
    return 0
  fi
  ALLOT_ORACLE_CEL=$program python3 tests/differential/cel_check.py build/release/src/allot/allot "${1:-2000}" "${2:-1}"
}

what=${1:-all}
[ $# -eq 0 ] || shift
case "$what" in
  oracle) oracle "$@" ;;
  plain) plain "$@" ;;
  exhaustive) exhaustive ;;
  cel) cel "$@" ;;
  all)
    failed=0
    oracle || failed=1
    plain 1 100000 || failed=1
    cel || failed=1
    exit "$failed"
    ;;
  *) usage; [ "$what" = help ] || exit 2 ;;
esac
