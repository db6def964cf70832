#!/bin/sh
# allot's scheduler and controllers beside the real kube-apiserver, with the scenarios of main.txt.
# usage: beside.sh BINARY [REAL]; REAL (or $ALLOT_REAL) is a folder with up.sh and down.sh that start and stop a real
# control plane (up.sh DIR [--without scheduler,controllers]), and $KUBE_BIN the folder of its programs.
set -eu
allot=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
real=${2:-${ALLOT_REAL:-$root/../shared/oracle/real}}
if [ ! -x "$real/up.sh" ] && [ ! -f "$real/up.sh" ]; then
  echo "skipped: no real control plane to start (looked for $real/up.sh; set ALLOT_REAL)"
  exit 0
fi
if [ ! -x "${KUBE_BIN:-}/kube-apiserver" ]; then
  echo "skipped: the real programs are not built (build them with $real/build.sh DIR and set KUBE_BIN=DIR)"
  exit 0
fi
status=0
# run NAME WITHOUT SCENARIO-FLAGS...: starts the real one without a part and ours in its place.
run() {
  name=$1 without=$2
  shift 2
  work=$(mktemp -d)
  echo "== $name"
  bash "$real/up.sh" "$work/real" --bin "$KUBE_BIN" --without "$without" >"$work/up.log" 2>&1 || { cat "$work/up.log"; exit 1; }
  kubeconfig=$work/real/kubeconfig
  pids=""
  "$allot" scheduler --kubeconfig "$kubeconfig" >"$work/scheduler.log" 2>&1 &
  pids="$pids $!"
  case $without in *controllers*)
    "$allot" controllers --kubeconfig "$kubeconfig" --controllers '*,-node-lifecycle-controller' >"$work/controllers.log" 2>&1 &
    pids="$pids $!" ;;
  esac
  sleep 2
  python3 "$root/tools/scenario.py" check --kubeconfig "$kubeconfig" "$@" \
    "$root/tests/scenarios" "$root/tests/scenarios/expected" || status=1
  # shellcheck disable=SC2086
  kill $pids 2>/dev/null || true
  bash "$real/down.sh" "$work/real" >/dev/null 2>&1 || true
  rm -rf "$work"
}
run "scheduler in place of kube-scheduler" scheduler --list "$root/tests/scenarios/main.txt"
run "scheduler and controllers" scheduler,controllers --list "$here/claims.txt"
exit $status
