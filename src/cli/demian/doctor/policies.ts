// `demian doctor policies`: the permission rules of a config file, and their tools under explicit names (§8). The text
// of the file is changed at those places only, so that its layout stays.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { CodedError, errnoOf } from "../../../base/coded-error.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { readConfigFile } from "../../../runtime/config/file.ts";
import { DELEGATE_TOOL } from "../../../runtime/delegation/types.ts";
import { unifiedDiff } from "../../../runtime/permissions/diff.ts";
import { homeDir } from "../../../runtime/state-dir.ts";
import { builtinTools } from "../../../runtime/tools/builtin.ts";
import { type Arguments, UsageError } from "../../command.ts";
import type { Context } from "../command.ts";
import { orderOf } from "../order.ts";
import { type Upgrade, upgradeText } from "./upgrade.ts";

export async function runPolicies(given: Arguments, context: Context): Promise<number> {
  const { io, isJson, output } = context;
  const isWriting = given.flags["write"] === true;
  const isUpgrading = given.flags["upgrade-namespaces"] === true;
  if (isWriting && !isUpgrading) throw new UsageError("--write goes with --upgrade-namespaces");
  const { configPath } = orderOf(given, io.cwd);
  const path = configPath ?? join(homeDir(io.env), ".demian", "config.json");
  const before = await textOf(path);
  const tools = [...builtinTools().map(({ name }) => name), DELEGATE_TOOL];
  const upgrade = upgradeText(before, tools);
  const isChanging = isWriting && upgrade.renamings.length > 0;
  const backup = isChanging ? await replace(path, before, upgrade.text) : undefined;
  if (isJson) {
    const { renamings, unknown } = upgrade;
    await output.json({
      path,
      renamings,
      unknown,
      written: isChanging,
      ...(backup === undefined ? {} : { backup }),
    });
    return 0;
  }
  for (const { place, name } of upgrade.unknown) {
    output.error(`! ${place}: demian has no tool ${JSON.stringify(sanitizeLine(name))}; it stays as it is`);
  }
  for (const line of linesFor(path, before, upgrade, isUpgrading)) await output.line(line);
  if (upgrade.renamings.length === 0 && upgrade.unknown.length > 0)
    output.note(
      `· ${path}: rules for tools that do not exist fit nothing; \`demian list-tools\` has the names`,
    );
  else if (upgrade.renamings.length === 0) output.note(`· ${path}: every rule names its tools explicitly`);
  else if (backup !== undefined) output.note(`· changed ${path}; as it was: ${backup}`);
  else if (isUpgrading) output.note("· nothing was written; add --write to change the file");
  else output.note("· these rules mean demian's own tools; --upgrade-namespaces makes them say so");
  return 0;
}

function linesFor(path: string, before: string, { text, renamings }: Upgrade, isDiff: boolean): string[] {
  if (renamings.length === 0) return [];
  if (isDiff) return unifiedDiff({ path, oldText: before, newText: text });
  return renamings.map(({ place, from, to }) => `${place}: ${from} -> ${to}`);
}

async function textOf(path: string): Promise<string> {
  // Tells what is wrong with it, if something is, in the words of every start.
  if ((await readConfigFile(path)) === undefined) {
    throw new CodedError(
      "no_config",
      `there is no ${path}, so there are no rules in it; --config names another file`,
    );
  }
  return await readFile(path, "utf8");
}

/** As a whole or not at all; the old file stays beside it. Gives back its name. A link keeps pointing to it. */
async function replace(path: string, before: string, text: string): Promise<string> {
  const real = await realpath(path);
  const { mode } = await stat(real);
  if ((await readFile(real, "utf8")) !== before) {
    throw new CodedError("changed", `${path} was changed meanwhile; try again`);
  }
  const backup = await keep(real);
  const draft = `${real}.${randomUUID()}.tmp`;
  try {
    const file = await open(draft, "wx", mode & 0o777);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, real);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return backup;
}

async function keep(path: string): Promise<string> {
  for (let number = 0; ; number += 1) {
    const backup = number === 0 ? `${path}.bak` : `${path}.bak.${number}`;
    try {
      await copyFile(path, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}
