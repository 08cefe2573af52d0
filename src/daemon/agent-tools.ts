// What agents find on their PATH: our own `sm`, before any other program of that name, so that it fits this daemon.
import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

export function withAgentTools(env: NodeJS.ProcessEnv, tools: URL): NodeJS.ProcessEnv {
  const dir = fileURLToPath(tools).replace(/\/$/, "");
  if (!existsSync(dir)) return env;
  const { PATH } = env;
  return { ...env, PATH: PATH === undefined || PATH === "" ? dir : `${dir}${delimiter}${PATH}` };
}
