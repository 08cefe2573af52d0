// `blemees acp`: the daemon's sessions for editors that speak the Agent Client Protocol.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { defined } from "../../base/values.ts";
import { defineFlag, readTextFlag } from "../command.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { connectIfRunning } from "./start-daemon.ts";

export const ACP: BlemeesCommand = {
  name: "acp",
  usage: "acp",
  summary: "let an editor use sessions, over ACP on stdin and stdout",
  words: [0, 0],
  flags: [
    defineFlag("--agent NAME", "the agent of new sessions (default: the first one that is installed)"),
    defineFlag("--v2", "also speak the draft v2 of the protocol, with editors that ask for it"),
  ],
  examples: ["acp", "acp --agent codex"],
  notes: [
    "Add it to the editor's list of agents: command `blemees`, argument `acp`. Sessions continue when the editor closes, and",
    "the terminal UI, the dashboard and other editors can open the same ones. Problems are reported on stderr.",
  ],
  async run(given, context) {
    if (given.flags["no-start"] !== true) await startApart(context);
    const http = await context.connect({ isPatient: true });
    const { serve } = await import("../acp/serve.ts");
    await serve({
      http,
      agent: readTextFlag(given, "agent"),
      speaksV2: given.flags["v2"] === true,
      version: context.version,
      input: process.stdin,
      output: process.stdout,
      signal: context.signal,
      warn: (message) => context.output.note(message),
    });
    return 0;
  },
};

/**
 * Starts the daemon, if none is running, from a process that ends at once. Editors end all descendants of their agents, and
 * the daemon with everyone's sessions must not be one.
 */
async function startApart({ socket }: BlemeesContext): Promise<void> {
  if ((await connectIfRunning(defined({ socket }))) !== undefined) return;
  const program = process.argv[1] ?? "";
  const args = [program, "status", ...(socket === undefined ? [] : ["--socket", socket])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  await once(child, "exit"); // if it failed, connecting says why
}
