#!/bin/sh
# fake-claude.cjs for tests that ask its version all the time, as every daemon does when it starts. The plain answer
# comes from here, which saves a start of Node each time; everything else, a fault too, comes from the program itself.
if [ "$*" = --version ] && [ -z "$FAKE_CLAUDE_FAULT$FAKE_CLAUDE_VERSION$FAKE_CLAUDE_PLAIN" ]; then
  echo "2.1.197 (Claude Code)"
  exit 0
fi
exec node "${0%.sh}.cjs" "$@"
