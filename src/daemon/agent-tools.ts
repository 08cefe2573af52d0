// The PATH of agents: our own `sm` comes first, so that its version matches this daemon. A login shell may reset the PATH,
// so BLEMEES_SM has its path too.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export function withAgentTools(env: NodeJS.ProcessEnv, tools: URL): NodeJS.ProcessEnv {
  const dir = fileURLToPath(tools).replace(/\/$/, "");
  if (!existsSync(dir)) return env;
  const { PATH } = env;
  return {
    ...env,
    BLEMEES_SM: join(dir, "sm"),
    PATH: PATH === undefined || PATH === "" ? dir : `${dir}${delimiter}${PATH}`,
  };
}
