#!/bin/sh
# Starts allot with the small fleet, applies the quickstart manifests and shows what runs.
# usage: quickstart.sh BINARY [FLAGS for `allot up`]; ALLOT_ONCE=1 ends after the table.
set -eu
allot=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
kubeconfig=$PWD/allot.kubeconfig
data=""
if [ -n "${ALLOT_ONCE:-}" ]; then
  data=$(mktemp -d)
  kubeconfig=$data/allot.kubeconfig
  set -- --data "$data/state" --listen 127.0.0.1:0 "$@"
fi
log=$(mktemp)
server=""
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ -z "$server" ] || wait "$server" 2>/dev/null || true
  rm -f "$log"
  [ -z "$data" ] || rm -rf "$data"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "Feature gates: AllBeta and AllAlpha are on here (a bare 'allot up' has the defaults of Kubernetes 1.37)."
"$allot" up --fleet "$root/examples/fleets/small.yaml" --kubeconfig "$kubeconfig" \
  --feature-gates AllBeta=true,AllAlpha=true "$@" >"$log" 2>&1 &
server=$!
waited=0
until grep -q '^allot is ready' "$log"; do
  kill -0 "$server" 2>/dev/null || { cat "$log" >&2; echo "allot up ended before it was ready" >&2; exit 1; }
  waited=$((waited + 1))
  [ "$waited" -lt 300 ] || { cat "$log" >&2; echo "allot up was not ready after 30 s" >&2; exit 1; }
  sleep 0.1
done
cat "$log"
export KUBECONFIG="$kubeconfig"
"$allot" apply -f "$root/examples/quickstart"
"$allot" wait --for=jsonpath='{.status.phase}'=Running pod --all --timeout=60s
for what in pods resourceclaims nodes devices; do
  printf '\n%s\n' "$what:"
  "$allot" get "$what"
done
printf '\nUse it with kubectl (or with allot itself, which has the same verbs):\n  export KUBECONFIG=%s\n  kubectl get pods,resourceclaims\n  allot explain pod/NAME\n' "$kubeconfig"
[ -z "${ALLOT_ONCE:-}" ] || exit 0
echo 'Running until Ctrl-C.'
wait "$server"
