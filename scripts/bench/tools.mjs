// The fake agent and the reader as executables: compiled from C if there is a compiler, else a two-line script that
// starts the Node version. With two cores a slow tool would be measured instead of the daemon.
import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = import.meta.dirname;

/**
 * @param {string} directory where the executables go
 * @param {{ isNative?: boolean }} [wish] `isNative: false` takes the Node versions even where cc exists
 * @returns {{ kind: "c" | "node", agent: string, reader: string }}
 */
export function prepareTools(directory, { isNative = true } = {}) {
  const agent = join(directory, "agent");
  const reader = join(directory, "reader");
  if (isNative && compile("agent.c", agent) && compile("reader.c", reader))
    return { kind: "c", agent, reader };
  wrap("agent.mjs", agent);
  wrap("reader.mjs", reader);
  return { kind: "node", agent, reader };
}

/**
 * @param {string} source
 * @param {string} target
 */
function compile(source, target) {
  const result = spawnSync("cc", ["-O2", "-o", target, join(SOURCES, source)], { encoding: "utf8" });
  if (result.stderr) process.stderr.write(result.stderr);
  return result.status === 0;
}

/**
 * @param {string} source
 * @param {string} target
 */
function wrap(source, target) {
  writeFileSync(target, `#!/bin/sh\nexec '${process.execPath}' '${join(SOURCES, source)}' "$@"\n`);
  chmodSync(target, 0o755);
}
