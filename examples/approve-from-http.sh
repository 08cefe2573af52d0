#!/usr/bin/env bash
# Answers a session's request with curl on the daemon's Unix socket. Needs curl and jq.
#   bash examples/approve-from-http.sh
set -euo pipefail

socket=${BLEMEESD_SOCKET:-${XDG_RUNTIME_DIR:-/tmp/blemeesd-$(id -u)}/blemeesd.sock}
api() {
  local path=$1
  shift
  curl --silent --show-error --fail-with-body --unix-socket "$socket" \
    -H 'Content-Type: application/json' "http://localhost$path" "$@"
}

# With the key, repeating the command (for example after a lost connection) does not spawn a second session.
id=$(api /sessions -H "Idempotency-Key: example-$$" -d '{"backend":"demo","prompt":"approve"}' |
  jq -r .session.session_id)

# Returns when the agent is idle or has a pending request.
api "/sessions/$id/wait?until=idle,blocked&timeout_s=60" | jq -r '"\(.reason): \(.session.activity_state)"'

request=$(api "/sessions/$id/requests" | jq .requests[0])
jq -r '"asked: \(.payload.command)"' <<<"$request"

# A message is not an answer: while a request is pending the daemon refuses it, and names the request.
api "/sessions/$id/input" -d '{"text":"yes"}' 2>/dev/null | jq -r '"refused: \(.error.code)"' || true

# The hash identifies what was shown; an answer with another hash is refused.
api "/sessions/$id/requests/$(jq -r .request_id <<<"$request")/respond" \
  -d "$(jq '{decision: "accept", shown_hash}' <<<"$request")" |
  jq -r '"answered: \(.request.answer.decision)"'

api "/sessions/$id/wait?until=idle&timeout_s=60" | jq -r '"\(.session.last_result.subtype): \(.session.last_result.text)"'
api "/sessions/$id" -X DELETE | jq -r '"deleted: \(.deleted | length)"'
