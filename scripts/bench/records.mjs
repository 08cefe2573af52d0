// The figures of commits, a small file each in records/. The package does not contain them.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const DIRECTORY = join(import.meta.dirname, "records");
/** What decides how fast the program is. */
const MEASURED = ["src", "package.json", "package-lock.json", "scripts/build.mjs"];

/**
 * @typedef {object} Record
 * @property {string} commit short
 * @property {string} date of the commit; records are in its order
 * @property {string} node
 * @property {number} cores
 * @property {"c" | "node"} tools
 * @property {number} others share of the machine that other work took, on average
 * @property {{ [id: string]: { value: number, reference?: number } }} rows
 */

/**
 * All records, oldest first. A file that is not a record is reported and skipped.
 * @param {string} [directory]
 * @returns {Record[]}
 */
export function readRecords(directory = DIRECTORY) {
  const records = [];
  for (const name of listFiles(directory)) {
    try {
      const record = JSON.parse(readFileSync(join(directory, name), "utf8"));
      if (typeof record.date !== "string" || typeof record.rows !== "object") throw new Error("not a record");
      records.push(record);
    } catch (error) {
      process.stderr.write(`bench: records/${name}: ${/** @type {Error} */ (error).message}; skipped\n`);
    }
  }
  return records.sort((a, b) => Date.parse(a.date) - Date.parse(b.date));
}

/** @param {string} directory */
function listFiles(directory) {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".json"));
  } catch {
    return []; // none yet
  }
}

/**
 * @param {Omit<Record, "rows"> & { rows: readonly import("./table.mjs").Row[] }} run
 * @param {string} [directory]
 * @returns the file
 */
export function writeRecord({ rows, ...head }, directory = DIRECTORY) {
  // A line per row, so that a diff shows what changed; formatted as Biome would.
  const lines = rows.map(({ id, value, reference }) => {
    const second = reference === undefined ? "" : `, "reference": ${shorten(reference)}`;
    return `    ${JSON.stringify(id)}: { "value": ${shorten(value)}${second} }`;
  });
  const top = Object.entries(head).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  const file = join(directory, `${head.commit}.json`);
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, `{\n${top.join(",\n")},\n  "rows": {\n${lines.join(",\n")}\n  }\n}\n`);
  return file;
}

/** Four digits say all that a measurement knows. @param {number} value */
function shorten(value) {
  return Number(value.toPrecision(4));
}

/**
 * The last commit that changed what is measured; throws if the sources differ from it.
 * @returns {{ commit: string, date: string }}
 */
export function readCommit() {
  if (git("status", "--porcelain", "--", ...MEASURED) !== "")
    throw new Error("--record: commit the changes first; a record belongs to a commit");
  const [commit = "", date = ""] = git("log", "-1", "--format=%h %cI", "--", ...MEASURED).split(" ");
  return { commit, date };
}

/** @param {...string} args */
function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", args, {
    cwd: join(import.meta.dirname, "../.."),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.trim()}`);
  return stdout.trim();
}
