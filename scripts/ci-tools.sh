#!/usr/bin/env bash
# Gets the tools that tests use and a fresh machine lacks: bubblewrap for the sandbox, tmux for the terminal UI, Chromium
# for the dashboard. Never fails: where one cannot be had the tests that need it say so, or fail with
# CI_REQUIRE_SANDBOX=1 and CI_REQUIRE_FACES=1.
set -uo pipefail

say() { printf 'ci-tools: %s\n' "$*"; }

# What is on the PATH, or the package that has it.
missing=()
need() {
  local package=$1
  shift
  for program in "$@"; do
    if command -v "$program" >/dev/null; then
      say "$program is there"
      return
    fi
  done
  missing+=("$package")
}

if [ "$(uname -s)" = Linux ]; then
  need bubblewrap bwrap
fi
need tmux tmux
need chromium chromium chromium-browser google-chrome google-chrome-stable

if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  say "there is no apt-get to install ${missing[*]}: what needs it is not tested"
  exit 0
fi
if [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  say "we may not install ${missing[*]}: what needs it is not tested"
  exit 0
fi

# Bounded: a mirror that does not answer must not hold up the run.
get() {
  timeout --kill-after=10 300 "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=30 "$@" </dev/null >/dev/null 2>&1
}

updated=no
for package in "${missing[@]}"; do
  if get install -y --no-install-recommends "$package"; then
    say "installed $package"
    continue
  fi
  if [ $updated = no ]; then
    updated=yes
    get update
    if get install -y --no-install-recommends "$package"; then
      say "installed $package"
      continue
    fi
  fi
  say "$package could not be installed: what needs it is not tested"
done
exit 0
