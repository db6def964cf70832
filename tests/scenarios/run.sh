#!/bin/sh
# Runs the recorded scenarios on an empty control plane. usage: run.sh BINARY [--list main.txt|allocator.txt|scheduling.txt|api.txt] [scenario.py options]
set -eu
allot=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../tools/scenario.py
lists="main.txt allocator.txt scheduling.txt api.txt"
if [ "${1:-}" = --list ]; then
  lists=$2
  shift 2
fi
status=0
# A list is run twice: scenarios without gates on a stock server, those with gates on one that has them on.
run_list() {
  list=$1 gates=$2
  shift 2
  work=$(mktemp -d)
  : >"$work/log"
  flags=""
  if [ -n "$gates" ]; then
    switches=""
    for gate in $(echo "$gates" | tr ',' ' '); do switches="$switches${switches:+,}$gate=true"; done
    flags="--feature-gates $switches"
  fi
  # shellcheck disable=SC2086
  "$allot" up --data "$work/data" --listen 127.0.0.1:0 --kubeconfig "$work/kubeconfig" --fleet none \
    --controllers '*,-node-lifecycle-controller' $flags >"$work/log" 2>&1 &
  server=$!
  tries=0
  until grep -q '^allot is ready' "$work/log"; do
    tries=$((tries + 1))
    kill -0 $server 2>/dev/null && [ $tries -lt 100 ] || { cat "$work/log"; exit 1; }
    sleep 0.1
  done
  # A bearer token instead of the certificate, so that a scenario can act as somebody else.
  python3 - "$work/kubeconfig" "$work/data/pki/admin.token" <<'PY'
import sys, yaml
config = yaml.safe_load(open(sys.argv[1]))
config["users"][0]["user"] = {"token": open(sys.argv[2]).read().strip()}
yaml.safe_dump(config, open(sys.argv[1], "w"))
PY
  # shellcheck disable=SC2086
  python3 "$tool" check --list "$here/$list" --prefer "$here/better" ${gates:+--gates $gates} --kubeconfig "$work/kubeconfig" \
    "$@" "$here" "$here/expected" || status=1
  kill $server 2>/dev/null || { echo "the server has ended by itself:"; cat "$work/log"; status=1; }
  wait $server || true
  rm -rf "$work"
}
gates_of() {
  while read -r name; do
    python3 - "$here/$name.yaml" <<'PY'
import sys, yaml
print("\n".join(yaml.safe_load(open(sys.argv[1])).get("gates") or []))
PY
  done <"$here/$1" | sort -u | paste -sd, -
}
for list in $lists; do
  echo "== $list"
  run_list "$list" "" "$@"
  gates=$(gates_of "$list")
  if [ -n "$gates" ]; then
    echo "== $list with $gates"
    run_list "$list" "$gates" "$@"
  fi
done
exit $status
