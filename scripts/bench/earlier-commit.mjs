// Builds an earlier commit with the packages that are installed, and measures it as the guard measures ours.
import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../prepare.mjs";
import { attempt } from "./measures/guard.mjs";

/**
 * @param {import("./plan.mjs").Context} context
 * @param {string} commit
 * @param {number} times
 * @returns {Promise<import("./table.mjs").Row[][] | string>} the rows of each attempt, or why there are none
 */
export async function measureCommit(context, commit, times) {
  const directory = context.bench.makeDirectory();
  const archive = run(
    "git",
    ["archive", "--format=tar", "--output", join(directory, "tree.tar"), commit],
    root,
  );
  if (archive !== undefined) return `git has no such commit (${archive})`;
  const tree = join(directory, "tree");
  for (const [program, args] of [
    ["mkdir", [tree]],
    ["tar", ["-xf", join(directory, "tree.tar"), "-C", tree]],
  ]) {
    const failed = run(/** @type {string} */ (program), /** @type {string[]} */ (args), directory);
    if (failed !== undefined) return failed;
  }
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  const failed = run(process.execPath, ["scripts/build.mjs", "--quiet"], tree);
  if (failed !== undefined) return `it cannot be built (${failed})`;
  const measured = [];
  for (let n = 0; n < times; n += 1) {
    measured.push(await attempt({ ...context, daemon: join(tree, "dist/blemeesd.js") }));
  }
  return measured;
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} cwd
 * @returns {string | undefined} why it failed
 */
function run(program, args, cwd) {
  const { status, error, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status === 0) return undefined;
  return error?.message ?? stderr.trim().split("\n").at(-1) ?? `exit code ${status}`;
}
