// The fake agent, the reader and the timer as executables: compiled from C if there is a compiler, else two-line scripts
// that start the Node versions. With two cores a slow tool would be measured instead of the daemon.
import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = import.meta.dirname;
const NAMES = /** @type {const} */ (["agent", "reader", "timer"]);

/** @typedef {{ kind: "c" | "node", agent: string, reader: string, timer: string }} Tools */

/**
 * @param {string} directory where the executables go
 * @param {{ isNative?: boolean }} [wish] `isNative: false` takes the Node versions even where cc exists
 * @returns {Tools}
 */
export function prepareTools(directory, { isNative = true } = {}) {
  const [agent, reader, timer] = NAMES.map((name) => join(directory, name));
  const isCompiled = isNative && NAMES.every((name) => compile(`${name}.c`, join(directory, name)));
  if (!isCompiled) for (const name of NAMES) wrap(`${name}.mjs`, join(directory, name));
  return /** @type {Tools} */ ({ kind: isCompiled ? "c" : "node", agent, reader, timer });
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
