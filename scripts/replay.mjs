// npm run replay FILE: feeds a recording of a session (BLEMEESD_TRACE_DIR) to the reducer again and prints the state
// and effects after each input. Exits with 1 if they differ from the recorded ones.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { install, root } from "./prepare.mjs";

const HELP = `usage: npm run replay FILE [-- --json]

Shows what happened to a session, step by step: the input, the phase and activity after it, and the effects.
FILE is a recording: start the daemon with BLEMEESD_TRACE_DIR=DIR, and DIR/<session_id>.jsonl is one.

  npm run replay traces/3f2c.jsonl
  npm run replay traces/3f2c.jsonl -- --json | tail -1`;

const args = process.argv.slice(2);
const files = args.filter((arg) => !arg.startsWith("-"));
const unknown = args.find((arg) => arg.startsWith("-") && arg !== "--json" && arg !== "--help");
if (args.includes("--help")) {
  console.log(HELP);
} else if (unknown !== undefined || files.length !== 1) {
  console.error(
    unknown === undefined ? `replay takes one file, not ${files.length}` : `unknown option ${unknown}`,
  );
  console.error(`\n${HELP}`);
  process.exitCode = 2;
} else {
  process.exitCode = await show(files[0], args.includes("--json"));
}

async function show(file, isJson) {
  let lines;
  try {
    lines = readFileSync(file, "utf8").split("\n");
  } catch (error) {
    console.error(`cannot read ${file}: ${error.message}`);
    return 2;
  }
  install();
  const { replay, describe } = await load();
  let different = 0;
  try {
    for (const step of replay(lines)) {
      if (step.recorded !== undefined) different += 1;
      console.log(isJson ? JSON.stringify(step) : describe(step));
    }
  } catch (error) {
    console.error(`${file}: ${error.message}`);
    return 2;
  }
  if (different === 0) return 0;
  console.error(`${different} steps had other effects when they were recorded; was that another version?`);
  return 1;
}

/** The reducer is TypeScript: bundled as in the build. */
async function load() {
  const { build } = await import("esbuild");
  const work = mkdtempSync(join(tmpdir(), "blemees-replay-"));
  try {
    const outfile = join(work, "replay.mjs");
    const entryPoints = [join(root, "src/sessions/core/replay.ts")];
    await build({ entryPoints, outfile, bundle: true, platform: "node", target: "node20", format: "esm" });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
