// The agents of the daemon's config file, `[agents.NAME]`: is each program there. Whether every key is right, the daemon
// says when it starts.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { errnoOf, messageOf } from "../../../base/coded-error.ts";
import { isObject } from "../../../base/json.ts";
import { TESTED_AGENTS } from "../../../protocol/tested-agents.ts";
import { findOnPath, versionOf } from "./agents.ts";
import type { Check, Patient } from "./check.ts";
import { withTested } from "./tested.ts";

export async function checkConfigured({ env, signal }: Patient): Promise<Check[]> {
  const home = env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config");
  const path = join(home, "blemeesd", "config.toml");
  let agents: unknown;
  try {
    // Only here: `sm` starts all day, and mostly for something else.
    const { parse } = await import("smol-toml");
    agents = parse(readFileSync(path, "utf8"))["agents"];
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    const [why] = messageOf(error).split("\n");
    const todo = "mend it: the daemon does not start with it (`blemeesd` shows the place)";
    return [{ name: "config", status: "fail", text: `${path} cannot be used: ${why}`, todo }];
  }
  if (!isObject(agents)) return [];
  return Promise.all(
    Object.entries(agents).map(([name, table]) => checkOne(name, table, path, { env, signal })),
  );
}

async function checkOne(
  name: string,
  table: unknown,
  path: string,
  { env, signal }: Pick<Patient, "env" | "signal">,
): Promise<Check> {
  const { command, env: own } = isObject(table) ? table : {};
  if (typeof command !== "string" || command === "") {
    const todo = 'the daemon does not start with it; write command = "…"';
    return { name, status: "fail", text: `[agents.${name}] in ${path} has no command`, todo };
  }
  const search = isObject(own) && typeof own["PATH"] === "string" ? own["PATH"] : env["PATH"];
  const program = findOnPath(command, { PATH: search });
  if (program !== undefined) {
    const found: Check = { name, status: "ok", text: `${program}, as [agents.${name}] says` };
    const agent = basename(command);
    // Only one that we know is asked: another program may do anything with --version.
    if (!TESTED_AGENTS.some((tested) => tested.name === agent)) return found;
    const version = await versionOf(program, signal);
    return version === undefined
      ? found
      : withTested({ ...found, text: `${version}, ${found.text}` }, agent, version);
  }
  const todo = `install it, or set command in [agents.${name}] of ${path}`;
  return { name, status: "warn", text: `${command} was not found`, todo };
}
