#!/bin/sh
# kill -9 under a load of creates: after each restart every acknowledged object is there, no device is allocated twice,
# and the scheduler goes on. usage: kill.sh BINARY [ROUNDS]
set -eu
exec python3 "$(dirname "$0")/kill.py" "$@"
