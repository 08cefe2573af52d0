// The agents of the daemon's config file, `[agents.NAME]`: is each program there. Whether every key is right, the daemon
// says when it starts.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { errnoOf, messageOf } from "../../../base/coded-error.ts";
import { isObject } from "../../../base/json.ts";
import { findOnPath } from "./agents.ts";
import type { Check, Patient } from "./check.ts";

export async function checkConfigured({ env }: Patient): Promise<Check[]> {
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
  return Object.entries(agents).map(([name, table]) => checkOne(name, table, path, env));
}

function checkOne(name: string, table: unknown, path: string, env: Patient["env"]): Check {
  const { command, env: own } = isObject(table) ? table : {};
  if (typeof command !== "string" || command === "") {
    const todo = 'the daemon does not start with it; write command = "…"';
    return { name, status: "fail", text: `[agents.${name}] in ${path} has no command`, todo };
  }
  const search = isObject(own) && typeof own["PATH"] === "string" ? own["PATH"] : env["PATH"];
  const program = findOnPath(command, { PATH: search });
  if (program !== undefined) return { name, status: "ok", text: `${program}, as [agents.${name}] says` };
  const todo = `install it, or set command in [agents.${name}] of ${path}`;
  return { name, status: "warn", text: `${command} was not found`, todo };
}
