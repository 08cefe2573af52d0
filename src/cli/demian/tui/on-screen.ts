// Talking on the screen (§13): the same one as for sessions of the daemon, on a runtime in this process.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { mainAgent } from "../../../runtime/agents/from-config.ts";
import { transcriptPath } from "../../../runtime/transcript.ts";
import { runSessionScreen } from "../../../tui/index.ts";
import type { Io } from "../io.ts";
import { LocalDriver, type LocalDriverOptions } from "./driver.ts";

export async function runOnScreen({ io, ...options }: LocalDriverOptions & { io: Io }): Promise<number> {
  const { runtime, settings } = options;
  // Before anything is drawn: no provider and no model would mend it.
  mainAgent(runtime.agents, settings.agent.value);
  const driver = new LocalDriver(options);
  try {
    return await runSessionScreen({
      io: { stdin: process.stdin, stdout: process.stdout, env: io.env },
      driver,
    });
  } finally {
    await driver.close();
    const path = transcriptPath(driver.session_id);
    if (driver.hasTalked && existsSync(join(runtime.cwd, path))) io.stderr.write(`transcript: ${path}\n`);
  }
}
