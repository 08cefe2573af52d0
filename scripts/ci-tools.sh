#!/usr/bin/env bash
# Installs the tools that tests need and a fresh machine lacks: bubblewrap for the sandbox, tmux for the terminal UI, Chromium
# for the dashboard. Never fails: without a tool, the tests that need it are skipped with a message, or fail with
# CI_REQUIRE_SANDBOX=1 and CI_REQUIRE_FACES=1.
set -uo pipefail

say() { printf 'ci-tools: %s\n' "$*"; }

# need PACKAGE PROGRAM...: one of the programs on the PATH, or else the package.
missing=()
need() {
  local package=$1
  shift
  for program in "$@"; do
    if command -v "$program" >/dev/null; then
      say "found $program"
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
  say "no apt-get to install ${missing[*]}; tests that need it do not run"
  exit 0
fi
if [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  say "not allowed to install ${missing[*]}; tests that need it do not run"
  exit 0
fi

# Bounded: a mirror that does not answer must not block the run.
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
  say "cannot install $package; tests that need it do not run"
done
exit 0
