#!/usr/bin/env bash
# Gets the tools that tests use and a fresh machine lacks: bubblewrap, for the sandbox. Never fails: where it cannot be
# had the tests that need it say so, or fail with CI_REQUIRE_SANDBOX=1.
set -uo pipefail

say() { printf 'ci-tools: %s\n' "$*"; }

if [ "$(uname -s)" != Linux ]; then
  say "no bubblewrap on $(uname -s): the system's own sandbox is used"
  exit 0
fi
if command -v bwrap >/dev/null; then
  say "$(bwrap --version) is there"
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  say "bubblewrap is missing and there is no apt-get: the sandbox is not tested"
  exit 0
fi
if [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  say "bubblewrap is missing and we may not install it: the sandbox is not tested"
  exit 0
fi

# Bounded: a mirror that does not answer must not hold up the run.
get() {
  timeout --kill-after=10 120 "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=30 "$@" </dev/null >/dev/null 2>&1
}

if get install -y --no-install-recommends bubblewrap || { get update && get install -y --no-install-recommends bubblewrap; }; then
  say "installed $(bwrap --version)"
else
  say "bubblewrap could not be installed: the sandbox is not tested"
fi
exit 0
