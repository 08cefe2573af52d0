// `blemees acp`: the daemon's sessions for editors that speak the Agent Client Protocol.
import { defineFlag, readTextFlag } from "../command.ts";
import type { BlemeesCommand } from "./command.ts";
import { startApart } from "./start-apart.ts";

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
