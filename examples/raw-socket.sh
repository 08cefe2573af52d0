#!/usr/bin/env bash
# The protocol by hand: JSON lines over a Unix socket, no library. Needs socat, or nc with -U, or python3.
#   bash examples/raw-socket.sh "hello"
set -euo pipefail

prompt=${1:-hello} # inserted into JSON unescaped: no quotes or backslashes
socket=${BLEMEESD_SOCKET:-${XDG_RUNTIME_DIR:-/tmp/blemeesd-$(id -u)}/blemeesd.sock}
session="raw-$$"

# Copies stdin to the socket and the socket to stdout.
relay() {
  if command -v socat >/dev/null; then
    exec socat - "UNIX-CONNECT:$socket"
  elif nc -h 2>&1 | grep -q -- '-U'; then
    exec nc -U "$socket"
  else
    exec python3 -c '
import os, socket, sys, threading
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
def send():
    while data := os.read(0, 65536): s.sendall(data)
threading.Thread(target=send, daemon=True).start()
while data := s.recv(65536): os.write(1, data)
' "$socket"
  fi
}

pipes=$(mktemp -d)
mkfifo "$pipes/to" "$pipes/from"
relay <"$pipes/to" >"$pipes/from" &
relay_pid=$!
trap 'kill "$relay_pid" 2>/dev/null || true; rm -rf "$pipes"' EXIT
exec 3>"$pipes/to" 4<"$pipes/from"

# Each request waits for its reply, so that the order is easy to follow.
ask() {
  printf '→ %s\n' "$1"
  printf '%s\n' "$1" >&3
}
until_type() {
  local line
  while IFS= read -r line <&4; do
    printf '← %s\n' "$line"
    case $line in
      *"\"type\":\"$1\""*) return 0 ;;
      *'"type":"blemeesd.error"'*) return 1 ;;
    esac
  done
  echo "the daemon closed the connection" >&2
  return 1
}

ask '{"type":"blemeesd.hello","client":"raw-socket/1.0","protocol":"blemees/2"}'
until_type blemeesd.hello_ack
ask '{"type":"blemeesd.open","id":"1","session_id":"'"$session"'","backend":"demo","options":{"demo":{}}}'
until_type blemeesd.opened
ask '{"type":"agent.user","session_id":"'"$session"'","message":{"role":"user","content":"'"$prompt"'"}}'
until_type agent.result
ask '{"type":"blemeesd.close","id":"2","session_id":"'"$session"'","delete":true}'
until_type blemeesd.closed
