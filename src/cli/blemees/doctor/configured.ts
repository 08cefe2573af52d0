// Checks that the programs of `[agents.NAME]` in the daemon's config exist. The daemon itself validates the keys.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { readErrno, toMessage } from "../../../base/coded-error.ts";
import { findProgram } from "../../../base/find-program.ts";
import { isObject } from "../../../base/json.ts";
import { TESTED_AGENTS } from "../../../protocol/tested-agents.ts";
import type { Check } from "../../checks.ts";
import { getConfigFile } from "../state-directory.ts";
import { readVersion } from "./agents.ts";
import type { CheckContext } from "./check.ts";
import { addTested } from "./tested.ts";

export async function checkConfigured({ env, signal }: CheckContext): Promise<Check[]> {
  const path = getConfigFile(env);
  let agents: unknown;
  try {
    // Loaded only here, to keep other commands fast.
    const { parse } = await import("smol-toml");
    agents = parse(readFileSync(path, "utf8"))["agents"];
  } catch (error) {
    if (readErrno(error) === "ENOENT") return [];
    const [why] = toMessage(error).split("\n");
    const todo = "fix it: the daemon cannot start (`blemeesd` shows the line)";
    return [{ name: "config", status: "fail", text: `${path} is invalid: ${why}`, todo }];
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
  { env, signal }: Pick<CheckContext, "env" | "signal">,
): Promise<Check> {
  const { command, env: own } = isObject(table) ? table : {};
  if (typeof command !== "string" || command === "") {
    const todo = 'the daemon cannot start; add command = "…"';
    return { name, status: "fail", text: `[agents.${name}] in ${path} has no command`, todo };
  }
  const search = isObject(own) && typeof own["PATH"] === "string" ? own["PATH"] : env["PATH"];
  const program = await findProgram(command, { PATH: search });
  if (program !== undefined) {
    const found: Check = { name, status: "ok", text: `${program}, from [agents.${name}]` };
    const agent = basename(command);
    // Only known agents are run: other programs may do anything with --version.
    if (!TESTED_AGENTS.some((tested) => tested.name === agent)) return found;
    const version = await readVersion(program, signal);
    return version === undefined
      ? found
      : addTested({ ...found, text: `${version}, ${found.text}` }, agent, version);
  }
  const todo = `install it, or set command in [agents.${name}] of ${path}`;
  return { name, status: "warn", text: `${command} not found`, todo };
}
