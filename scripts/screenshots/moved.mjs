// How far the simulated clock is ahead of the real one, in ms: a file that the daemon reads and the agents advance.
import { readFileSync, writeFileSync } from "node:fs";

/**
 * @param {string} file
 * @returns {number | undefined} undefined while the file does not exist
 */
export function readMoved(file) {
  try {
    const text = readFileSync(file, "utf8");
    return /^[+-]\d{15}$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Always the same length: a reader finds the old value or the new one.
 * @param {string} file
 * @param {number} ms
 */
export function writeMoved(file, ms) {
  writeFileSync(file, `${ms < 0 ? "-" : "+"}${String(Math.abs(Math.round(ms))).padStart(15, "0")}`, {
    flag: readMoved(file) === undefined ? "w" : "r+",
  });
}

/**
 * @param {string} file
 * @param {number} seconds
 */
export function pass(file, seconds) {
  if (seconds > 0) writeMoved(file, (readMoved(file) ?? 0) + seconds * 1000);
}
