// What agents find on their PATH: our own `sm`, before any other program of that name, so that it fits this daemon. A
// login shell may set a PATH of its own, so it is in BLEMEES_SM too.
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
