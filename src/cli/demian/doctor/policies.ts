// `demian doctor policies`: finds permission rules that name demian's tools without a namespace (`bash` instead of
// `demian.bash`) and renames them in place, keeping the file's layout.

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { CodedError, readErrno } from "../../../base/coded-error.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { defined } from "../../../base/values.ts";
import { readConfigFile } from "../../../runtime/config/file.ts";
import { DELEGATE_TOOL } from "../../../runtime/delegation/types.ts";
import { formatUnifiedDiff } from "../../../runtime/permissions/diff.ts";
import { getHomeDir } from "../../../runtime/state-dir.ts";
import { createBuiltinTools } from "../../../runtime/tools/builtin.ts";
import { type Arguments, UsageError } from "../../command.ts";
import type { DemianContext } from "../command.ts";
import { readOrder } from "../order.ts";
import { type Upgrade, upgradeText } from "./upgrade.ts";

export async function runPolicies(given: Arguments, context: DemianContext): Promise<number> {
  const { io, isJson, output } = context;
  const isWriting = given.flags["write"] === true;
  const isUpgrading = given.flags["upgrade-namespaces"] === true;
  if (isWriting && !isUpgrading) throw new UsageError("--write needs --upgrade-namespaces");
  const { configPath } = readOrder(given, io.cwd);
  const path = configPath ?? join(getHomeDir(io.env), ".demian", "config.json");
  const before = await readConfigText(path);
  const tools = [...createBuiltinTools().map(({ name }) => name), DELEGATE_TOOL];
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
      ...defined({ backup }),
    });
    return 0;
  }
  for (const { place, name } of upgrade.unknown) {
    output.error(`! ${place}: demian has no tool ${JSON.stringify(sanitizeLine(name))}; not changed`);
  }
  for (const line of formatUpgrade(path, before, upgrade, isUpgrading)) await output.line(line);
  if (upgrade.renamings.length === 0 && upgrade.unknown.length > 0)
    output.note(`· ${path}: rules for unknown tools match nothing; \`demian list-tools\` lists the names`);
  else if (upgrade.renamings.length === 0)
    output.note(`· ${path}: every rule names its tools with their namespace`);
  else if (backup !== undefined) output.note(`· updated ${path}; backup: ${backup}`);
  else if (isUpgrading) output.note("· nothing was written; add --write to update the file");
  else output.note("· these rules mean demian's own tools; --upgrade-namespaces makes that explicit");
  return 0;
}

function formatUpgrade(
  path: string,
  before: string,
  { text, renamings }: Upgrade,
  isDiff: boolean,
): string[] {
  if (renamings.length === 0) return [];
  if (isDiff) return formatUnifiedDiff({ path, oldText: before, newText: text });
  return renamings.map(({ place, from, to }) => `${place}: ${from} -> ${to}`);
}

async function readConfigText(path: string): Promise<string> {
  // Throws the same error as at startup if the file is invalid.
  if ((await readConfigFile(path)) === undefined) {
    throw new CodedError("no_config", `${path} does not exist; give another config file with --config`);
  }
  return await readFile(path, "utf8");
}

/** Replaces the file atomically and returns the name of the backup. Follows a symbolic link. */
async function replace(path: string, before: string, text: string): Promise<string> {
  const real = await realpath(path);
  const { mode } = await stat(real);
  if ((await readFile(real, "utf8")) !== before) {
    throw new CodedError("changed", `${path} was changed by another program; try again`);
  }
  const backup = await createBackup(real);
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

async function createBackup(path: string): Promise<string> {
  for (let number = 0; ; number += 1) {
    const backup = number === 0 ? `${path}.bak` : `${path}.bak.${number}`;
    try {
      await copyFile(path, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if (readErrno(error) !== "EEXIST") throw error;
    }
  }
}
