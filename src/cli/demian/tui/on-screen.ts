// `demian` on the session screen, with a runtime in this process.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findMainAgent } from "../../../runtime/agents/from-config.ts";
import { getTranscriptPath } from "../../../runtime/transcript.ts";
import { runSessionScreen } from "../../../tui/index.ts";
import type { Io } from "../io.ts";
import { LocalDriver, type LocalDriverOptions } from "./local-driver.ts";

export async function runOnScreen({ io, ...options }: LocalDriverOptions & { io: Io }): Promise<number> {
  const { runtime, settings } = options;
  // Fail before the screen starts: an unknown agent cannot be fixed there.
  findMainAgent(runtime.agents, settings.agent.value);
  const driver = new LocalDriver(options);
  try {
    return await runSessionScreen({
      io: { stdin: process.stdin, stdout: process.stdout, env: io.env },
      driver,
    });
  } finally {
    await driver.close();
    const path = getTranscriptPath(driver.session_id);
    if (driver.hasTalked && existsSync(join(runtime.cwd, path))) io.stderr.write(`transcript: ${path}\n`);
    if (driver.hasTalked && options.conversation.isStored)
      io.stderr.write(`continue with: demian --resume=${options.conversation.id}\n`);
  }
}
