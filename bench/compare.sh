#!/bin/sh
# Template-claim pods a second, server CPU a pod and memory: allot beside the real Kubernetes 1.37.2 in turn, one client for both.
# usage: bench/compare.sh BINARY [RUNS]; needs $KUBE_BIN (etcd, kube-apiserver, kube-controller-manager, kube-scheduler),
# $ALLOT_REAL (the folder of up.sh and down.sh) and $ALLOT_LOAD (the load generator).
set -eu
allot=$1
runs=${2:-3}
for needed in "${KUBE_BIN:-}/kube-apiserver" "${ALLOT_REAL:-}/up.sh" "${ALLOT_LOAD:-}"; do
  [ -e "$needed" ] || { echo "skipped: $needed is missing (set KUBE_BIN, ALLOT_REAL and ALLOT_LOAD)"; exit 0; }
done
ours() {
  work=$(mktemp -d)
  : >"$work/log"
  "$allot" up --data "$work/data" --listen 127.0.0.1:0 --kubeconfig "$work/kubeconfig" --fleet none \
    --controllers '*,-node-lifecycle-controller' >"$work/log" 2>&1 &
  server=$!
  until grep -q '^allot is ready' "$work/log"; do sleep 0.1; done
  "$ALLOT_LOAD" -label allot -kubeconfig "$work/kubeconfig" -shape template -nodes "$1" -devices 8 -pods "$2" -protobuf -pids $server
  kill $server
  wait $server || true
  rm -rf "$work"
}
real() {
  work=$(mktemp -d)
  bash "$ALLOT_REAL/up.sh" "$work/real" --bin "$KUBE_BIN" --durable --qps 5000 --port "${ALLOT_REAL_PORT:-21000}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  pids=$(cat "$work"/real/pids/*.pid | paste -sd, -)
  "$ALLOT_LOAD" -label kubernetes -kubeconfig "$work/real/kubeconfig" -shape template -nodes "$1" -devices 8 -pods "$2" -protobuf -pids "$pids"
  bash "$ALLOT_REAL/down.sh" "$work/real" >/dev/null 2>&1 || true
  rm -rf "$work"
}
run=0
while [ $run -lt "$runs" ]; do
  run=$((run + 1))
  real 500 1000
  ours 500 3000
done
real 2000 500
ours 2000 3000
